//! Faults of links that stay up, and the effects of a crash on the links of its host.

use super::Network;
use crate::buffers::BufferId;
use crate::counters::MessageEnd;
use crate::direction::Direction;
use crate::history_hash::HistoryKind;
use crate::link_rate_limiter::LinkRateLimiter;
use crate::outage::{Outage, OutageResult};
use crate::profile::Profile;
use crate::queue_entry::{DirectionId, LinkRef, PendingInput, QueueEntry};
use machine::Time;

impl Network {
    /// Cuts a direction silently; does nothing if it is cut already, or has no link.
    pub(crate) fn cut_silently(&mut self, id: DirectionId) {
        let dies = self.now + self.give_up_after;
        let direction = &mut self.directions[id.index()];
        if !direction.up || direction.outage().is_some_and(Outage::is_cut) {
            return;
        }
        // Marks the `Latest` messages in flight: they left in an older era, and are lost when they arrive.
        direction.era = direction.era.wrapping_add(1);
        let orphaned = direction.orphaned;
        // An outage that is healing becomes a cut again, with the messages it still holds.
        let outage = direction.extras_mut().outage.get_or_insert_with(|| Outage::new(dies, orphaned));
        outage.cut_again(dies);
        let link_ref = self.note_fault(HistoryKind::CutSilently, id);
        self.push_unless_never(dies, QueueEntry::Expiry(link_ref));
    }

    /// Ends a silent cut; does nothing without one.
    pub(crate) fn heal(&mut self, id: DirectionId) {
        let direction = &mut self.directions[id.index()];
        let Some(outage) = direction.outage().filter(|it| it.is_cut()) else { return };
        let idle = outage.is_idle();
        // Drawn even if nothing is held, so that the draws do not depend on the traffic during the cut.
        let arrival = self.now + direction.delay_model.trip();
        if idle {
            direction.extras_mut().outage = None;
        } else if let Some(outage) = direction.outage_mut() {
            outage.heal(arrival);
        }
        let link_ref = self.note_fault(HistoryKind::Heal, id);
        if !idle {
            self.queue.push(arrival, QueueEntry::Release(link_ref));
        }
    }

    /// Releases the first message that a healed direction held, and schedules the next one right after it.
    pub(crate) fn release(&mut self, link_ref: LinkRef) -> Option<(u32, PendingInput)> {
        let direction = &mut self.directions[link_ref.direction.index()];
        if !direction.carries(link_ref.link) {
            return None;
        }
        let (to, era) = (direction.to, direction.era);
        let outage = direction.outage_mut()?;
        let buffer = outage.release(self.now)?;
        if outage.is_idle() {
            direction.extras_mut().outage = None;
        } else {
            self.queue.push(self.now, QueueEntry::Release(link_ref));
        }
        Some((to, PendingInput::Arrival { link_ref, buffer, era }))
    }

    /// Cuts the link if its outage has lasted too long.
    pub(crate) fn expire(&mut self, link_ref: LinkRef) {
        let direction = &self.directions[link_ref.direction.index()];
        // An expiry of an earlier cut, healed since, names another time than the outage does.
        if direction.carries(link_ref.link) && direction.outage().is_some_and(|it| it.kills_at(self.now)) {
            self.cut(link_ref.direction);
        }
    }

    /// Gives a link that is up another profile from now on.
    pub(crate) fn set_profile(&mut self, id: DirectionId, profile: Profile) {
        if !self.directions[id.index()].up {
            return;
        }
        let link_ref = self.note_fault(HistoryKind::Reshape, id);
        let direction = &mut self.directions[id.index()];
        direction.delay_model.reshape(profile);
        direction.extras_mut().latest_faults = profile.latest_faults;
        self.reshape_limiter(link_ref, profile);
    }

    /// The machine of a host crashed. Its messages that wait to leave are lost; those in flight arrive.
    /// Its peers hear nothing of it before the links give up.
    ///
    /// Looks at every direction there is, as does [`Network::forget`]: crashes are rare, and lists of directions per
    /// host would cost every experiment memory.
    pub(crate) fn orphan(&mut self, host: u32) {
        for id in self.directions_from(host) {
            let direction = &mut self.directions[id.index()];
            if !direction.up {
                continue;
            }
            direction.orphaned = true;
            let link_ref = LinkRef { direction: id, link: direction.link };
            let held = direction.outage_mut().map(Outage::orphan);
            self.clear_limiter(id);
            held.into_iter().flatten().for_each(|it| self.conclude(link_ref, it, MessageEnd::Lost));
            // The peer notices the crash only by silence, as with a real transport.
            self.push_unless_never(self.now + self.give_up_after, QueueEntry::GivingUp(link_ref));
        }
    }

    /// Cuts the links of a host for its new machine, which knows none of them and gets no news of them.
    pub(crate) fn forget(&mut self, host: u32) {
        for id in self.directions_from(host) {
            self.cut(id);
            let direction = &mut self.directions[id.index()];
            // The news of these links is still in the queue, and is for the machine before.
            direction.forgotten = direction.link;
        }
    }

    /// A message arrives whose direction was cut silently while it was in flight, or is healing.
    #[cold]
    pub(super) fn arrive_after_cut(&mut self, link_ref: LinkRef, buffer: BufferId, era: u16) -> Option<u32> {
        let direction = &mut self.directions[link_ref.direction.index()];
        let to = direction.to;
        let lost = if self.buffers.is_sure(buffer) {
            match direction.outage_mut().map(|it| it.hold_or_lose(buffer)) {
                None => false,
                Some(OutageResult::Held) => return None,
                Some(OutageResult::Lost) => true,
            }
        } else {
            direction.era != era
        };
        if lost {
            self.conclude(link_ref, buffer, MessageEnd::Lost);
        }
        (!lost).then_some(to)
    }

    /// Loses the messages that an outage held: their link is gone.
    pub(super) fn clear_outage(&mut self, id: DirectionId) {
        let direction = &mut self.directions[id.index()];
        let link_ref = LinkRef { direction: id, link: direction.link };
        let outage = direction.extras.as_mut().and_then(|it| it.outage.take());
        for buffer in outage.map(Outage::into_held).into_iter().flatten() {
            self.conclude(link_ref, buffer, MessageEnd::Lost);
        }
    }

    fn reshape_limiter(&mut self, link_ref: LinkRef, profile: Profile) {
        let extras = self.directions[link_ref.direction.index()].extras_mut();
        match (&mut extras.limiter, profile.rate) {
            (Some(limiter), Some(rate)) => {
                if let Some(at) = limiter.reshape(self.now, rate, profile) {
                    self.queue.push(at, QueueEntry::Departure(link_ref));
                }
            }
            (None, Some(rate)) => extras.limiter = Some(LinkRateLimiter::new(rate, profile)),
            (_, None) => self.remove_limiter(link_ref),
        }
    }

    /// Takes the rate off a link: the messages that waited leave now, in order.
    fn remove_limiter(&mut self, link_ref: LinkRef) {
        let Some(mut limiter) = self.directions[link_ref.direction.index()].extras_mut().limiter.take()
        else {
            return;
        };
        while let Some(message) = limiter.pop() {
            self.launch(link_ref, message);
        }
    }

    fn directions_from(&self, host: u32) -> Vec<DirectionId> {
        let directions = (0u32..).map(DirectionId).zip(&self.directions);
        directions.filter(|(_, direction)| direction.from == host).map(|(id, _)| id).collect()
    }

    fn note_fault(&mut self, kind: HistoryKind, direction: DirectionId) -> LinkRef {
        let Direction { from, to, link, .. } = self.directions[direction.index()];
        self.history.note_link(kind, self.now, from, to, link);
        LinkRef { direction, link }
    }

    /// Pushes an entry, unless it is due at the end of time, which never comes.
    fn push_unless_never(&mut self, at: Time, entry: QueueEntry) {
        if at < Time::MAX {
            self.queue.push(at, entry);
        }
    }
}

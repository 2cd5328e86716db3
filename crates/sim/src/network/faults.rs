//! What goes wrong with links that stay up, and what a crash does to the links of its host.

use super::Network;
use crate::buffers::BufferId;
use crate::counters::End;
use crate::happening::{Happening, Notice, Passage, WayId};
use crate::history::Kind;
use crate::link::Way;
use crate::outage::{Meeting, Outage};
use crate::outlet::Outlet;
use crate::profile::Profile;
use machine::Time;

impl Network {
    /// Cuts a way without a word; nothing new if it is cut already, or has no link.
    pub(crate) fn cut_silently(&mut self, id: WayId) {
        let dies = self.now + self.give_up_after;
        let way = &mut self.ways[id.index()];
        if !way.up || way.outage().is_some_and(Outage::is_cut) {
            return;
        }
        way.era = way.era.wrapping_add(1);
        let orphaned = way.orphaned;
        let outage = way.extra_mut().outage.get_or_insert_with(|| Outage::new(dies, orphaned));
        outage.cut_again(dies);
        let passage = self.note_fault(Kind::CutSilently, id);
        self.push_unless_never(dies, Happening::Expiry(passage));
    }

    /// Ends a cut; nothing new without one.
    pub(crate) fn heal(&mut self, id: WayId) {
        let way = &mut self.ways[id.index()];
        let Some(outage) = way.outage().filter(|it| it.is_cut()) else { return };
        let idle = outage.is_idle();
        let arrival = self.now + way.flight.trip();
        if idle {
            way.extra_mut().outage = None;
        } else if let Some(outage) = way.outage_mut() {
            outage.heal(arrival);
        }
        let passage = self.note_fault(Kind::Heal, id);
        if !idle {
            self.queue.push(arrival, Happening::Release(passage));
        }
    }

    /// A healed way lets the first message through that it held, and the next one right after it.
    pub(crate) fn release(&mut self, passage: Passage) -> Option<(u32, Notice)> {
        let way = &mut self.ways[passage.way.index()];
        if !way.carries(passage.link) {
            return None;
        }
        let (to, era) = (way.to, way.era);
        let outage = way.outage_mut()?;
        let buffer = outage.release(self.now)?;
        if outage.is_idle() {
            way.extra_mut().outage = None;
        } else {
            self.queue.push(self.now, Happening::Release(passage));
        }
        Some((to, Notice::Arrival { passage, buffer, era }))
    }

    /// An outage may have lasted too long.
    pub(crate) fn expire(&mut self, passage: Passage) {
        let way = &self.ways[passage.way.index()];
        if way.carries(passage.link) && way.outage().is_some_and(|it| it.kills_at(self.now)) {
            self.cut(passage.way);
        }
    }

    /// Another character for a link that lives, from now on.
    pub(crate) fn set_profile(&mut self, id: WayId, profile: Profile) {
        if !self.ways[id.index()].up {
            return;
        }
        let passage = self.note_fault(Kind::Reshape, id);
        let way = &mut self.ways[id.index()];
        way.flight.reshape(profile);
        way.extra_mut().quirks = profile.quirks;
        self.reshape_outlet(passage, profile);
    }

    /// The machine of a host is gone. What still waited there to leave is lost; what is in flight arrives.
    /// Nobody hears of it before the links give up.
    ///
    /// Looks at every way there is, as does [`Network::forget`]: crashes are rare, and lists of ways per host
    /// would cost every experiment memory.
    pub(crate) fn orphan(&mut self, host: u32) {
        for id in self.ways_from(host) {
            let way = &mut self.ways[id.index()];
            if !way.up {
                continue;
            }
            way.orphaned = true;
            let passage = Passage { way: id, link: way.link };
            let held = way.outage_mut().map(Outage::orphan);
            self.clear_outlet(id);
            held.into_iter().flatten().for_each(|it| self.conclude(passage, it, End::Lost));
            self.push_unless_never(self.now + self.give_up_after, Happening::GivingUp(passage));
        }
    }

    /// A new machine at a host knows no link, and will not hear of those that its predecessor had.
    pub(crate) fn forget(&mut self, host: u32) {
        for id in self.ways_from(host) {
            self.cut(id);
            let way = &mut self.ways[id.index()];
            way.forgotten = way.link;
        }
    }

    /// A message reaches the end of a flight during which its way was cut, or is healing.
    #[cold]
    pub(super) fn arrive_after_cut(&mut self, passage: Passage, buffer: BufferId, era: u16) -> Option<u32> {
        let way = &mut self.ways[passage.way.index()];
        let to = way.to;
        let lost = if self.buffers.is_sure(buffer) {
            match way.outage_mut().map(|it| it.meet(buffer)) {
                None => false,
                Some(Meeting::Held) => return None,
                Some(Meeting::Lost) => true,
            }
        } else {
            way.era != era
        };
        if lost {
            self.conclude(passage, buffer, End::Lost);
        }
        (!lost).then_some(to)
    }

    /// Loses what an outage held: its link is gone.
    pub(super) fn clear_outage(&mut self, id: WayId) {
        let way = &mut self.ways[id.index()];
        let passage = Passage { way: id, link: way.link };
        let outage = way.extra.as_mut().and_then(|it| it.outage.take());
        for buffer in outage.map(Outage::into_held).into_iter().flatten() {
            self.conclude(passage, buffer, End::Lost);
        }
    }

    fn reshape_outlet(&mut self, passage: Passage, profile: Profile) {
        let extra = self.ways[passage.way.index()].extra_mut();
        match (&mut extra.outlet, profile.rate) {
            (Some(outlet), Some(rate)) => {
                if let Some(at) = outlet.reshape(self.now, rate, profile) {
                    self.queue.push(at, Happening::Departure(passage));
                }
            }
            (None, Some(rate)) => extra.outlet = Some(Outlet::new(rate, profile)),
            (_, None) => self.open_outlet(passage),
        }
    }

    /// A link loses its rate: what waited leaves now, in order.
    fn open_outlet(&mut self, passage: Passage) {
        let Some(mut outlet) = self.ways[passage.way.index()].extra_mut().outlet.take() else { return };
        while let Some(parcel) = outlet.pop() {
            self.launch(passage, parcel);
        }
    }

    fn ways_from(&self, host: u32) -> Vec<WayId> {
        let ways = (0u32..).map(WayId).zip(&self.ways);
        ways.filter(|(_, way)| way.from == host).map(|(id, _)| id).collect()
    }

    fn note_fault(&mut self, kind: Kind, way: WayId) -> Passage {
        let Way { from, to, link, .. } = self.ways[way.index()];
        self.history.note_link(kind, self.now, from, to, link);
        Passage { way, link }
    }

    /// The end of time never comes: what would happen then need not wait for it.
    fn push_unless_never(&mut self, at: Time, happening: Happening) {
        if at < Time::MAX {
            self.queue.push(at, happening);
        }
    }
}

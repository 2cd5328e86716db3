//! Objects that change zones, with their players.
//!
//! Whoever is beyond the border is offered to the zone there. From then on nothing happens to it here; the moment it
//! is the other's is that zone's record. Both steps go by post, so there is never a doubt whose it is.
//!
//! Locks in the way, here or there, refuse a passage; it never waits, and nothing waits for it. Whoever was refused too
//! often wants locks like an event of both zones: itself here, its place there. With both it is offered once more, and
//! only somebody who holds the very place can still refuse it, if it walked on meanwhile. That it queued is a matter of
//! fairness alone: who is taken in is judged by what is held at that moment.

use super::Primary;
use super::grants::{known, wider};
use super::players::Seen;
use super::reach::Reach;
use super::work::{Subject, Work};
use crate::config::{HYSTERESIS, STRAY_MAX};
use crate::core::{Core, Event, Out, Stage};
use crate::locks::{Claim, Holder};
use crate::mesh::{Being, EventId, Item, Known, Passage};
use crate::msg::Down;
use crate::plant::Plant;
use crate::record::{Cause, Change, Stamp};
use crate::table::Object;
use game::{PlayerId, Scope};
use machine::{Address, Span, Time};
use space::{Distance, ObjectId, Position, Velocity, ZoneId};
use std::collections::BTreeMap;

/// The most objects offered at once.
const OFFERS_MAX: usize = 64;

/// An offer that was declined is repeated after this, and some.
const AGAIN: Span = Span::from_millis(40);

/// Whoever was refused so often waits in line: who only tries now and then may find others there for ever.
const REFUSED_MAX: u32 = 3;

/// How often somebody found locks in the way, here or there.
#[derive(Clone, Copy, Debug, Default)]
struct Refused {
    times: u32,
    /// Not again before this.
    until: Time,
}

/// Offers under way.
#[derive(Debug, Default)]
pub(super) struct Passages {
    refused: BTreeMap<ObjectId, Refused>,
    /// Players who came with an avatar, and where they listen.
    listens: BTreeMap<PlayerId, Address>,
}

impl Primary {
    pub(super) fn lock_passage(&mut self, object: ObjectId) {
        self.locks.hold(Holder::Passage(object), just(object));
    }

    /// Offers whoever is beyond the border to the zone there.
    pub(super) fn offer_strayed(&mut self, core: &mut Core, out: &mut Out) {
        let now = core.world_now();
        let to = |it: &Object| Some((it.id, self.strayed_to(core, it, now)?));
        let strayed: BTreeMap<_, _> = core.state.objects.iter().filter_map(to).collect();
        self.passages.refused.retain(|it, _| strayed.contains_key(it));
        for (object, zone) in strayed.into_iter().take(OFFERS_MAX) {
            if !self.peers.is_there(zone, core.now) {
                self.seek(core, zone, out);
            } else if !self.is_choked() {
                self.try_to_pass(core, object, zone, out);
            }
            self.stop_strayed(core, object, now, out);
        }
    }

    /// The zone in which an object of ours is, if it is beyond our border.
    fn strayed_to(&self, core: &Core, object: &Object, now: Time) -> Option<ZoneId> {
        let (place, region) = (object.motion.position_at(now), core.config.region());
        if object.id == game::WORLD || region.contains(place) || region.meets_disc(place, HYSTERESIS) {
            return None;
        }
        core.config.map.locate(place).filter(|&it| it != self.zone)
    }

    /// Offers somebody, unless locks are in the way; whoever met them too often queues for them.
    fn try_to_pass(&mut self, core: &mut Core, object: ObjectId, to: ZoneId, out: &mut Out) {
        let refused = self.passages.refused.get(&object).copied().unwrap_or_default();
        let offered = core.state.abroad.offered.contains_key(&object);
        if offered || self.jobs.is_busy(Subject::Passage(object)) || core.now < refused.until {
            return;
        }
        let now = core.world_now();
        if REFUSED_MAX <= refused.times {
            if let Some(reach) = self.reach_of_passage(core, object, now) {
                self.start_job(core, Work::Pass(object), reach, out);
            }
        } else if self.locks.blocks(&just(object), &core.state.objects, now) {
            self.refused(object, core.now);
        } else {
            self.offer(core, object, to, None, out);
        }
    }

    fn refused(&mut self, object: ObjectId, until: Time) {
        let refused = self.passages.refused.entry(object).or_default();
        *refused = Refused { times: refused.times.saturating_add(1), until };
    }

    /// What somebody must wait for who was refused too often: itself here, and its place there.
    pub(super) fn reach_of_passage(&self, core: &Core, object: ObjectId, now: Time) -> Option<Reach> {
        let it = core.state.objects.get(object)?;
        let to = self.strayed_to(core, it, now)?;
        let scope = Scope::area(it.motion.position_at(now), Distance::of_metres(0));
        let zones = vec![self.zone.max(to), self.zone.min(to)];
        Some(Reach { scope, actor: Some(object), zones, refused: None })
    }

    /// All locks are there: offers somebody who had to wait. The other zone's locks end with the offer.
    pub(super) fn run_passage(&mut self, core: &mut Core, event: EventId, object: ObjectId, out: &mut Out) {
        let now = core.world_now();
        let to = core.state.objects.get(object).and_then(|it| self.strayed_to(core, it, now));
        match to.filter(|&it| self.jobs.asks(event, it)) {
            Some(to) => {
                self.offer(core, object, to, Some(event), out);
                self.close_job(core, event, &Work::Pass(object), out);
            }
            None => self.drop_job(core, event, out),
        }
    }

    /// Nobody goes far beyond the border before the zone there has taken them over.
    fn stop_strayed(&mut self, core: &mut Core, object: ObjectId, now: Time, out: &mut Out) {
        let Some(it) = core.state.objects.get(object) else { return };
        let place = it.motion.position_at(now);
        if it.motion.velocity == Velocity::ZERO || core.config.region().meets_disc(place, STRAY_MAX) {
            return;
        }
        let before = it.motion;
        let sequence = before.sequence.saturating_add(1);
        let motion = space::Motion { velocity: Velocity::ZERO, sequence, ..before.rebased(now) };
        self.steer(core, object, motion, out);
        if let Some(address) = self.clients.of_avatar(object) {
            self.say(address, Down::Corrected(motion), out);
        }
    }

    /// Offers somebody, who may have waited for it as an event.
    pub(super) fn offer(
        &mut self,
        core: &mut Core,
        object: ObjectId,
        to: ZoneId,
        event: Option<EventId>,
        out: &mut Out,
    ) {
        let Some(it) = core.state.objects.get(object) else { return };
        let timers = core.state.timers_of(object).into_iter();
        let timers =
            timers.filter_map(|key| core.state.timers.get(&key).map(|it| (key.0, it.letter.clone())));
        let player = core.state.avatars.get(&object).copied();
        let row = player.and_then(|it| core.state.players.get(&it).map(|row| (it, row.clone())));
        let passage = Passage {
            known: known(it),
            timers: timers.collect(),
            listens: player.and_then(|it| self.clients.of_player(it)),
            player: row,
            event,
        };
        let posted = Self::posted(core, to, 0, Item::Offer(Box::new(passage)));
        self.lock_passage(object);
        self.write(core, Cause::Transfer(object), vec![Change::Offered { object, to }, posted], out);
        if core.config.plants.has(Plant::OfferUnfrozen) {
            self.unlock(core, Holder::Passage(object), out);
        }
    }

    /// Somebody is offered to us.
    pub(super) fn take_offer(
        &mut self,
        core: &mut Core,
        from: ZoneId,
        taken: Change,
        passage: Passage,
        out: &mut Out,
    ) {
        let Passage { known, timers, player, listens, event } = passage;
        let Known { object, incarnation, version, motion, state } = known;
        let now = core.world_now();
        let place = motion.position_at(now);
        let answer = |is_taken| Item::Answer { object, incarnation, taken: is_taken };
        let mut changes = vec![taken];
        changes.extend(event.map(|event| Change::Released { event }));
        let comes_back = self.comes_back(core, object, player.as_ref().map(|it| it.0));
        let declines = comes_back || self.must_decline(core, object, place, event);
        if declines && !core.config.plants.has(Plant::OfferTakenLocked) {
            changes.push(Self::posted(core, from, 0, answer(false)));
            self.write(core, Cause::Transfer(object), changes, out);
            return self.end_turn(core, event, out);
        }
        let (epoch, index) = (self.epoch, core.log.head() + 1);
        let (incarnation, version) = (incarnation + 1, version + 1);
        changes.push(Change::Put { object, incarnation, version, motion, state });
        for ((at, letter), place) in timers.into_iter().zip(1..) {
            let stamp = Stamp { epoch, index, place };
            changes.push(Change::TimerSet { stamp, at, object, letter });
        }
        let mut posts = vec![(from, answer(true))];
        let home = object.zone;
        if home != self.zone && home != from && core.config.map.polygon(home).is_some() {
            let being = Being::Object(object);
            posts.push((home, Item::Lives { being, zone: Some(self.zone), incarnation }));
        }
        if let Some((player, row)) = player {
            changes.push(Change::Brought { player, row });
            self.passages.listens.extend(listens.map(|it| (player, it)));
            let entrance = self.entrance_zone(core, player);
            if entrance != self.zone && entrance != from {
                let being = Being::Player(player);
                posts.push((entrance, Item::Lives { being, zone: Some(self.zone), incarnation }));
            }
        }
        let mut before: BTreeMap<ZoneId, u64> = BTreeMap::new();
        for (zone, item) in posts {
            let count = before.entry(zone).or_default();
            changes.push(Self::posted(core, zone, *count, item));
            *count += 1;
        }
        self.adopt_ghost(object);
        self.write(core, Cause::Transfer(object), changes, out);
        self.start_to_think(core, object);
        self.end_turn(core, event, out);
    }

    /// Whether somebody was ours, or their player was, as another avatar, and we have not heard yet that they left. First
    /// we must.
    fn comes_back(&self, core: &Core, object: ObjectId, player: Option<PlayerId>) -> bool {
        let row = player.and_then(|it| core.state.players.get(&it));
        let avatar = row.and_then(|it| it.avatar);
        [Some(object), avatar].into_iter().flatten().any(|it| core.state.abroad.offered.contains_key(&it))
    }

    /// Whether an event holds the place to which somebody would come: it has been told who is there. Whoever waited for
    /// its turn comes before those who wait.
    fn must_decline(
        &self,
        core: &mut Core,
        object: ObjectId,
        place: Position,
        event: Option<EventId>,
    ) -> bool {
        let (now, place) = (core.world_now(), Scope::area(place, Distance::of_metres(0)));
        match event.filter(|it| core.state.abroad.held.contains_key(it)) {
            Some(event) => {
                let claim = Claim { scope: place, objects: Vec::new() };
                self.locks.is_held(&claim, Holder::Event(event), &core.state.objects, now)
            }
            None => {
                let claim = Claim { scope: place, objects: vec![object] };
                self.locks.blocks(&claim, &core.state.objects, now)
            }
        }
    }

    fn end_turn(&mut self, core: &mut Core, event: Option<EventId>, out: &mut Out) {
        if let Some(event) = event {
            self.unlock(core, Holder::Event(event), out);
        }
    }

    /// What became of our offer.
    pub(super) fn take_answer(
        &mut self,
        core: &mut Core,
        taken: Change,
        object: ObjectId,
        incarnation: u32,
        is_taken: bool,
        out: &mut Out,
    ) {
        let Some(&to) = core.state.abroad.offered.get(&object) else {
            return self.write(core, Cause::Transfer(object), vec![taken], out);
        };
        if !is_taken {
            let wait = Span::from_micros(core.rng.below(AGAIN.as_micros()));
            self.refused(object, core.now + AGAIN + wait);
            self.write(core, Cause::Transfer(object), vec![taken, Change::Kept { object }], out);
            return self.unlock(core, Holder::Passage(object), out);
        }
        let incarnation = incarnation + 1;
        let ghost = core.state.objects.get(object).cloned();
        let departed = Change::Departed { object, to, incarnation };
        self.write(core, Cause::Transfer(object), vec![taken, departed], out);
        if let Some(it) = ghost {
            self.leave_ghost(core, it, to, out);
        }
        self.unlock(core, Holder::Passage(object), out);
    }

    /// A departure is safe to tell: its player plays elsewhere now.
    pub(super) fn tell_departed(&mut self, object: ObjectId, out: &mut Out) {
        if let Some(address) = self.clients.with_avatar(object) {
            self.say(address, Down::NotHere { primary: None }, out);
            self.detach(address, out);
        }
        if self.borders.owner(object).is_none() {
            out.raise(Event::Stage(Stage::Vanished(object)));
        }
    }

    /// An arrival is safe to tell: its player plays here now.
    pub(super) fn tell_arrived(&mut self, core: &mut Core, player: PlayerId, out: &mut Out) {
        let address = self.passages.listens.remove(&player);
        let Some(address) = address.filter(|it| core.links.contains_key(it)) else { return };
        if self.clients.of_player(player).is_none() {
            self.attach(core, address, player, Seen::default(), out);
            self.enter_waiting(core, out);
        }
    }
}

fn just(object: ObjectId) -> Claim {
    Claim { scope: Scope::Objects(vec![object]), objects: vec![object] }
}

/// How far from its owner's region something may be.
pub(super) fn stray_reach() -> Distance {
    wider(STRAY_MAX, HYSTERESIS)
}

//! Objects that change zones, with their players.
//!
//! Whoever is beyond the border is offered to the zone there. From then on nothing happens to it here; the moment it
//! is the other's is that zone's record. Both steps go by post, so there is never a doubt whose it is.

use super::Primary;
use super::grants::{known, wider};
use super::players::Seen;
use crate::config::{HYSTERESIS, STRAY_MAX};
use crate::core::{Core, Event, Out, Stage};
use crate::locks::{Claim, Holder};
use crate::mesh::{Being, Item, Known, Passage};
use crate::msg::Down;
use crate::plant::Plant;
use crate::record::{Cause, Change, Stamp};
use game::{PlayerId, Scope};
use machine::{Address, Span, Time};
use space::{Distance, ObjectId, Velocity, ZoneId};
use std::collections::BTreeMap;

/// The most objects offered at once.
const OFFERS_MAX: usize = 64;

/// An offer that was declined is repeated after this, and some.
const AGAIN: Span = Span::from_millis(40);

/// Offers under way.
#[derive(Debug, Default)]
pub(super) struct Passages {
    /// Not again before this.
    declined: BTreeMap<ObjectId, Time>,
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
        self.passages.declined.retain(|_, until| core.now < *until);
        let region = core.config.region();
        let mut strayed = Vec::new();
        for it in core.state.objects.iter().filter(|it| it.id != game::WORLD) {
            let place = it.motion.position_at(now);
            if region.contains(place) || region.meets_disc(place, HYSTERESIS) {
                continue;
            }
            let zone = core.config.map.locate(place).filter(|&it| it != self.zone);
            strayed.extend(zone.map(|zone| (it.id, zone)));
        }
        strayed.sort_unstable();
        for (object, zone) in strayed.into_iter().take(OFFERS_MAX) {
            let is_free = !core.state.abroad.offered.contains_key(&object)
                && !self.passages.declined.contains_key(&object)
                && !self.locks.blocks(&just(object), &core.state.objects, now);
            if is_free && !self.is_choked() && self.peers.is_there(zone, core.now) {
                self.offer(core, object, zone, out);
            } else if !self.peers.is_there(zone, core.now) {
                self.seek(core, zone, out);
            }
            self.stop_strayed(core, object, now, out);
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

    fn offer(&mut self, core: &mut Core, object: ObjectId, to: ZoneId, out: &mut Out) {
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
        let Passage { known, timers, player, listens } = passage;
        let Known { object, incarnation, version, motion, state } = known;
        let now = core.world_now();
        // An event that holds this place has been told who is there.
        let place = Scope::area(motion.position_at(now), Distance::of_metres(0));
        let claim = Claim { scope: place, objects: vec![object] };
        let locked = self.locks.blocks(&claim, &core.state.objects, now);
        let answer = |is_taken| Item::Answer { object, incarnation, taken: is_taken };
        if locked && !core.config.plants.has(Plant::OfferTakenLocked) {
            let changes = vec![taken, Self::posted(core, from, 0, answer(false))];
            return self.write(core, Cause::Transfer(object), changes, out);
        }
        let (epoch, index) = (self.epoch, core.log.head() + 1);
        let (incarnation, version) = (incarnation + 1, version + 1);
        let mut changes = vec![taken, Change::Put { object, incarnation, version, motion, state }];
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
            self.passages.declined.insert(object, core.now + AGAIN + wait);
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

//! Objects that change zones, with their players.
//!
//! An object beyond the border is offered to the zone there. From then on nothing happens to it here; the moment it is
//! the other's is that zone's record. Both steps go by post, so there is never a doubt whose it is.
//!
//! Locks in the way, here or there, refuse a transfer; it never waits, and nothing waits for it. An object that was
//! refused too often wants locks like an event of both zones: itself here, its place there. With both it is offered once
//! more, and only an event that holds the very place can still refuse it, if it walked on meanwhile. That it queued is a
//! matter of fairness alone: an offer is judged by what is held at that moment.

use super::Coordination;
use crate::core::Core;
use crate::locks::{Claim, Holder};
use crate::mesh::{Being, EventId, Item, Known, Passage};
use crate::primary::execution::{Subject, Work, entrance_zone, posted, strayed_to, transfer_reach};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Stamp};
use crate::rule::Rule;
use crate::table::Object;
use game::{PlayerId, Scope};
use machine::{Span, Time};
use space::{Distance, ObjectId, ZoneId};
use std::collections::BTreeMap;

/// The most objects offered at once.
const OFFERS_MAX: usize = 64;

/// An offer that was declined is repeated after this, and some.
const AGAIN: Span = Span::from_millis(40);

/// An object that was refused so often waits in line: if it only tried now and then, it might meet locks for ever.
const REFUSED_MAX: u32 = 3;

/// How often an object met locks in the way, here or there.
#[derive(Clone, Copy, Debug, Default)]
struct Refused {
    times: u32,
    /// Not again before this.
    until: Time,
}

/// Transfers that met locks.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    refused: BTreeMap<ObjectId, Refused>,
}

impl Transfers {
    fn refuse(&mut self, object: ObjectId, until: Time) {
        let refused = self.refused.entry(object).or_default();
        *refused = Refused { times: refused.times.saturating_add(1), until };
    }

    fn refused(&self, object: ObjectId) -> Refused {
        self.refused.get(&object).copied().unwrap_or_default()
    }
}

impl Coordination {
    /// An object that is offered is locked until the offer is answered.
    pub(super) fn lock_transfer(&mut self, object: ObjectId) {
        self.locks.hold(Holder::Passage(object), just(object));
    }

    // The zone that gives.

    /// Offers objects beyond the border to the zone there.
    pub(in crate::primary) fn offer_strayed(&mut self, turn: &mut Turn<'_>) {
        let now = turn.cx.world_now();
        let to = |it: &Object| Some((it.id, strayed_to(turn.cx.core, it, now)?));
        let strayed: BTreeMap<_, _> = turn.cx.core.state.objects.iter().filter_map(to).collect();
        self.transfers.refused.retain(|it, _| strayed.contains_key(it));
        for (object, zone) in strayed.into_iter().take(OFFERS_MAX) {
            if !turn.cx.core.peers.is_there(zone, turn.cx.now()) {
                turn.cx.seek(zone);
            } else if !turn.audience.is_choked() {
                self.try_to_offer(turn, object, zone);
            }
            turn.audience.stop_strayed(&mut turn.cx, object, now);
        }
    }

    /// Offers an object, unless locks are in the way; an object that met them too often queues for them.
    fn try_to_offer(&mut self, turn: &mut Turn<'_>, object: ObjectId, to: ZoneId) {
        let refused = self.transfers.refused(object);
        let offered = turn.cx.core.state.abroad.offered.contains_key(&object);
        if offered || self.is_busy(Subject::Transfer(object)) || turn.cx.now() < refused.until {
            return;
        }
        let now = turn.cx.world_now();
        if REFUSED_MAX <= refused.times {
            if let Some(reach) = transfer_reach(turn.cx.core, object, now) {
                self.start_job(turn, Work::Transfer(object), reach);
            }
        } else if self.locks.blocks(&just(object), &turn.cx.core.state.objects, now) {
            self.transfers.refuse(object, turn.cx.now());
        } else {
            self.offer(turn, object, to, None);
        }
    }

    /// All locks are there: offers an object that had to wait. The other zone's locks end with the offer.
    pub(super) fn run_transfer(&mut self, turn: &mut Turn<'_>, event: EventId, object: ObjectId) {
        let now = turn.cx.world_now();
        let to = turn.cx.core.state.objects.get(object).and_then(|it| strayed_to(turn.cx.core, it, now));
        match to.filter(|&it| self.jobs.asks(event, it)) {
            Some(to) => {
                self.offer(turn, object, to, Some(event));
                self.close_job(turn, event);
            }
            None => self.drop_job(turn, event),
        }
    }

    /// Offers an object, which may have waited for it as an event.
    fn offer(&mut self, turn: &mut Turn<'_>, object: ObjectId, to: ZoneId, event: Option<EventId>) {
        let state = &turn.cx.core.state;
        let Some(it) = state.objects.get(object) else { return };
        let timers = state.timers_of(object).into_iter();
        let timers = timers.filter_map(|key| state.timers.get(&key).map(|it| (key.0, it.letter.clone())));
        let player = state.avatars.get(&object).copied();
        let passage = Passage {
            known: Known::of(it),
            timers: timers.collect(),
            listens: player.and_then(|it| turn.audience.sessions.of_player(it)),
            player: player.and_then(|it| state.players.get(&it).map(|row| (it, row.clone()))),
            event,
        };
        let posted = posted(turn.cx.core, to, 0, Item::Offer(Box::new(passage)));
        self.lock_transfer(object);
        turn.write(Cause::Transfer(object), vec![Change::Offered { object, to }, posted]);
        if !turn.cx.enforces(Rule::FreezeOfferedObjects) {
            self.unlock(turn, Holder::Passage(object));
        }
    }

    /// The other zone answers our offer.
    pub(super) fn take_answer(
        &mut self,
        turn: &mut Turn<'_>,
        taken: Change,
        (object, incarnation): (ObjectId, u32),
        is_taken: bool,
    ) {
        let cause = Cause::Transfer(object);
        let Some(&to) = turn.cx.core.state.abroad.offered.get(&object) else {
            return turn.write(cause, vec![taken]);
        };
        if is_taken {
            let ghost = turn.cx.core.state.objects.get(object).cloned();
            let departed = Change::Departed { object, to, incarnation: incarnation + 1 };
            turn.write(cause, vec![taken, departed]);
            if let Some(it) = ghost {
                turn.audience.leave_ghost(&mut turn.cx, it, to);
            }
        } else {
            let wait = Span::from_micros(turn.cx.core.rng.below(AGAIN.as_micros()));
            self.transfers.refuse(object, turn.cx.now() + AGAIN + wait);
            turn.write(cause, vec![taken, Change::Kept { object }]);
        }
        self.unlock(turn, Holder::Passage(object));
    }

    // The zone that takes.

    /// Another zone offers us an object.
    pub(super) fn take_offer(&mut self, turn: &mut Turn<'_>, from: ZoneId, taken: Change, passage: Passage) {
        let (object, event) = (passage.known.object, passage.event);
        let mut changes = vec![taken];
        changes.extend(event.map(|event| Change::Released { event }));
        let declines = comes_back(turn.cx.core, &passage) || self.must_decline(turn, &passage);
        if declines && turn.cx.enforces(Rule::DeclineIntoLockedPlace) {
            let answer = Item::Answer { object, incarnation: passage.known.incarnation, taken: false };
            changes.push(posted(turn.cx.core, from, 0, answer));
            turn.write(Cause::Transfer(object), changes);
        } else {
            accept(turn, from, changes, passage);
        }
        if let Some(event) = event {
            self.unlock(turn, Holder::Event(event));
        }
    }

    /// Whether an event holds the place to which an object would come: it has been told which objects are there. An
    /// object that waited for its turn comes before those that wait.
    fn must_decline(&self, turn: &mut Turn<'_>, passage: &Passage) -> bool {
        let now = turn.cx.world_now();
        let place = Scope::area(passage.known.motion.position_at(now), Distance::of_metres(0));
        let (state, object) = (&turn.cx.core.state, passage.known.object);
        match passage.event.filter(|it| state.abroad.held.contains_key(it)) {
            Some(event) => {
                let claim = Claim { scope: place, objects: Vec::new() };
                self.locks.is_held(&claim, Holder::Event(event), &state.objects, now)
            }
            None => {
                let claim = Claim { scope: place, objects: vec![object] };
                self.locks.blocks(&claim, &state.objects, now)
            }
        }
    }
}

/// Takes an object over, with its timers and its player. From this record on it is ours.
fn accept(turn: &mut Turn<'_>, from: ZoneId, mut changes: Vec<Change>, passage: Passage) {
    let Passage { known, timers, player, listens, .. } = passage;
    let Known { object, incarnation, version, motion, state } = known;
    let is_ours = turn.cx.core.state.objects.get(object).is_some();
    assert!(!is_ours || turn.cx.core.breaks_rules(), "an object has one owner: {object} is offered and here");
    let (epoch, index, new) = (turn.cx.epoch(), turn.cx.core.log.head() + 1, incarnation + 1);
    changes.push(Change::Put { object, incarnation: new, version: version + 1, motion, state });
    for ((at, letter), place) in timers.into_iter().zip(1..) {
        let stamp = Stamp { epoch, index, place };
        changes.push(Change::TimerSet { stamp, at, object, letter });
    }
    let mut posts = vec![(from, Item::Answer { object, incarnation, taken: true })];
    posts.extend(news_of_object(turn.cx.core, from, object, new));
    if let Some((player, row)) = player {
        changes.push(Change::Brought { player, row });
        turn.audience.expect_arrival(player, listens);
        posts.extend(news_of_player(turn.cx.core, from, player, new));
    }
    let mut before: BTreeMap<ZoneId, u64> = BTreeMap::new();
    for (zone, item) in posts {
        let count = before.entry(zone).or_default();
        changes.push(posted(turn.cx.core, zone, *count, item));
        *count += 1;
    }
    turn.audience.borders.remove(object);
    turn.write(Cause::Transfer(object), changes);
    turn.schedule.adopt(turn.cx.core, object);
    assert!(turn.cx.core.state.objects.get(object).is_some(), "an object that was accepted is here");
}

/// The zone of an object's birth hears where it lives; not if that is one of the two zones.
fn news_of_object(core: &Core, from: ZoneId, object: ObjectId, incarnation: u32) -> Option<(ZoneId, Item)> {
    let (home, own) = (object.zone, core.config.zone);
    let elsewhere = home != own && home != from && core.config.map.polygon(home).is_some();
    elsewhere.then_some((home, Item::Lives { being: Being::Object(object), zone: Some(own), incarnation }))
}

/// The zone of a player's entrance hears where it plays; not if that is one of the two zones.
fn news_of_player(core: &Core, from: ZoneId, player: PlayerId, incarnation: u32) -> Option<(ZoneId, Item)> {
    let (home, own) = (entrance_zone(core, player), core.config.zone);
    let elsewhere = home != own && home != from;
    elsewhere.then_some((home, Item::Lives { being: Being::Player(player), zone: Some(own), incarnation }))
}

/// Whether an object was ours, or its player's avatar was, and we have not heard yet that it left. First we must.
fn comes_back(core: &Core, passage: &Passage) -> bool {
    let row = passage.player.as_ref().and_then(|it| core.state.players.get(&it.0));
    let avatar = row.and_then(|it| it.avatar);
    let both = [Some(passage.known.object), avatar];
    both.into_iter().flatten().any(|it| core.state.abroad.offered.contains_key(&it))
}

fn just(object: ObjectId) -> Claim {
    Claim { scope: Scope::Objects(vec![object]), objects: vec![object] }
}

//! Transfers: objects that change their owner, with their players.
//!
//! The owner offers an object beyond its border to the zone there. From then on no event touches the object here; it
//! belongs to the other zone from that zone's record on. Offer and answer go by post, so it always has one owner.
//!
//! Locks in the way, in either zone, refuse a transfer; it never waits for them. An event that needs the object waits
//! for the answer to the offer. An object that was refused too often queues for locks like an event of both zones: for itself here, for its place there. With both it
//! is offered once more, and only an event that holds the very place can still refuse it, if the object walked on
//! meanwhile. The queue serves fairness alone: an offer is accepted or declined by the locks that are held at that
//! moment.

use super::Coordination;
use crate::core::Core;
use crate::locks::{LockClaim, LockHolder};
use crate::mesh::{EntityId, EventId, ObjectSnapshot, PostItem, Transfer};
use crate::object_table::Object;
use crate::primary::execution::{Work, WorkKey, entrance_zone, posted, strayed_to, transfer_reach};
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Stamp};
use crate::rule::Rule;
use game::{PlayerId, Scope};
use machine::{Span, Time};
use space::{Distance, ObjectId, ZoneId};
use std::collections::BTreeMap;

/// The most objects that are offered in one tick.
const OFFERS_MAX: usize = 64;

/// A declined offer is repeated after this time and a random part of it.
const AGAIN: Span = Span::from_millis(40);

/// An object that was refused so often queues for locks: if it only tried now and then, it might meet locks for ever.
const REFUSED_MAX: u32 = 3;

/// The refusals of one object's transfer by locks, in either zone.
#[derive(Clone, Copy, Debug, Default)]
struct TransferRefusals {
    times: u32,
    /// The object is not offered again before this time.
    until: Time,
}

/// The objects whose transfers were refused by locks.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    refused: BTreeMap<ObjectId, TransferRefusals>,
}

impl Transfers {
    fn refuse(&mut self, object: ObjectId, until: Time) {
        let refused = self.refused.entry(object).or_default();
        *refused = TransferRefusals { times: refused.times.saturating_add(1), until };
    }

    fn refused(&self, object: ObjectId) -> TransferRefusals {
        self.refused.get(&object).copied().unwrap_or_default()
    }
}

impl Coordination {
    /// Locks an object that is offered, until the offer is answered.
    pub(super) fn lock_transfer(&mut self, object: ObjectId) {
        self.locks.hold(LockHolder::Transfer(object), claim_of(object));
    }

    // The zone that gives.

    /// Offers objects beyond the border to the zone there.
    pub(in crate::primary) fn offer_strayed(&mut self, turn: &mut Turn<'_>) {
        let now = turn.cx.world_now();
        let to = |it: &Object| Some((it.id, strayed_to(turn.cx.core, it, now)?));
        let strayed: BTreeMap<_, _> = turn.cx.core.state.objects.iter().filter_map(to).collect();
        // An object that walked back counts as never refused.
        self.transfers.refused.retain(|it, _| strayed.contains_key(it));
        for (object, zone) in strayed.into_iter().take(OFFERS_MAX) {
            if !turn.cx.core.remote_primaries.heard_recently(zone, turn.cx.now()) {
                turn.cx.seek(zone);
            } else if !turn.audience.is_backlogged() {
                self.try_to_offer(turn, object, zone);
            }
            // Whatever came of it: an object that no zone takes must not walk on beyond the border.
            turn.audience.stop_strayed(&mut turn.cx, object, now);
        }
    }

    /// Offers an object, unless locks are in the way; an object that met them too often queues for them.
    fn try_to_offer(&mut self, turn: &mut Turn<'_>, object: ObjectId, to: ZoneId) {
        let refused = self.transfers.refused(object);
        let offered = turn.cx.core.state.mesh.offered.contains_key(&object);
        if offered || self.is_busy(WorkKey::Transfer(object)) || turn.cx.now() < refused.until {
            return;
        }
        let now = turn.cx.world_now();
        if REFUSED_MAX <= refused.times {
            if let Some(reach) = transfer_reach(turn.cx.core, object, now) {
                self.start_job(turn, Work::Transfer(object), reach);
            }
        } else if self.locks.blocks(&claim_of(object), &turn.cx.core.state.objects, now) {
            self.transfers.refuse(object, turn.cx.now());
        } else {
            self.offer(turn, object, to, None);
        }
    }

    /// Offers an object that queued and has all its locks. The other zone's locks end with the offer.
    pub(super) fn run_transfer(&mut self, turn: &mut Turn<'_>, event: EventId, object: ObjectId) {
        let now = turn.cx.world_now();
        let to = turn.cx.core.state.objects.get(object).and_then(|it| strayed_to(turn.cx.core, it, now));
        // While it waited the object may have walked back, or into a third zone.
        match to.filter(|&it| self.jobs.involves(event, it)) {
            Some(to) => {
                self.offer(turn, object, to, Some(event));
                self.close_job(turn, event);
            }
            None => self.drop_job(turn, event),
        }
    }

    /// Offers an object to a zone; `event` if it queued for locks as one.
    fn offer(&mut self, turn: &mut Turn<'_>, object: ObjectId, to: ZoneId, event: Option<EventId>) {
        let state = &turn.cx.core.state;
        let Some(it) = state.objects.get(object) else { return };
        let timers = state.timers_of(object).into_iter();
        let timers = timers.filter_map(|key| state.timers.get(&key).map(|it| (key.0, it.letter.clone())));
        let player = state.avatars.get(&object).copied();
        let transfer = Transfer {
            snapshot: ObjectSnapshot::of(it),
            timers: timers.collect(),
            player_address: player.and_then(|it| turn.audience.sessions.of_player(it)),
            player: player.and_then(|it| state.players.get(&it).map(|row| (it, row.clone()))),
            event,
        };
        let posted = posted(turn.cx.core, to, 0, PostItem::Offer(Box::new(transfer)));
        self.lock_transfer(object);
        turn.write(Cause::Transfer(object), vec![Change::Offered { object, to }, posted]);
        if !turn.cx.enforces(Rule::FreezeOfferedObjects) {
            self.unlock(turn, LockHolder::Transfer(object));
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
        // The item must be recorded as taken even if the offer is not known any more.
        let Some(&to) = turn.cx.core.state.mesh.offered.get(&object) else {
            return turn.write(cause, vec![taken]);
        };
        if is_taken {
            // The record removes the object from the state: keep it, to show it as a ghost without a gap.
            let ghost = turn.cx.core.state.objects.get(object).cloned();
            let departed = Change::Departed { object, to, incarnation: incarnation + 1 };
            turn.write(cause, vec![taken, departed]);
            if let Some(it) = ghost {
                turn.audience.leave_ghost(&mut turn.cx, it, to);
            }
        } else {
            // Random, so that objects that were declined together are not offered together again.
            let wait = Span::from_micros(turn.cx.core.rng.below(AGAIN.as_micros()));
            self.transfers.refuse(object, turn.cx.now() + AGAIN + wait);
            turn.write(cause, vec![taken, Change::Kept { object }]);
        }
        self.unlock(turn, LockHolder::Transfer(object));
    }

    // The zone that takes.

    /// Another zone offers us an object.
    pub(super) fn take_offer(
        &mut self,
        turn: &mut Turn<'_>,
        from: ZoneId,
        taken: Change,
        transfer: Transfer,
    ) {
        let (object, event) = (transfer.snapshot.object, transfer.event);
        let mut changes = vec![taken];
        changes.extend(event.map(|event| Change::Released { event }));
        let declines = is_still_offered(turn.cx.core, &transfer) || self.must_decline(turn, &transfer);
        if declines && turn.cx.enforces(Rule::DeclineIntoLockedPlace) {
            let answer =
                PostItem::Answer { object, incarnation: transfer.snapshot.incarnation, taken: false };
            changes.push(posted(turn.cx.core, from, 0, answer));
            turn.write(Cause::Transfer(object), changes);
        } else {
            accept(turn, from, changes, transfer);
        }
        if let Some(event) = event {
            self.unlock(turn, LockHolder::Event(event));
        }
    }

    /// Returns whether an event holds the place to which an object would come: that event was told which objects are
    /// there, and one more must not appear. An object that queued goes before the events that still wait; any other
    /// waits behind them.
    fn must_decline(&self, turn: &mut Turn<'_>, transfer: &Transfer) -> bool {
        let now = turn.cx.world_now();
        let place = Scope::area(transfer.snapshot.motion.position_at(now), Distance::of_metres(0));
        let (state, object) = (&turn.cx.core.state, transfer.snapshot.object);
        match transfer.event.filter(|it| state.mesh.grants.contains_key(it)) {
            Some(event) => {
                let claim = LockClaim { scope: place, objects: Vec::new() };
                self.locks.conflicts_with_held(&claim, LockHolder::Event(event), &state.objects, now)
            }
            None => {
                let claim = LockClaim { scope: place, objects: vec![object] };
                self.locks.blocks(&claim, &state.objects, now)
            }
        }
    }
}

/// Takes an object over, with its timers and its player. From this record on this zone owns it.
fn accept(turn: &mut Turn<'_>, from: ZoneId, mut changes: Vec<Change>, transfer: Transfer) {
    let Transfer { snapshot, timers, player, player_address, .. } = transfer;
    let ObjectSnapshot { object, incarnation, version, motion, state } = snapshot;
    let is_ours = turn.cx.core.state.objects.get(object).is_some();
    assert!(!is_ours || turn.cx.core.breaks_rules(), "an object has one owner: {object} is offered and here");
    let (epoch, index, new) = (turn.cx.epoch(), turn.cx.core.log.head() + 1, incarnation + 1);
    changes.push(Change::Put { object, incarnation: new, version: version + 1, motion, state });
    for ((at, letter), place) in timers.into_iter().zip(1..) {
        let stamp = Stamp { epoch, index, place };
        changes.push(Change::TimerSet { stamp, at, object, letter });
    }
    let mut posts = vec![(from, PostItem::Answer { object, incarnation, taken: true })];
    posts.extend(object_location_post(turn.cx.core, from, object, new));
    if let Some((player, row)) = player {
        changes.push(Change::Brought { player, row });
        turn.audience.expect_arrival(player, player_address);
        posts.extend(player_location_post(turn.cx.core, from, player, new));
    }
    let mut before: BTreeMap<ZoneId, u64> = BTreeMap::new();
    for (zone, item) in posts {
        let count = before.entry(zone).or_default();
        changes.push(posted(turn.cx.core, zone, *count, item));
        *count += 1;
    }
    // It is no ghost any more.
    turn.audience.borders.remove(object);
    turn.write(Cause::Transfer(object), changes);
    turn.schedule.adopt(turn.cx.core, object);
    assert!(turn.cx.core.state.objects.get(object).is_some(), "an object that was accepted is here");
}

/// The item that tells an object's birth zone its new owner; not if the birth zone is one of the two zones, which know.
fn object_location_post(
    core: &Core,
    from: ZoneId,
    object: ObjectId,
    incarnation: u32,
) -> Option<(ZoneId, PostItem)> {
    let (birth_zone, own) = (object.zone, core.config.zone);
    let elsewhere = birth_zone != own && birth_zone != from && core.config.map.polygon(birth_zone).is_some();
    elsewhere.then_some((
        birth_zone,
        PostItem::Location { entity: EntityId::Object(object), zone: Some(own), incarnation },
    ))
}

/// The item that tells a player's entrance zone where the player is; not if it is one of the two zones, which know.
fn player_location_post(
    core: &Core,
    from: ZoneId,
    player: PlayerId,
    incarnation: u32,
) -> Option<(ZoneId, PostItem)> {
    let (entrance, own) = (entrance_zone(core, player), core.config.zone);
    let elsewhere = entrance != own && entrance != from;
    elsewhere.then_some((
        entrance,
        PostItem::Location { entity: EntityId::Player(player), zone: Some(own), incarnation },
    ))
}

/// Returns whether we offered this object, or its player's avatar here, and have not taken the answer yet. That must
/// come first: until then the object is in our state.
fn is_still_offered(core: &Core, transfer: &Transfer) -> bool {
    let row = transfer.player.as_ref().and_then(|it| core.state.players.get(&it.0));
    let avatar = row.and_then(|it| it.avatar);
    let offered_objects = [Some(transfer.snapshot.object), avatar];
    offered_objects.into_iter().flatten().any(|it| core.state.mesh.offered.contains_key(&it))
}

fn claim_of(object: ObjectId) -> LockClaim {
    LockClaim { scope: Scope::Objects(vec![object]), objects: vec![object] }
}

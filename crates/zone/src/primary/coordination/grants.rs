//! Grants: locks of this zone for events that other zones coordinate.
//!
//! A grant is a record, and the coordinator hears of it when that is settled: so a replica that takes over still holds it.
//! The grantor never takes it back. The coordinator releases it, with its decision or without one, and is asked when it
//! says nothing.

use super::Coordination;
use super::attempt::ids;
use crate::config::{HOLD_MAX, PAST_MAX};
use crate::core::Core;
use crate::locks::{LockAnswer, LockClaim, LockHolder};
use crate::mesh::{BetweenZones, EventId, LockDenial, LockRequest, ObjectSnapshot, PostItem};
use crate::primary::context::PrimaryContext;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index};
use crate::rule::Rule;
use game::Scope;
use machine::{Lane, Span, Time};
use space::ZoneId;
use std::collections::{BTreeMap, VecDeque};

/// The coordinator of an event that holds locks for this long is asked what became of it.
const ASK_AFTER: Span = Span::from_millis(250);

/// The answer to a granted request: its attempt, the event's moment, the objects in the scope.
type GrantReply = (u32, Time, Vec<ObjectSnapshot>);

/// Requests and grants of other zones' events, besides the grants in the state.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// Requests that wait in the queue of the locks.
    waiting: BTreeMap<EventId, LockRequest>,
    /// The answers to send when the grants are settled.
    answers: BTreeMap<EventId, GrantReply>,
    /// Grants that are not sent yet, with the numbers of their records, in order.
    unsent: VecDeque<(Index, EventId)>,
    /// When each grant was given, or its coordinator was last asked about it.
    asked_at: BTreeMap<EventId, Time>,
}

impl Grants {
    /// Sends coordinators the grants whose records are settled.
    pub(super) fn send(&mut self, cx: &mut PrimaryContext<'_>, settled: Index) {
        while let Some((_, event)) = self.unsent.pop_front_if(|it| it.0 <= settled) {
            let Some((attempt, time, objects)) = self.answers.remove(&event) else { continue };
            // The coordinator may have released it meanwhile.
            if cx.core.state.mesh.grants.get(&event).is_some_and(|it| it.attempt == attempt) {
                cx.send_zone(event.zone, Lane::Sure, BetweenZones::Granted { event, attempt, time, objects });
            }
        }
    }

    fn forget(&mut self, event: EventId) {
        self.asked_at.remove(&event);
        self.answers.remove(&event);
    }

    /// The events that hold locks and whose coordinators are silent. They count as asked about from now on.
    fn silent(&mut self, core: &Core) -> Vec<(EventId, u32)> {
        let (grants, now) = (&core.state.mesh.grants, core.now);
        // A grant of an earlier primary is in the state and not here: its time begins now.
        self.asked_at.retain(|event, _| grants.contains_key(event));
        let mut silent = Vec::new();
        for (&event, grant) in grants {
            let asked_at = self.asked_at.entry(event).or_insert(now);
            if ASK_AFTER < now.since(*asked_at) {
                *asked_at = now;
                silent.push((event, grant.attempt));
            }
        }
        silent
    }
}

impl Coordination {
    /// Another zone wants locks for an event that it coordinates.
    pub(in crate::primary) fn on_lock(&mut self, turn: &mut Turn<'_>, from: ZoneId, request: LockRequest) {
        let LockRequest { event, attempt, time, waits, .. } = request;
        // Only the coordinator may ask; and a request that waits already is answered once.
        if event.zone != from || self.grants.waiting.contains_key(&event) {
            return;
        }
        match turn.cx.core.state.mesh.grants.get(&event) {
            Some(grant) if grant.attempt < attempt => self.release(turn, event),
            Some(_) => return, // The event has the locks, and its coordinator will hear so.
            None => (),
        }
        let now = turn.cx.world_now();
        if let Some(why) = denial(turn, &request, now) {
            return deny(&mut turn.cx, event, attempt, why);
        }
        let time = time.unwrap_or(now);
        let objects = turn.audience.motions.gather(turn.cx.core, &request.scope, None, time);
        let claim = LockClaim { scope: request.scope.clone(), objects: ids(&objects) };
        let (holder, places) = (LockHolder::Event(event), &turn.cx.core.state.objects);
        let granted = if waits {
            self.locks.request(holder, claim, places, now)
        } else if self.locks.try_hold(holder, claim, places, now) || !turn.cx.enforces(Rule::LocksExclude) {
            LockAnswer::Now
        } else {
            return deny(&mut turn.cx, event, attempt, LockDenial::Taken);
        };
        match granted {
            LockAnswer::Now => self.grant(turn, &request, time, objects),
            LockAnswer::Later => drop(self.grants.waiting.insert(event, request)),
            LockAnswer::Busy => deny(&mut turn.cx, event, attempt, LockDenial::Busy),
        }
    }

    /// Writes the record of a grant. The coordinator hears of it when the record is settled.
    fn grant(
        &mut self,
        turn: &mut Turn<'_>,
        request: &LockRequest,
        time: Time,
        objects: Vec<ObjectSnapshot>,
    ) {
        let LockRequest { event, attempt, scope, .. } = request.clone();
        let is_held = turn.cx.core.state.mesh.grants.contains_key(&event);
        assert!(event.zone != turn.cx.zone() && !is_held, "locks are granted once, and to other zones");
        let granted = Change::Granted { event, attempt, scope, objects: ids(&objects) };
        self.grants.answers.insert(event, (attempt, time, objects));
        self.grants.asked_at.insert(event, turn.cx.now());
        turn.write(Cause::Lock(event), vec![granted]);
        self.grants.unsent.push_back((turn.cx.core.log.head(), event));
    }

    /// Grants a request that waited and has got its locks, or denies it if it waited for too long.
    pub(super) fn grant_waiting(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(request) = self.grants.waiting.remove(&event) else { return };
        let (now, holder) = (turn.cx.world_now(), LockHolder::Event(event));
        let time = request.time.unwrap_or(now);
        let objects = turn.audience.motions.gather(turn.cx.core, &request.scope, None, time);
        // An object that walked into the scope meanwhile may be locked by another event.
        let claim = LockClaim { scope: Scope::Objects(Vec::new()), objects: ids(&objects) };
        let why = if PAST_MAX < now.since(time) {
            LockDenial::TooOld(now)
        } else if self.locks.conflicts_with_held(&claim, holder, &turn.cx.core.state.objects, now) {
            LockDenial::Taken
        } else {
            self.locks.add_objects(holder, &claim.objects);
            return self.grant(turn, &request, time, objects);
        };
        deny(&mut turn.cx, event, request.attempt, why);
        self.unlock(turn, holder);
    }

    /// A coordinator releases its locks of all attempts up to this one.
    pub(in crate::primary) fn on_release(
        &mut self,
        turn: &mut Turn<'_>,
        from: ZoneId,
        event: EventId,
        attempt: u32,
    ) {
        if event.zone != from {
            return;
        }
        // An old release must not end the locks of a later attempt.
        if self.grants.waiting.get(&event).is_some_and(|it| it.attempt <= attempt) {
            self.grants.waiting.remove(&event);
            self.unlock(turn, LockHolder::Event(event));
        }
        if turn.cx.core.state.mesh.grants.get(&event).is_some_and(|it| it.attempt <= attempt) {
            self.release(turn, event);
        }
    }

    fn release(&mut self, turn: &mut Turn<'_>, event: EventId) {
        self.grants.forget(event);
        turn.write(Cause::Lock(event), vec![Change::Released { event }]);
        self.unlock(turn, LockHolder::Event(event));
    }

    /// Asks the silent coordinators of events that hold locks here what became of them.
    pub(in crate::primary) fn maintain_grants(&mut self, cx: &mut PrimaryContext<'_>) {
        let silent = self.grants.silent(cx.core);
        if !cx.enforces(Rule::AskSilentCoordinators) {
            return;
        }
        for (event, attempt) in silent {
            if !cx.core.remote_primaries.heard_recently(event.zone, cx.now()) {
                cx.seek(event.zone);
            }
            cx.send_zone(event.zone, Lane::Sure, BetweenZones::Ask { event, attempt });
        }
    }

    /// Another zone holds locks for an event of ours and asks about it. An event that is neither decided nor under way
    /// never happens: its locks are released.
    pub(in crate::primary) fn on_ask(
        &self,
        cx: &mut PrimaryContext<'_>,
        from: ZoneId,
        event: EventId,
        attempt: u32,
    ) {
        // The event is of a later epoch of this zone than ours: its primary knows it, this replica does not.
        if event.zone != cx.zone() || cx.epoch() < event.epoch {
            return;
        }
        if !self.jobs.needs_locks(event, attempt) {
            self.release_there(cx, from, event, attempt);
        }
    }

    /// Releases another zone's locks for an event that needs them no longer; but not if the event is decided, for then
    /// the decision in the post releases them.
    pub(super) fn release_there(
        &self,
        cx: &mut PrimaryContext<'_>,
        there: ZoneId,
        event: EventId,
        attempt: u32,
    ) {
        let decided = |item: &PostItem| match item {
            PostItem::Decided(it) => it.event == event,
            PostItem::Offer(transfer) => transfer.event == Some(event),
            _ => false,
        };
        let posted = cx.core.state.mesh.post.get(&there);
        if !posted.is_some_and(|it| it.items.values().any(|it| decided(&it.1))) {
            cx.send_zone(there, Lane::Sure, BetweenZones::Release { event, attempt });
        }
    }
}

/// The reason to deny a request before any lock is looked at, if there is one.
fn denial(turn: &Turn<'_>, request: &LockRequest, now: Time) -> Option<LockDenial> {
    if request.map != turn.cx.core.config.map.version().0 {
        Some(LockDenial::Stale)
    } else if request.time.is_some_and(|it| HOLD_MAX < now.since(it)) {
        Some(LockDenial::TooOld(now))
    } else {
        turn.audience.is_backlogged().then_some(LockDenial::Busy)
    }
}

fn deny(cx: &mut PrimaryContext<'_>, event: EventId, attempt: u32, why: LockDenial) {
    cx.send_zone(event.zone, Lane::Sure, BetweenZones::Denied { event, attempt, why });
}

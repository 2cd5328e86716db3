//! Locks for events that other zones decide.
//!
//! A grant is a record and leaves when that is safe, so a replica that takes over still holds it. It is never taken back
//! here: the zone that decides releases it, with its decision or without one, and is asked when it says nothing.

use super::Coordination;
use super::attempt::ids;
use crate::config::{HOLD_MAX, PAST_MAX};
use crate::core::Core;
use crate::locks::{Claim, Granted, Holder};
use crate::mesh::{Denial, EventId, Item, Known, Mesh, Wanted};
use crate::primary::context::Ctx;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index};
use crate::rule::Rule;
use game::Scope;
use machine::{Lane, Span, Time};
use space::ZoneId;
use std::collections::{BTreeMap, VecDeque};

/// An event that holds locks for this long without a word of its coordinator is asked about.
const ASK_AFTER: Span = Span::from_millis(250);

/// What is answered to a request: its attempt, the event's moment, the objects that are there.
type Answer = (u32, Time, Vec<Known>);

/// What events of other zones hold or want here, besides what the state says.
#[derive(Debug, Default)]
pub(super) struct Grants {
    /// Requests that wait in the queue.
    waiting: BTreeMap<EventId, Wanted>,
    /// What to answer when a grant is safe.
    answers: BTreeMap<EventId, Answer>,
    /// Grants that wait for that, by their records.
    given: VecDeque<(Index, EventId)>,
    /// When a grant was given, or its coordinator asked last.
    asked: BTreeMap<EventId, Time>,
}

impl Grants {
    /// Tells coordinators of grants that are safe.
    pub(super) fn send(&mut self, cx: &mut Ctx<'_>, safe: Index) {
        while let Some((_, event)) = self.given.pop_front_if(|it| it.0 <= safe) {
            let Some((attempt, time, objects)) = self.answers.remove(&event) else { continue };
            if cx.core.state.abroad.held.get(&event).is_some_and(|it| it.attempt == attempt) {
                cx.tell_zone(event.zone, Lane::Sure, Mesh::Granted { event, attempt, time, objects });
            }
        }
    }

    fn forget(&mut self, event: EventId) {
        self.asked.remove(&event);
        self.answers.remove(&event);
    }

    /// Events that hold locks, and whose coordinators say nothing. They count as asked about now.
    fn silent(&mut self, core: &Core) -> Vec<(EventId, u32)> {
        let (held, now) = (&core.state.abroad.held, core.now);
        self.asked.retain(|event, _| held.contains_key(event));
        let mut silent = Vec::new();
        for (&event, held) in held {
            let asked = self.asked.entry(event).or_insert(now);
            if ASK_AFTER < now.since(*asked) {
                *asked = now;
                silent.push((event, held.attempt));
            }
        }
        silent
    }
}

impl Coordination {
    /// Another zone wants locks for an event that it decides.
    pub(in crate::primary) fn on_lock(&mut self, turn: &mut Turn<'_>, from: ZoneId, wanted: Wanted) {
        let Wanted { event, attempt, time, waits, .. } = wanted;
        if event.zone != from || self.grants.waiting.contains_key(&event) {
            return;
        }
        match turn.cx.core.state.abroad.held.get(&event) {
            Some(held) if held.attempt < attempt => self.release(turn, event),
            Some(_) => return, // It has them, and will hear so.
            None => (),
        }
        let now = turn.cx.world_now();
        if let Some(why) = denial(turn, &wanted, now) {
            return deny(&mut turn.cx, event, attempt, why);
        }
        let time = time.unwrap_or(now);
        let objects = turn.audience.motions.gather(turn.cx.core, &wanted.scope, None, time);
        let claim = Claim { scope: wanted.scope.clone(), objects: ids(&objects) };
        let (holder, places) = (Holder::Event(event), &turn.cx.core.state.objects);
        let granted = if waits {
            self.locks.request(holder, claim, places, now)
        } else if self.locks.take(holder, claim, places, now) || !turn.cx.enforces(Rule::LocksExclude) {
            Granted::Now
        } else {
            return deny(&mut turn.cx, event, attempt, Denial::Taken);
        };
        match granted {
            Granted::Now => self.grant(turn, &wanted, time, objects),
            Granted::Later => drop(self.grants.waiting.insert(event, wanted)),
            Granted::Busy => deny(&mut turn.cx, event, attempt, Denial::Busy),
        }
    }

    /// Grants locks: the coordinator hears of it when the record is safe.
    fn grant(&mut self, turn: &mut Turn<'_>, wanted: &Wanted, time: Time, objects: Vec<Known>) {
        let Wanted { event, attempt, scope, .. } = wanted.clone();
        let is_held = turn.cx.core.state.abroad.held.contains_key(&event);
        assert!(event.zone != turn.cx.zone() && !is_held, "locks are granted once, and to other zones");
        let granted = Change::Granted { event, attempt, scope, objects: ids(&objects) };
        self.grants.answers.insert(event, (attempt, time, objects));
        self.grants.asked.insert(event, turn.cx.now());
        turn.write(Cause::Lock(event), vec![granted]);
        self.grants.given.push_back((turn.cx.core.log.head(), event));
    }

    /// The turn of a request that waited has come.
    pub(super) fn grant_waiting(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(wanted) = self.grants.waiting.remove(&event) else { return };
        let (now, holder) = (turn.cx.world_now(), Holder::Event(event));
        let time = wanted.time.unwrap_or(now);
        let objects = turn.audience.motions.gather(turn.cx.core, &wanted.scope, None, time);
        // An object that walked in meanwhile may be locked by another event.
        let claim = Claim { scope: Scope::Objects(Vec::new()), objects: ids(&objects) };
        let why = if PAST_MAX < now.since(time) {
            Denial::TooOld(now)
        } else if self.locks.is_held(&claim, holder, &turn.cx.core.state.objects, now) {
            Denial::Taken
        } else {
            self.locks.add_objects(holder, &claim.objects);
            return self.grant(turn, &wanted, time, objects);
        };
        deny(&mut turn.cx, event, wanted.attempt, why);
        self.unlock(turn, holder);
    }

    /// A coordinator wants locks no longer, up to this attempt.
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
        if self.grants.waiting.get(&event).is_some_and(|it| it.attempt <= attempt) {
            self.grants.waiting.remove(&event);
            self.unlock(turn, Holder::Event(event));
        }
        if turn.cx.core.state.abroad.held.get(&event).is_some_and(|it| it.attempt <= attempt) {
            self.release(turn, event);
        }
    }

    fn release(&mut self, turn: &mut Turn<'_>, event: EventId) {
        self.grants.forget(event);
        turn.write(Cause::Lock(event), vec![Change::Released { event }]);
        self.unlock(turn, Holder::Event(event));
    }

    /// Asks what became of events that hold locks here and say nothing.
    pub(in crate::primary) fn look_after_grants(&mut self, cx: &mut Ctx<'_>) {
        let silent = self.grants.silent(cx.core);
        if !cx.enforces(Rule::AskSilentCoordinators) {
            return;
        }
        for (event, attempt) in silent {
            if !cx.core.peers.is_there(event.zone, cx.now()) {
                cx.seek(event.zone);
            }
            cx.tell_zone(event.zone, Lane::Sure, Mesh::Ask { event, attempt });
        }
    }

    /// Another zone holds locks for an event of ours, and asks. Undecided and unknown, it never happens.
    pub(in crate::primary) fn on_ask(&self, cx: &mut Ctx<'_>, from: ZoneId, event: EventId, attempt: u32) {
        // A later reign of ours would know more.
        if event.zone != cx.zone() || cx.epoch() < event.epoch {
            return;
        }
        if !self.jobs.wants(event, attempt) {
            self.release_there(cx, from, event, attempt);
        }
    }

    /// Another zone holds locks for an event that we do not want: unless it is decided, it never happens.
    pub(super) fn release_there(&self, cx: &mut Ctx<'_>, there: ZoneId, event: EventId, attempt: u32) {
        let decided = |item: &Item| match item {
            Item::Decided(whole) => whole.event == event,
            Item::Offer(passage) => passage.event == Some(event),
            _ => false,
        };
        let posted = cx.core.state.abroad.post.get(&there);
        if !posted.is_some_and(|it| it.items.values().any(|it| decided(&it.1))) {
            cx.tell_zone(there, Lane::Sure, Mesh::Release { event, attempt });
        }
    }
}

/// Why a request is denied whatever the locks say, if it is.
fn denial(turn: &Turn<'_>, wanted: &Wanted, now: Time) -> Option<Denial> {
    if wanted.map != turn.cx.core.config.map.version().0 {
        Some(Denial::Stale)
    } else if wanted.time.is_some_and(|it| HOLD_MAX < now.since(it)) {
        Some(Denial::TooOld(now))
    } else {
        turn.audience.is_choked().then_some(Denial::Busy)
    }
}

fn deny(cx: &mut Ctx<'_>, event: EventId, attempt: u32, why: Denial) {
    cx.tell_zone(event.zone, Lane::Sure, Mesh::Denied { event, attempt, why });
}

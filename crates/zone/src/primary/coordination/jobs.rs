//! Jobs: events that cannot be executed at once, because they reach into other zones or meet a lock. Each is a job
//! until it is executed, or until there is nothing left to do.
//!
//! With all locks an event is executed once. Its record is the decision, and posts it to the other zones.

use super::Coordination;
use crate::config::{HOLD_MAX, JOB_MAX, WAIT_MAX};
use crate::core::Core;
use crate::locks::LockHolder;
use crate::mesh::{EventId, ObjectSnapshot};
use crate::primary::audience::Audience;
use crate::primary::execution::{
    EventReach, ExecutedCall, FailedCall, JointEvent, Work, WorkKey, may_be_refused,
};
use crate::primary::turn::Turn;
use crate::rule::Rule;
use game::{Objects, Scope};
use machine::{Span, Time};
use space::{Distance, Motion, ObjectId, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The shortest and the longest pause between two attempts of a job.
pub(super) const PAUSE: (Span, Span) = (Span::from_millis(20), Span::from_millis(500));

/// The stage of an attempt to get all locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockingStage {
    /// All zones were asked at once, and no request waits.
    Trying,
    /// The zones are asked one after the other; this is the place in the list of the one that is asked now.
    Queueing(usize),
    /// No locks are held; the next attempt begins at this time.
    Pausing(Time),
}

/// An event that waits for its locks.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) attempt: u32,
    pub(super) reach: EventReach,
    /// The event's moment of world time: that of its first grant.
    pub(super) time: Option<Time>,
    /// The earliest moment of which all grantors still know the motions.
    pub(super) not_before: Time,
    pub(super) stage: LockingStage,
    /// The objects in the scope, by the zone that granted its locks.
    pub(super) granted: BTreeMap<ZoneId, Vec<ObjectSnapshot>>,
    /// When the job began, when a zone was last asked, and since when locks are held.
    started: Time,
    pub(super) asked_at: Time,
    pub(super) locked_since: Option<Time>,
    pub(super) failures: u32,
}

impl Job {
    fn new(work: Work, reach: EventReach, now: Time) -> Self {
        Self {
            work,
            attempt: 0,
            reach,
            time: None,
            not_before: Time::ZERO,
            stage: LockingStage::Trying,
            granted: BTreeMap::new(),
            started: now,
            asked_at: now,
            locked_since: None,
            failures: 0,
        }
    }

    /// Takes in a zone's grant with its objects in the scope. Returns whether the grant is new.
    pub(super) fn add_grant(
        &mut self,
        zone: ZoneId,
        now: Time,
        (time, found): (Time, Vec<ObjectSnapshot>),
    ) -> bool {
        assert!(self.reach.zones.contains(&zone), "only zones that take part grant locks");
        self.time.get_or_insert(time);
        self.locked_since.get_or_insert(now);
        self.granted.insert(zone, found).is_none()
    }

    /// Returns whether the job waits for other zones for too long.
    fn is_late(&self, own: ZoneId, now: Time) -> bool {
        let is_local = self.reach.zones == [own];
        !is_local
            && match self.locked_since {
                Some(since) => HOLD_MAX < now.since(since),
                // The zone that was asked may have a new primary, which knows nothing of the request.
                None => WAIT_MAX < now.since(self.asked_at),
            }
    }
}

/// All jobs, by the identity of their events.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) by_event: BTreeMap<EventId, Job>,
    busy: BTreeSet<WorkKey>,
    /// The number of this primary's last event.
    last: u64,
}

impl Jobs {
    pub(super) fn is_busy(&self, key: WorkKey) -> bool {
        !self.busy.is_empty() && self.busy.contains(&key)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }

    /// Returns whether an event is still in this attempt, so that its locks are needed.
    pub(super) fn needs_locks(&self, event: EventId, attempt: u32) -> bool {
        self.by_event
            .get(&event)
            .is_some_and(|it| it.attempt == attempt && !matches!(it.stage, LockingStage::Pausing(_)))
    }

    /// Returns whether a zone takes part in an event.
    pub(super) fn involves(&self, event: EventId, zone: ZoneId) -> bool {
        self.by_event.get(&event).is_some_and(|it| it.reach.zones.contains(&zone))
    }

    pub(super) fn len(&self) -> usize {
        self.by_event.len()
    }

    fn remove(&mut self, event: EventId) -> Option<Work> {
        let work = self.by_event.remove(&event)?.work;
        self.busy.remove(&work.key());
        Some(work)
    }

    /// The jobs that wait for too long, and those whose pause is over.
    fn late_and_due(&self, own: ZoneId, now: Time) -> (Vec<EventId>, Vec<EventId>) {
        let (mut late, mut due) = (Vec::new(), Vec::new());
        for (&event, job) in &self.by_event {
            match job.stage {
                LockingStage::Pausing(at) if at <= now => due.push(event),
                LockingStage::Trying | LockingStage::Queueing(_) if job.is_late(own, now) => late.push(event),
                LockingStage::Pausing(_) | LockingStage::Trying | LockingStage::Queueing(_) => (),
            }
        }
        (late, due)
    }
}

/// The objects that an event of several zones sees: those that came with the grants of its locks.
struct LockedObjects(BTreeMap<ObjectId, (ZoneId, ObjectSnapshot)>);

impl LockedObjects {
    fn of(granted: BTreeMap<ZoneId, Vec<ObjectSnapshot>>) -> Self {
        let mut gathered = BTreeMap::new();
        for (zone, objects) in granted {
            gathered.extend(objects.into_iter().map(|it| (it.object, (zone, it))));
        }
        Self(gathered)
    }

    /// Returns whether the scope names an object that exists and came with no grant: it changed zones while the event
    /// waited. An event must not follow it with locks in hand, or events would wait in a circle: it releases all and
    /// plans anew.
    fn lacks_named_object(&self, core: &Core, audience: &Audience, scope: &Scope) -> bool {
        let Scope::Objects(objects) = scope else { return false };
        let is_missed = |it: ObjectId| !self.0.contains_key(&it) && audience.owner(core, it).is_some();
        objects.iter().any(|&it| it != game::WORLD && is_missed(it))
    }
}

impl Objects for LockedObjects {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.get(&object).map(|(_, it)| (&it.motion, it.state.as_slice()))
    }

    // The grantors have chosen the objects in the scope at the event's moment: nothing is left to filter.
    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        for (&object, (_, it)) in &self.0 {
            visit(object, &it.motion);
        }
    }
}

impl Coordination {
    /// Makes work a job, which waits for locks of this zone or others.
    pub(super) fn start_job(&mut self, turn: &mut Turn<'_>, work: Work, reach: EventReach) {
        // One job per player, letter, timer and object at a time.
        if !self.jobs.busy.insert(work.key()) {
            return;
        }
        self.jobs.last += 1;
        let event = EventId { zone: turn.cx.zone(), epoch: turn.cx.epoch(), number: self.jobs.last };
        self.jobs.by_event.insert(event, Job::new(work, reach, turn.cx.now()));
        self.ask_for_locks(turn, event);
    }

    /// Executes an event that has all its locks. This happens once.
    pub(super) fn run(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        turn.note_work(Some(&job.work));
        self.run_noted(turn, event);
        turn.note_work(None);
    }

    fn run_noted(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        assert_eq!(job.granted.len(), job.reach.zones.len(), "an event runs with the locks of all its zones");
        if let Work::Transfer(object) = job.work {
            return self.run_transfer(turn, event, object);
        }
        // The work may have become void while it waited: the avatar is gone, or the letter was delivered.
        let Some(call) = job.work.game_call(&turn.cx.core.state) else { return self.drop_job(turn, event) };
        if let Some(why) = job.reach.refused.take() {
            return self.end_job(turn, event, Err(FailedCall::refused(why)));
        }
        let (scope, zones) = (job.reach.scope.clone(), job.reach.zones.clone());
        let time = job.time.unwrap_or_else(|| turn.cx.world_now());
        let view = LockedObjects::of(std::mem::take(&mut job.granted));
        if view.lacks_named_object(turn.cx.core, turn.audience, &scope) {
            return self.fail(turn, event, PAUSE.0);
        }
        // An event of this zone alone happens now, on the objects as they are now.
        if zones == [turn.cx.zone()] {
            let executed = turn.execute(call.call(), scope);
            return self.end_job(turn, event, executed);
        }
        let executed = turn.execute_on(call.call(), scope, time, &view);
        let executed = executed.map(|mut it| {
            it.joint = Some(JointEvent { event, time, zones, objects: view.0 });
            it
        });
        self.end_job(turn, event, executed);
    }

    /// Ends a job: writes what came of its execution, and releases its locks.
    fn end_job(&mut self, turn: &mut Turn<'_>, event: EventId, executed: Result<ExecutedCall, FailedCall>) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let work = job.work.clone();
        let (is_done, before) = (executed.is_ok(), turn.cx.core.log.head());
        turn.finish(&work, executed);
        // A decision releases the other zones' locks by post. An event without one must release them itself.
        let is_decided = is_done && before < turn.cx.core.log.head();
        if !is_decided {
            self.release_locks(turn, event);
        }
        self.close_job(turn, event);
    }

    /// Removes a job, and releases its locks in this zone.
    pub(super) fn close_job(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let work = self.jobs.remove(event);
        self.unlock(turn, LockHolder::Event(event));
        if let Some(work) = work {
            self.resume_waiting(turn, &work);
        }
    }

    /// Drops a job for which there is nothing left to do, and releases all its locks.
    pub(super) fn drop_job(&mut self, turn: &mut Turn<'_>, event: EventId) {
        self.release_locks(turn, event);
        if let Some(work) = self.jobs.remove(event) {
            turn.finish_void(&work);
            self.resume_waiting(turn, &work);
        }
    }

    /// Ends attempts that took too long, and begins those whose pause is over.
    pub(in crate::primary) fn maintain_jobs(&mut self, turn: &mut Turn<'_>) {
        if self.jobs.by_event.is_empty() {
            return;
        }
        let now = turn.cx.now();
        let (late, due) = self.jobs.late_and_due(turn.cx.zone(), now);
        if turn.cx.enforces(Rule::HoldIsBounded) {
            for event in late {
                self.fail(turn, event, PAUSE.0);
            }
        }
        for event in due {
            let is_old = |job: &Job| JOB_MAX < now.since(job.started);
            if self.jobs.by_event.get(&event).is_some_and(is_old) {
                self.give_up(turn, event);
            } else if !turn.audience.is_backlogged() {
                self.attempt(turn, event);
            }
        }
    }

    /// Gives up a job that got no locks for long: an action is answered "busy", an NPC thinks again later. Letters,
    /// timers and leaves must happen, so they go on trying.
    fn give_up(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        match job.work {
            Work::Act { .. } if may_be_refused(&turn.cx.core.state, &job.work) => {
                self.end_job(turn, event, Err(FailedCall::busy()));
            }
            Work::Think(_) => self.end_job(turn, event, Err(FailedCall::busy())),
            // The client asks again to enter.
            Work::Join(_) => self.drop_job(turn, event),
            Work::Act { .. } | Work::Letter(_) | Work::Timer(..) | Work::Leave(_) | Work::Transfer(_) => {
                self.attempt(turn, event);
            }
        }
    }
}

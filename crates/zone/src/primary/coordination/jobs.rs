//! Events that cannot be executed at once: those that reach into other zones, and those that meet a lock. Each is a job
//! until it is done, or until there is nothing to be done any more.
//!
//! With all locks an event is executed once; its record is the decision, and posts it to the other zones.

use super::Coordination;
use crate::config::{HOLD_MAX, JOB_MAX, WAIT_MAX};
use crate::core::Core;
use crate::locks::Holder;
use crate::mesh::{EventId, Known};
use crate::primary::audience::Audience;
use crate::primary::execution::{Executed, Failed, Joint, Reach, Subject, Work, may_be_refused};
use crate::primary::turn::Turn;
use crate::rule::Rule;
use game::{Objects, Scope};
use machine::{Span, Time};
use space::{Distance, Motion, ObjectId, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The pause before another try, at first, and at most.
pub(super) const PAUSE: (Span, Span) = (Span::from_millis(20), Span::from_millis(500));

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// All zones were asked at once.
    Trying,
    /// The highest zones were asked, up to this place in the list.
    Queueing(usize),
    /// It tries again at this moment.
    Pausing(Time),
}

/// An event on its way to its locks.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) attempt: u32,
    pub(super) reach: Reach,
    /// The event's moment: when it was wanted, or in a queue when it got its first locks.
    pub(super) time: Option<Time>,
    /// The earliest moment that all grantors still know.
    pub(super) not_before: Time,
    pub(super) stage: Stage,
    pub(super) granted: BTreeMap<ZoneId, Vec<Known>>,
    /// When it was wanted, when a zone was last asked, and since when it holds locks.
    since: Time,
    pub(super) asked: Time,
    pub(super) holds: Option<Time>,
    pub(super) failures: u32,
}

impl Job {
    fn new(work: Work, reach: Reach, now: Time) -> Self {
        Self {
            work,
            attempt: 0,
            reach,
            time: None,
            not_before: Time::ZERO,
            stage: Stage::Trying,
            granted: BTreeMap::new(),
            since: now,
            asked: now,
            holds: None,
            failures: 0,
        }
    }

    /// Takes in what is there with a zone's locks; whether that is new.
    pub(super) fn got(&mut self, zone: ZoneId, now: Time, (time, found): (Time, Vec<Known>)) -> bool {
        assert!(self.reach.zones.contains(&zone), "only zones that take part grant locks");
        self.time.get_or_insert(time);
        self.holds.get_or_insert(now);
        self.granted.insert(zone, found).is_none()
    }

    /// Whether it waits for other zones for too long.
    fn is_late(&self, own: ZoneId, now: Time) -> bool {
        let is_local = self.reach.zones == [own];
        !is_local
            && match self.holds {
                Some(since) => HOLD_MAX < now.since(since),
                None => WAIT_MAX < now.since(self.asked), // The zone that was asked may have forgotten.
            }
    }
}

/// Everything that is being done and not done yet.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) by_event: BTreeMap<EventId, Job>,
    busy: BTreeSet<Subject>,
    last: u64,
}

impl Jobs {
    pub(super) fn is_busy(&self, subject: Subject) -> bool {
        !self.busy.is_empty() && self.busy.contains(&subject)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.busy.is_empty()
    }

    /// Whether locks that this attempt got may still be needed.
    pub(super) fn wants(&self, event: EventId, attempt: u32) -> bool {
        self.by_event
            .get(&event)
            .is_some_and(|it| it.attempt == attempt && !matches!(it.stage, Stage::Pausing(_)))
    }

    /// Whether an event wants locks of a zone.
    pub(super) fn asks(&self, event: EventId, zone: ZoneId) -> bool {
        self.by_event.get(&event).is_some_and(|it| it.reach.zones.contains(&zone))
    }

    pub(super) fn len(&self) -> usize {
        self.by_event.len()
    }

    fn remove(&mut self, event: EventId) -> Option<Work> {
        let work = self.by_event.remove(&event)?.work;
        self.busy.remove(&work.subject());
        Some(work)
    }

    /// Jobs that took too long, and those whose pause is over.
    fn late_and_due(&self, own: ZoneId, now: Time) -> (Vec<EventId>, Vec<EventId>) {
        let (mut late, mut due) = (Vec::new(), Vec::new());
        for (&event, job) in &self.by_event {
            match job.stage {
                Stage::Pausing(at) if at <= now => due.push(event),
                Stage::Trying | Stage::Queueing(_) if job.is_late(own, now) => late.push(event),
                Stage::Pausing(_) | Stage::Trying | Stage::Queueing(_) => (),
            }
        }
        (late, due)
    }
}

/// What an event of several zones sees: what it got with its locks.
struct Gathered(BTreeMap<ObjectId, (ZoneId, Known)>);

impl Gathered {
    fn of(granted: BTreeMap<ZoneId, Vec<Known>>) -> Self {
        let mut gathered = BTreeMap::new();
        for (zone, objects) in granted {
            gathered.extend(objects.into_iter().map(|it| (it.object, (zone, it))));
        }
        Self(gathered)
    }

    /// Whether an object is named that lives, and was found in no zone: it changed zones while the event waited. No event
    /// follows it with locks in hand, or events would wait in a circle: it releases all and plans anew.
    fn misses(&self, core: &Core, audience: &Audience, scope: &Scope) -> bool {
        let Scope::Objects(objects) = scope else { return false };
        let is_missed = |it: ObjectId| !self.0.contains_key(&it) && audience.owner(core, it).is_some();
        objects.iter().any(|&it| it != game::WORLD && is_missed(it))
    }
}

impl Objects for Gathered {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.get(&object).map(|(_, it)| (&it.motion, it.state.as_slice()))
    }

    fn visit(&self, _: Position, _: Distance, _: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        for (&object, (_, it)) in &self.0 {
            visit(object, &it.motion);
        }
    }
}

impl Coordination {
    /// Something must wait for locks, here or elsewhere.
    pub(super) fn start_job(&mut self, turn: &mut Turn<'_>, work: Work, reach: Reach) {
        if !self.jobs.busy.insert(work.subject()) {
            return;
        }
        self.jobs.last += 1;
        let event = EventId { zone: turn.cx.zone(), epoch: turn.cx.epoch(), number: self.jobs.last };
        self.jobs.by_event.insert(event, Job::new(work, reach, turn.cx.now()));
        self.ask_for_locks(turn, event);
    }

    /// All locks are there: executes the event, once.
    pub(super) fn run(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        assert_eq!(job.granted.len(), job.reach.zones.len(), "an event runs with the locks of all its zones");
        if let Work::Transfer(object) = job.work {
            return self.run_transfer(turn, event, object);
        }
        let Some(call) = job.work.game_call(&turn.cx.core.state) else { return self.drop_job(turn, event) };
        if let Some(why) = job.reach.refused.take() {
            return self.end_job(turn, event, Err(Failed::refused(why)));
        }
        let (scope, zones) = (job.reach.scope.clone(), job.reach.zones.clone());
        let time = job.time.unwrap_or_else(|| turn.cx.world_now());
        let view = Gathered::of(std::mem::take(&mut job.granted));
        if view.misses(turn.cx.core, turn.audience, &scope) {
            return self.fail(turn, event, PAUSE.0);
        }
        if zones == [turn.cx.zone()] {
            let executed = turn.execute(call.call(), scope);
            return self.end_job(turn, event, executed);
        }
        let executed = turn.execute_on(call.call(), scope, time, &view);
        let executed = executed.map(|mut it| {
            it.joint = Some(Joint { event, time, zones, known: view.0 });
            it
        });
        self.end_job(turn, event, executed);
    }

    /// Ends a job with what came of it.
    fn end_job(&mut self, turn: &mut Turn<'_>, event: EventId, executed: Result<Executed, Failed>) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let work = job.work.clone();
        let (is_done, before) = (executed.is_ok(), turn.cx.core.log.head());
        turn.finish(&work, executed);
        // A decision releases the other zones by post; what led to no record, or was refused, must say so.
        let is_decided = is_done && before < turn.cx.core.log.head();
        if !is_decided {
            self.release_locks(turn, event);
        }
        self.close_job(turn, event);
    }

    /// A job is over, and its locks here with it.
    pub(super) fn close_job(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let work = self.jobs.remove(event);
        self.unlock(turn, Holder::Event(event));
        if let Some(work) = work {
            self.resume_waiting(turn, &work);
        }
    }

    /// There is nothing to be done any more.
    pub(super) fn drop_job(&mut self, turn: &mut Turn<'_>, event: EventId) {
        self.release_locks(turn, event);
        if let Some(work) = self.jobs.remove(event) {
            turn.finish_void(&work);
            self.resume_waiting(turn, &work);
        }
    }

    /// Gives up attempts that took too long, and begins those whose pause is over.
    pub(in crate::primary) fn look_after_jobs(&mut self, turn: &mut Turn<'_>) {
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
            let is_old = |job: &Job| JOB_MAX < now.since(job.since);
            if self.jobs.by_event.get(&event).is_some_and(is_old) {
                self.give_up(turn, event);
            } else if !turn.audience.is_choked() {
                self.attempt(turn, event);
            }
        }
    }

    /// An action that found no room is answered so, an object thinks again later; what must happen goes on trying.
    fn give_up(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        match job.work {
            Work::Act { .. } if may_be_refused(&turn.cx.core.state, &job.work) => {
                self.end_job(turn, event, Err(Failed::busy()));
            }
            Work::Think(_) => self.end_job(turn, event, Err(Failed::busy())),
            Work::Join(_) => self.drop_job(turn, event),
            Work::Act { .. } | Work::Letter(_) | Work::Timer(..) | Work::Leave(_) | Work::Transfer(_) => {
                self.attempt(turn, event);
            }
        }
    }
}

//! Events that cannot be done at once: those that reach into other zones, and those that meet something locked. Each is
//! a job until it is done, or until there is nothing to be done any more.
//!
//! With all locks an event is executed once; its record is the decision, and posts it to the others.

use super::Primary;
use super::reach::Reach;
use super::work::{Subject, Work, may_be_refused};
use super::write::{Executed, Failed, Joint};
use crate::config::{HOLD_MAX, JOB_MAX, WAIT_MAX};
use crate::core::{Core, Out};
use crate::locks::Holder;
use crate::mesh::{EventId, Known};
use crate::plant::Plant;
use game::{Objects, Scope};
use machine::{Span, Time};
use space::{Distance, Motion, ObjectId, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The pause before another try, at first, and at most.
pub(super) const PAUSE: (Span, Span) = (Span::from_millis(20), Span::from_millis(500));

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Everybody was asked at once.
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
    /// The earliest moment that everybody still knows.
    pub(super) not_before: Time,
    pub(super) stage: Stage,
    pub(super) granted: BTreeMap<ZoneId, Vec<Known>>,
    /// When it was wanted, when somebody was last asked, and since when it holds locks.
    pub(super) since: Time,
    pub(super) asked: Time,
    pub(super) holds: Option<Time>,
    pub(super) failures: u32,
}

impl Job {
    /// Takes in what is there with a zone's locks; whether that is new.
    pub(super) fn got(&mut self, zone: ZoneId, now: Time, time: Time, found: Vec<Known>) -> bool {
        self.time.get_or_insert(time);
        self.holds.get_or_insert(now);
        self.granted.insert(zone, found).is_none()
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.by_event.len()
    }
}

/// What an event of several zones sees: what it got with its locks.
struct Gathered(BTreeMap<ObjectId, (ZoneId, Known)>);

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

impl Primary {
    /// Something must wait for locks, here or elsewhere.
    pub(super) fn start_job(&mut self, core: &mut Core, work: Work, reach: Reach, out: &mut Out) {
        let subject = work.subject();
        if !self.jobs.busy.insert(subject) {
            return;
        }
        self.jobs.last += 1;
        let event = EventId { zone: self.zone, epoch: self.epoch, number: self.jobs.last };
        let now = core.now;
        let (granted, stage) = (BTreeMap::new(), Stage::Trying);
        let job = Job {
            work,
            attempt: 0,
            reach,
            time: None,
            not_before: Time::ZERO,
            stage,
            granted,
            since: now,
            asked: now,
            holds: None,
            failures: 0,
        };
        self.jobs.by_event.insert(event, job);
        self.ask_for_locks(core, event, out);
    }

    /// All locks are there: executes the event, once.
    pub(super) fn run(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        if let Work::Pass(object) = job.work {
            return self.run_passage(core, event, object, out);
        }
        let Some(asked) = job.work.asked(&core.state) else { return self.drop_job(core, event, out) };
        if let Some(why) = job.reach.refused.take() {
            return self.end_job(core, event, Err(Failed::refused(why)), out);
        }
        let (scope, zones) = (job.reach.scope.clone(), job.reach.zones.clone());
        let time = job.time.unwrap_or_else(|| core.world_now());
        let mut gathered = BTreeMap::new();
        for (zone, objects) in std::mem::take(&mut job.granted) {
            gathered.extend(objects.into_iter().map(|it| (it.object, (zone, it))));
        }
        let view = Gathered(gathered);
        if self.misses_somebody(core, &scope, &view) {
            return self.fail(core, event, PAUSE.0, out);
        }
        if zones == [self.zone] {
            let executed = self.execute(core, asked.call(), scope);
            return self.end_job(core, event, executed, out);
        }
        let executed = self.execute_on(core, asked.call(), scope, time, &view);
        let executed = executed.map(|mut it| {
            it.joint = Some(Joint { event, time, zones, known: view.0 });
            it
        });
        self.end_job(core, event, executed, out);
    }

    /// Whether somebody is named who lives, and was found nowhere: who changed zones while the event waited. Nobody
    /// is followed with locks in hand, or some would wait in a circle: it lets go and plans anew.
    fn misses_somebody(&self, core: &Core, scope: &Scope, found: &Gathered) -> bool {
        let Scope::Objects(objects) = scope else { return false };
        let is_missed = |it: ObjectId| !found.0.contains_key(&it) && self.owner(core, it).is_some();
        objects.iter().any(|&it| it != game::WORLD && is_missed(it))
    }

    /// Ends a job with what came of it.
    fn end_job(
        &mut self,
        core: &mut Core,
        event: EventId,
        executed: Result<Executed, Failed>,
        out: &mut Out,
    ) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let work = job.work.clone();
        let (is_done, before) = (executed.is_ok(), core.log.head());
        self.finish(core, &work, executed, out);
        // What is decided releases the others by post; what led to no record, or was refused, must say so.
        let is_decided = is_done && before < core.log.head();
        if !is_decided {
            self.let_go(core, event, out);
        }
        self.close_job(core, event, &work, out);
    }

    /// A job is over, and its locks here with it.
    pub(super) fn close_job(&mut self, core: &mut Core, event: EventId, work: &Work, out: &mut Out) {
        self.jobs.by_event.remove(&event);
        self.jobs.busy.remove(&work.subject());
        self.unlock(core, Holder::Event(event), out);
        self.go_on_with(core, work, out);
    }

    /// There is nothing to be done any more.
    pub(super) fn drop_job(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        self.let_go(core, event, out);
        if let Some(job) = self.jobs.by_event.remove(&event) {
            self.jobs.busy.remove(&job.work.subject());
            self.finish_void(core, &job.work, out);
            self.go_on_with(core, &job.work, out);
        }
    }

    /// Those whose turn has come, and those who took too long.
    pub(super) fn look_after_jobs(&mut self, core: &mut Core, out: &mut Out) {
        if self.jobs.by_event.is_empty() {
            return;
        }
        let now = core.now;
        let is_local = |job: &Job| job.reach.zones == [self.zone];
        let is_late = |job: &Job| match job.holds {
            Some(since) => HOLD_MAX < now.since(since),
            None => WAIT_MAX < now.since(job.asked), // Who was asked may have forgotten.
        };
        let mut late = Vec::new();
        let mut due = Vec::new();
        for (&event, job) in &self.jobs.by_event {
            match job.stage {
                Stage::Pausing(at) if at <= now => due.push(event),
                Stage::Pausing(_) => (),
                Stage::Trying | Stage::Queueing(_) if !is_local(job) && is_late(job) => late.push(event),
                Stage::Trying | Stage::Queueing(_) => (),
            }
        }
        if core.config.plants.has(Plant::HoldsForEver) {
            late.clear();
        }
        for event in late {
            self.fail(core, event, PAUSE.0, out);
        }
        for event in due {
            let given_up = |job: &Job| JOB_MAX < now.since(job.since);
            if self.jobs.by_event.get(&event).is_some_and(given_up) {
                self.give_up(core, event, out);
            } else if !self.is_choked() {
                self.attempt(core, event, out);
            }
        }
    }

    /// An action that found no room is answered so, a thinker thinks again later; what must happen goes on trying.
    fn give_up(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        match job.work {
            Work::Act { .. } if may_be_refused(&core.state, &job.work) => {
                self.end_job(core, event, Err(Failed::busy()), out);
            }
            Work::Think(_) => self.end_job(core, event, Err(Failed::busy()), out),
            Work::Join { .. } => self.drop_job(core, event, out),
            Work::Act { .. } | Work::Letter(_) | Work::Timer(..) | Work::Leave(_) | Work::Pass(_) => {
                self.attempt(core, event, out);
            }
        }
    }
}

//! Attempts of an event to get its locks.
//!
//! First the coordinator asks all zones at once, and no request waits. If any zone refuses, it releases all locks and
//! asks one zone after the other, the highest first: each puts the event into its queue. All events queue in the same
//! order of zones, so no two of them wait for each other.

use super::Coordination;
use super::jobs::{Job, LockingStage, PAUSE};
use crate::locks::{LockAnswer, LockClaim, LockHolder};
use crate::mesh::{BetweenZones, EventId, LockDenial, LockRequest, ObjectSnapshot};
use crate::primary::turn::Turn;
use game::Scope;
use machine::{Lane, Span, Time};
use space::{ObjectId, ZoneId};

impl Coordination {
    /// Plans the event anew, since objects have moved, and asks for locks.
    pub(super) fn attempt(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let now = turn.cx.world_now();
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        turn.note_work(Some(&job.work));
        let reach = turn.plan(&job.work, now);
        turn.note_work(None);
        let Some(reach) = reach else { return self.drop_job(turn, event) };
        job.reach = reach;
        self.ask_for_locks(turn, event);
    }

    /// Begins an attempt: asks for the locks that were planned.
    pub(super) fn ask_for_locks(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let (own, now) = (turn.cx.zone(), turn.cx.now());
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        // Answers to earlier attempts carry a lower number, and are ignored.
        job.attempt += 1;
        (job.time, job.asked_at, job.locked_since) = (None, now, None);
        job.granted.clear();
        let alone = job.reach.zones == [own];
        // Only the first attempt asks all zones at once. An event of this zone alone queues here and asks no other.
        job.stage = if 0 < job.failures || alone { LockingStage::Queueing(0) } else { LockingStage::Trying };
        let primaries = &turn.cx.core.remote_primaries;
        let missing =
            job.reach.zones.iter().copied().find(|&it| it != own && !primaries.heard_recently(it, now));
        // A zone without a known primary would not answer: no locks are taken in vain elsewhere.
        if let Some(zone) = missing {
            job.stage = LockingStage::Pausing(now + PAUSE.0);
            return turn.cx.seek(zone);
        }
        if job.stage == LockingStage::Trying {
            self.try_all(turn, event);
        } else {
            self.queue_next(turn, event);
        }
    }

    fn try_all(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let own = turn.cx.zone();
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let (zones, scope) = (job.reach.zones.clone(), job.reach.scope.clone());
        let (time, found) = find_own(turn, job);
        let (claim, now) = (LockClaim { scope, objects: ids(&found) }, turn.cx.world_now());
        if !self.locks.try_hold(LockHolder::Event(event), claim, &turn.cx.core.state.objects, now) {
            return self.fail(turn, event, Span::ZERO);
        }
        job.add_grant(own, turn.cx.now(), (time, found));
        let request = lock_request(turn, event, job, false);
        for zone in zones.into_iter().filter(|&it| it != own) {
            turn.cx.send_zone(zone, Lane::Sure, BetweenZones::Lock(request.clone()));
        }
    }

    /// Asks the next zone in the order for its locks; executes the event if it was the last.
    fn queue_next(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let LockingStage::Queueing(place) = job.stage else { return };
        job.asked_at = turn.cx.now();
        let Some(&zone) = job.reach.zones.get(place) else { return self.run(turn, event) };
        if zone != turn.cx.zone() {
            let request = lock_request(turn, event, job, true);
            return turn.cx.send_zone(zone, Lane::Sure, BetweenZones::Lock(request));
        }
        let scope = job.reach.scope.clone();
        let objects = ids(&find_own(turn, job).1);
        let (claim, now) = (LockClaim { scope, objects }, turn.cx.world_now());
        match self.locks.request(LockHolder::Event(event), claim, &turn.cx.core.state.objects, now) {
            LockAnswer::Now => self.job_granted(turn, event),
            LockAnswer::Later => (),
            LockAnswer::Busy => self.fail(turn, event, PAUSE.0),
        }
    }

    /// This zone's own locks are there: goes on with the next zone.
    pub(super) fn job_granted(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let LockingStage::Queueing(place) = job.stage else { return };
        let (time, found) = find_own(turn, job);
        let claim = LockClaim { scope: Scope::Objects(Vec::new()), objects: ids(&found) };
        let (now, holder) = (turn.cx.world_now(), LockHolder::Event(event));
        // An object that walked into the scope while the event waited may be locked by another event.
        if self.locks.conflicts_with_held(&claim, holder, &turn.cx.core.state.objects, now) {
            return self.fail(turn, event, PAUSE.0);
        }
        self.locks.add_objects(holder, &claim.objects);
        job.add_grant(turn.cx.zone(), turn.cx.now(), (time, found));
        job.stage = LockingStage::Queueing(place + 1);
        self.queue_next(turn, event);
    }

    /// Another zone grants its locks, with its objects in the scope.
    pub(in crate::primary) fn on_granted(
        &mut self,
        turn: &mut Turn<'_>,
        from: ZoneId,
        (event, attempt): (EventId, u32),
        found: (Time, Vec<ObjectSnapshot>),
    ) {
        // A late grant of an attempt that was given up: its locks are held in vain.
        if !self.jobs.needs_locks(event, attempt) || !self.jobs.involves(event, from) {
            return self.release_there(&mut turn.cx, from, event, attempt);
        }
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        if !job.add_grant(from, turn.cx.now(), found) {
            return;
        }
        match job.stage {
            LockingStage::Trying if job.granted.len() == job.reach.zones.len() => self.run(turn, event),
            LockingStage::Queueing(place) if job.reach.zones.get(place) == Some(&from) => {
                job.stage = LockingStage::Queueing(place + 1);
                self.queue_next(turn, event);
            }
            _ => (),
        }
    }

    /// Another zone refuses its locks.
    pub(in crate::primary) fn on_denied(
        &mut self,
        turn: &mut Turn<'_>,
        event: EventId,
        attempt: u32,
        why: LockDenial,
    ) {
        if !self.jobs.needs_locks(event, attempt) {
            return;
        }
        if let (LockDenial::TooOld(late), Some(job)) = (why, self.jobs.by_event.get_mut(&event)) {
            // That zone does not know its motions of the event's moment any more: the next attempt takes a later one.
            job.not_before = job.not_before.max(late);
        }
        let pause = match why {
            LockDenial::Taken | LockDenial::TooOld(_) => Span::ZERO,
            LockDenial::Busy | LockDenial::Stale => PAUSE.0,
        };
        self.fail(turn, event, pause);
    }

    /// Releases all locks and tries again: at once after the first attempt, after longer and longer pauses later.
    pub(super) fn fail(&mut self, turn: &mut Turn<'_>, event: EventId, pause: Span) {
        let now = turn.cx.now();
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.failures += 1;
        let at_once = job.failures == 1 && pause == Span::ZERO;
        let longest = PAUSE.0.as_micros() << job.failures.min(8);
        // A random pause, so that two events that collided do not collide again.
        let wait = turn.cx.core.rng.below(longest.min(PAUSE.1.as_micros()));
        job.stage = LockingStage::Pausing(if at_once { now } else { now + Span::from_micros(wait) });
        self.release_locks(turn, event);
        if at_once {
            self.attempt(turn, event);
        }
    }

    /// Releases all locks of a job, in this zone and in the others.
    pub(super) fn release_locks(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let (attempt, own) = (job.attempt, turn.cx.zone());
        // Every zone is told, also one that has not answered: its grant may be on its way.
        for &zone in job.reach.zones.iter().filter(|&&it| it != own) {
            turn.cx.send_zone(zone, Lane::Sure, BetweenZones::Release { event, attempt });
        }
        self.unlock(turn, LockHolder::Event(event));
    }
}

fn lock_request(turn: &Turn<'_>, event: EventId, job: &Job, waits: bool) -> LockRequest {
    let (attempt, scope, time) = (job.attempt, job.reach.scope.clone(), job.time);
    LockRequest { event, attempt, scope, time, map: turn.cx.core.config.map.version().0, waits }
}

/// This zone's objects in the scope of a job, and the moment of the event.
fn find_own(turn: &mut Turn<'_>, job: &Job) -> (Time, Vec<ObjectSnapshot>) {
    let time = job.time.unwrap_or_else(|| turn.cx.world_now().max(job.not_before));
    (time, turn.audience.motions.gather(turn.cx.core, &job.reach.scope, job.reach.actor, time))
}

/// The names of the objects in snapshots.
pub(super) fn ids(objects: &[ObjectSnapshot]) -> Vec<ObjectId> {
    objects.iter().map(|it| it.object).collect()
}

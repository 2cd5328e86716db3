//! How an event gets its locks.
//!
//! First all zones are asked at once, and no request waits. If any zone refuses, all locks are released and the zones are
//! asked one after the other, the highest first: each puts the event into its queue. So no event waits for another that
//! waits for it.

use super::Coordination;
use super::jobs::{Job, PAUSE, Stage};
use crate::locks::{Claim, Granted, Holder};
use crate::mesh::{Denial, EventId, Known, Mesh, Wanted};
use crate::primary::turn::Turn;
use game::Scope;
use machine::{Lane, Span, Time};
use space::{ObjectId, ZoneId};

impl Coordination {
    /// Plans anew, and asks for locks.
    pub(super) fn attempt(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let now = turn.cx.world_now();
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let Some(reach) = turn.plan(&job.work, now) else { return self.drop_job(turn, event) };
        job.reach = reach;
        self.ask_for_locks(turn, event);
    }

    /// Asks for locks as planned.
    pub(super) fn ask_for_locks(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let (own, now) = (turn.cx.zone(), turn.cx.now());
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.attempt += 1;
        (job.time, job.asked, job.holds) = (None, now, None);
        job.granted.clear();
        let alone = job.reach.zones == [own];
        job.stage = if 0 < job.failures || alone { Stage::Queueing(0) } else { Stage::Trying };
        let peers = &turn.cx.core.peers;
        let missing = job.reach.zones.iter().copied().find(|&it| it != own && !peers.is_there(it, now));
        if let Some(zone) = missing {
            job.stage = Stage::Pausing(now + PAUSE.0);
            return turn.cx.seek(zone);
        }
        if job.stage == Stage::Trying {
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
        let (claim, now) = (Claim { scope, objects: ids(&found) }, turn.cx.world_now());
        if !self.locks.take(Holder::Event(event), claim, &turn.cx.core.state.objects, now) {
            return self.fail(turn, event, Span::ZERO);
        }
        job.got(own, turn.cx.now(), (time, found));
        let wanted = wanted(turn, event, job, false);
        for zone in zones.into_iter().filter(|&it| it != own) {
            turn.cx.tell_zone(zone, Lane::Sure, Mesh::Lock(wanted.clone()));
        }
    }

    /// Asks the next zone in line, or executes.
    fn queue_next(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let Stage::Queueing(place) = job.stage else { return };
        job.asked = turn.cx.now();
        let Some(&zone) = job.reach.zones.get(place) else { return self.run(turn, event) };
        if zone != turn.cx.zone() {
            let wanted = wanted(turn, event, job, true);
            return turn.cx.tell_zone(zone, Lane::Sure, Mesh::Lock(wanted));
        }
        let scope = job.reach.scope.clone();
        let objects = ids(&find_own(turn, job).1);
        let (claim, now) = (Claim { scope, objects }, turn.cx.world_now());
        match self.locks.request(Holder::Event(event), claim, &turn.cx.core.state.objects, now) {
            Granted::Now => self.job_granted(turn, event),
            Granted::Later => (),
            Granted::Busy => self.fail(turn, event, PAUSE.0),
        }
    }

    /// The own zone's locks are there.
    pub(super) fn job_granted(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let Stage::Queueing(place) = job.stage else { return };
        let (time, found) = find_own(turn, job);
        let claim = Claim { scope: Scope::Objects(Vec::new()), objects: ids(&found) };
        let (now, holder) = (turn.cx.world_now(), Holder::Event(event));
        // An object that walked in while it waited may be locked by another event.
        if self.locks.is_held(&claim, holder, &turn.cx.core.state.objects, now) {
            return self.fail(turn, event, PAUSE.0);
        }
        self.locks.add_objects(holder, &claim.objects);
        job.got(turn.cx.zone(), turn.cx.now(), (time, found));
        job.stage = Stage::Queueing(place + 1);
        self.queue_next(turn, event);
    }

    /// Another zone grants its locks, with what is there.
    pub(in crate::primary) fn on_granted(
        &mut self,
        turn: &mut Turn<'_>,
        from: ZoneId,
        (event, attempt): (EventId, u32),
        found: (Time, Vec<Known>),
    ) {
        if !self.jobs.wants(event, attempt) || !self.jobs.asks(event, from) {
            return self.release_there(&mut turn.cx, from, event, attempt);
        }
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        if !job.got(from, turn.cx.now(), found) {
            return;
        }
        match job.stage {
            Stage::Trying if job.granted.len() == job.reach.zones.len() => self.run(turn, event),
            Stage::Queueing(place) if job.reach.zones.get(place) == Some(&from) => {
                job.stage = Stage::Queueing(place + 1);
                self.queue_next(turn, event);
            }
            _ => (),
        }
    }

    /// Another zone does not grant its locks.
    pub(in crate::primary) fn on_denied(
        &mut self,
        turn: &mut Turn<'_>,
        event: EventId,
        attempt: u32,
        why: Denial,
    ) {
        if !self.jobs.wants(event, attempt) {
            return;
        }
        if let (Denial::TooOld(late), Some(job)) = (why, self.jobs.by_event.get_mut(&event)) {
            job.not_before = job.not_before.max(late);
        }
        let pause = match why {
            Denial::Taken | Denial::TooOld(_) => Span::ZERO,
            Denial::Busy | Denial::Stale => PAUSE.0,
        };
        self.fail(turn, event, pause);
    }

    /// Releases all locks and tries again: at once after the first try, later and later after that.
    pub(super) fn fail(&mut self, turn: &mut Turn<'_>, event: EventId, pause: Span) {
        let now = turn.cx.now();
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.failures += 1;
        let at_once = job.failures == 1 && pause == Span::ZERO;
        let longest = PAUSE.0.as_micros() << job.failures.min(8);
        let wait = turn.cx.core.rng.below(longest.min(PAUSE.1.as_micros()));
        job.stage = Stage::Pausing(if at_once { now } else { now + Span::from_micros(wait) });
        self.release_locks(turn, event);
        if at_once {
            self.attempt(turn, event);
        }
    }

    /// Releases all locks of a job, here and elsewhere.
    pub(super) fn release_locks(&mut self, turn: &mut Turn<'_>, event: EventId) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let (attempt, own) = (job.attempt, turn.cx.zone());
        for &zone in job.reach.zones.iter().filter(|&&it| it != own) {
            turn.cx.tell_zone(zone, Lane::Sure, Mesh::Release { event, attempt });
        }
        self.unlock(turn, Holder::Event(event));
    }
}

fn wanted(turn: &Turn<'_>, event: EventId, job: &Job, waits: bool) -> Wanted {
    let (attempt, scope, time) = (job.attempt, job.reach.scope.clone(), job.time);
    Wanted { event, attempt, scope, time, map: turn.cx.core.config.map.version().0, waits }
}

/// The own objects of a job, and the moment at which they are looked for.
fn find_own(turn: &mut Turn<'_>, job: &Job) -> (Time, Vec<Known>) {
    let time = job.time.unwrap_or_else(|| turn.cx.world_now().max(job.not_before));
    (time, turn.audience.motions.gather(turn.cx.core, &job.reach.scope, job.reach.actor, time))
}

/// The names of objects.
pub(super) fn ids(objects: &[Known]) -> Vec<ObjectId> {
    objects.iter().map(|it| it.object).collect()
}

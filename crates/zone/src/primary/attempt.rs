//! How an event gets its locks.
//!
//! First all zones are asked at once, and nobody waits. If any of them refuses, everything is let go and they are asked
//! one after the other, the highest zone first: each puts the event into its queue. So nobody waits for somebody who
//! waits for them.

use super::Primary;
use super::grants::ids;
use super::jobs::{Job, PAUSE, Stage};
use crate::core::{Core, Out};
use crate::locks::{Claim, Granted, Holder};
use crate::mesh::{Denial, EventId, Known, Mesh, Wanted};
use game::Scope;
use machine::{Lane, Span, Time};
use space::ZoneId;

impl Primary {
    /// Plans anew, and asks for locks.
    pub(super) fn attempt(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let now = core.world_now();
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let Some(reach) = self.plan(core, &job.work, now) else { return self.drop_job(core, event, out) };
        if let Some(job) = self.jobs.by_event.get_mut(&event) {
            job.reach = reach;
            self.ask_for_locks(core, event, out);
        }
    }

    /// Asks for locks as planned.
    pub(super) fn ask_for_locks(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.attempt += 1;
        (job.time, job.asked, job.holds) = (None, core.now, None);
        job.granted.clear();
        let alone = job.reach.zones == [self.zone];
        job.stage = if 0 < job.failures || alone { Stage::Queueing(0) } else { Stage::Trying };
        let missing =
            job.reach.zones.iter().copied().find(|&it| it != self.zone && !self.peers.is_there(it, core.now));
        if let Some(zone) = missing {
            job.stage = Stage::Pausing(core.now + PAUSE.0);
            return self.seek(core, zone, out);
        }
        if job.stage == Stage::Trying {
            self.try_all(core, event, out);
        } else {
            self.queue_next(core, event, out);
        }
    }

    fn wanted(&self, core: &Core, event: EventId, waits: bool) -> Option<Wanted> {
        let job = self.jobs.by_event.get(&event)?;
        let (attempt, scope, time) = (job.attempt, job.reach.scope.clone(), job.time);
        Some(Wanted { event, attempt, scope, time, map: core.config.map.version().0, waits })
    }

    fn try_all(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let (zones, scope) = (job.reach.zones.clone(), job.reach.scope.clone());
        let (time, found) = self.find_own(core, job);
        let (claim, now) = (Claim { scope, objects: ids(&found) }, core.world_now());
        if !self.locks.take(Holder::Event(event), claim, &core.state.objects, now) {
            return self.fail(core, event, Span::ZERO, out);
        }
        if let Some(job) = self.jobs.by_event.get_mut(&event) {
            job.got(self.zone, core.now, time, found);
        }
        let Some(wanted) = self.wanted(core, event, false) else { return };
        let own = self.zone;
        for zone in zones.into_iter().filter(|&it| it != own) {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Lock(wanted.clone()), out);
        }
    }

    /// The own objects of a job, and the moment at which they are looked for.
    fn find_own(&self, core: &mut Core, job: &Job) -> (Time, Vec<Known>) {
        let time = job.time.unwrap_or_else(|| core.world_now().max(job.not_before));
        (time, self.gather(core, &job.reach.scope, job.reach.actor, time))
    }

    /// Asks the next zone in line, or executes.
    fn queue_next(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        let Stage::Queueing(place) = job.stage else { return };
        job.asked = core.now;
        let Some(&zone) = job.reach.zones.get(place) else { return self.run(core, event, out) };
        if zone != self.zone {
            let Some(wanted) = self.wanted(core, event, true) else { return };
            return self.tell_zone(core, zone, Lane::Sure, Mesh::Lock(wanted), out);
        }
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let scope = job.reach.scope.clone();
        let objects = ids(&self.find_own(core, job).1);
        let (claim, now) = (Claim { scope, objects }, core.world_now());
        match self.locks.request(Holder::Event(event), claim, &core.state.objects, now) {
            Granted::Now => self.job_granted(core, event, out),
            Granted::Later => (),
            Granted::Busy => self.fail(core, event, PAUSE.0, out),
        }
    }

    /// The own zone's locks are there.
    pub(super) fn job_granted(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let Stage::Queueing(place) = job.stage else { return };
        let (time, found) = self.find_own(core, job);
        let claim = Claim { scope: Scope::Objects(Vec::new()), objects: ids(&found) };
        let (now, holder) = (core.world_now(), Holder::Event(event));
        // Whoever walked in while it waited may be somebody else's.
        if self.locks.is_held(&claim, holder, &core.state.objects, now) {
            return self.fail(core, event, PAUSE.0, out);
        }
        self.locks.add_objects(holder, &claim.objects);
        if let Some(job) = self.jobs.by_event.get_mut(&event) {
            job.got(self.zone, core.now, time, found);
            job.stage = Stage::Queueing(place + 1);
            self.queue_next(core, event, out);
        }
    }

    pub(super) fn on_granted(
        &mut self,
        core: &mut Core,
        from: ZoneId,
        (event, attempt): (EventId, u32),
        (time, objects): (Time, Vec<Known>),
        out: &mut Out,
    ) {
        if !self.jobs.wants(event, attempt) {
            return self.release_there(core, from, event, attempt, out);
        }
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        if !job.got(from, core.now, time, objects) {
            return;
        }
        match job.stage {
            Stage::Trying if job.granted.len() == job.reach.zones.len() => self.run(core, event, out),
            Stage::Queueing(place) if job.reach.zones.get(place) == Some(&from) => {
                job.stage = Stage::Queueing(place + 1);
                self.queue_next(core, event, out);
            }
            _ => (),
        }
    }

    pub(super) fn on_denied(
        &mut self,
        core: &mut Core,
        event: EventId,
        attempt: u32,
        why: Denial,
        out: &mut Out,
    ) {
        if !self.jobs.wants(event, attempt) {
            return;
        }
        let pause = match why {
            Denial::Taken => Span::ZERO,
            Denial::TooOld(late) => {
                if let Some(job) = self.jobs.by_event.get_mut(&event) {
                    job.not_before = job.not_before.max(late);
                }
                Span::ZERO
            }
            Denial::Busy | Denial::Stale => PAUSE.0,
        };
        self.fail(core, event, pause, out);
    }

    /// Lets everything go and tries again: at once after the first try, later and later after that.
    pub(super) fn fail(&mut self, core: &mut Core, event: EventId, pause: Span, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.failures += 1;
        let at_once = job.failures == 1 && pause == Span::ZERO;
        let longest = PAUSE.0.as_micros() << job.failures.min(8);
        let wait = core.rng.below(longest.min(PAUSE.1.as_micros()));
        job.stage = Stage::Pausing(if at_once { core.now } else { core.now + Span::from_micros(wait) });
        self.let_go(core, event, out);
        if at_once {
            self.attempt(core, event, out);
        }
    }

    /// Releases all locks of a job, here and elsewhere.
    pub(super) fn let_go(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let (attempt, zones) = (job.attempt, job.reach.zones.clone());
        let own = self.zone;
        for zone in zones.into_iter().filter(|&it| it != own) {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Release { event, attempt }, out);
        }
        self.unlock(core, Holder::Event(event), out);
    }
}

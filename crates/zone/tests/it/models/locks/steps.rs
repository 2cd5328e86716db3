//! The steps of the model.

use super::*;
use game::Scope;
use machine::Time;
use space::{Epoch, Motion, ObjectId, ZoneId};
use zone::{EventId, LockAnswer, LockClaim, LockHolder, Locks, MotionLookup};

/// A place without objects: all claims are by name.
struct NoPlaces;

impl MotionLookup for NoPlaces {
    fn motion(&self, _: ObjectId) -> Option<Motion> {
        None
    }
}

fn holder(event: LockEvent) -> LockHolder {
    LockHolder::Event(EventId { zone: ZoneId(1), epoch: Epoch(1), number: u64::from(event) })
}

fn claim(names: &[LockObject]) -> LockClaim {
    let id = |it: &LockObject| ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: u32::from(*it) + 1 };
    LockClaim { scope: Scope::objects(names.iter().map(id)), objects: Vec::new() }
}

impl LockTableState {
    fn locks(&self, model: &LockModel) -> Locks {
        let mut locks = Locks::default();
        for &(event, _) in &self.held {
            locks.hold(holder(event), claim(model.names(event)));
        }
        for &(event, _) in &self.waiting {
            locks.request(holder(event), claim(model.names(event)), &NoPlaces, Time::ZERO);
        }
        locks
    }

    fn take(&mut self, model: &LockModel, event: LockEvent, attempt: u8) -> bool {
        let claim = claim(model.names(event));
        let free = self.locks(model).try_hold(holder(event), claim, &NoPlaces, Time::ZERO)
            || model.flaw == Some(LockFlaw::LocksIgnored);
        if free {
            self.held.push((event, attempt));
        }
        free
    }

    fn request(&mut self, model: &LockModel, event: LockEvent, attempt: u8) -> bool {
        let claim = claim(model.names(event));
        let granted = self.locks(model).request(holder(event), claim, &NoPlaces, Time::ZERO);
        match granted {
            LockAnswer::Now => self.held.push((event, attempt)),
            LockAnswer::Later | LockAnswer::Busy => self.waiting.push((event, attempt)),
        }
        granted == LockAnswer::Now
    }

    /// Releases a lock, and returns the events whose turn has come.
    fn release(&mut self, model: &LockModel, event: LockEvent) -> Vec<(LockEvent, u8)> {
        let next = self.locks(model).release(holder(event), &NoPlaces, Time::ZERO);
        self.held.retain(|it| it.0 != event);
        self.waiting.retain(|it| it.0 != event);
        let (granted, still) = self.waiting.iter().partition(|it| next.contains(&holder(it.0)));
        self.waiting = still;
        self.held.extend(&granted);
        granted
    }

    fn blocks(&self, model: &LockModel, object: LockObject) -> bool {
        self.locks(model).blocks(&claim(&[object]), &NoPlaces, Time::ZERO)
    }

    fn holds(&self, event: LockEvent) -> Option<u8> {
        self.held.iter().find(|it| it.0 == event).map(|it| it.1)
    }

    fn awaits(&self, event: LockEvent) -> Option<u8> {
        self.waiting.iter().find(|it| it.0 == event).map(|it| it.1)
    }
}

impl LockState {
    pub(super) fn step(&mut self, model: &LockModel, action: LockAction) {
        match action {
            LockAction::Receive(msg) => self.receive(model, msg),
            LockAction::Again(event) => self.attempt(model, event),
            LockAction::Late(event) => self.late(model, event),
            LockAction::Ask(zone, event) => self.ask(model, zone, event),
            LockAction::Move => self.move_on(model),
            LockAction::Crash(zone) => self.crash(model, zone),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let ended = |it: &LockJob| matches!(it.stage, LockStage::Done | LockStage::Dead);
        self.jobs.iter().all(ended) && self.tables.iter().all(|it| *it == LockTableState::default())
    }

    fn job(&mut self, event: LockEvent) -> &mut LockJob {
        &mut self.jobs[usize::from(event)]
    }

    fn table(&mut self, zone: LockZone) -> &mut LockTableState {
        &mut self.tables[usize::from(zone)]
    }

    /// Mirrors `Jobs::wants` of the code.
    fn wants(&self, event: LockEvent, attempt: u8) -> bool {
        let job = &self.jobs[usize::from(event)];
        job.attempt == attempt && matches!(job.stage, LockStage::Trying | LockStage::Queueing(_))
    }

    fn send(&mut self, from: LockZone, to: LockZone, event: LockEvent, attempt: u8, says: LockMsg) {
        self.messages.push(LockEnvelope { from, to, event, attempt, says });
    }

    // The coordinator.

    /// `reach`: with the mover's zone as it is known now.
    fn zones(&self, model: &LockModel, event: LockEvent) -> Vec<LockZone> {
        let place = |it: &LockObject| if *it == MOVER { self.place } else { *it };
        let coordinator = model.coordinator(event);
        let mut zones: Vec<_> = model.names(event).iter().map(place).chain([coordinator]).collect();
        zones.sort_unstable_by(|one, two| two.cmp(one));
        zones.dedup();
        if model.flaw == Some(LockFlaw::AnyOrder) {
            zones.sort_by_key(|it| *it != coordinator);
        }
        zones
    }

    /// Mirrors `attempt` of the code.
    fn attempt(&mut self, model: &LockModel, event: LockEvent) {
        if self.job(event).stage != LockStage::Pausing {
            return;
        }
        let zones = self.zones(model, event);
        let job = self.job(event);
        let is_try = job.failures == 0 && 1 < zones.len();
        (job.attempt, job.zones) = (job.attempt + 1, zones.clone());
        job.granted.clear();
        job.saw = false;
        job.stage = if is_try { LockStage::Trying } else { LockStage::Queueing(0) };
        if !is_try {
            return self.queue_next(model, event);
        }
        let (coordinator, attempt) = (model.coordinator(event), 1);
        if !self.table(coordinator).take(model, event, attempt) {
            return self.fail(model, event, true);
        }
        self.add_grant(model, event, coordinator, self.place == coordinator);
        for zone in zones.into_iter().filter(|&it| it != coordinator) {
            self.send(coordinator, zone, event, attempt, LockMsg::Lock { waits: false });
        }
    }

    fn add_grant(&mut self, model: &LockModel, event: LockEvent, zone: LockZone, saw: bool) {
        let saw = saw && model.names(event).contains(&MOVER);
        let job = self.job(event);
        job.granted.insert(zone);
        job.saw |= saw;
    }

    /// Mirrors `queue_next` of the code.
    fn queue_next(&mut self, model: &LockModel, event: LockEvent) {
        let coordinator = model.coordinator(event);
        let job = self.job(event);
        let attempt = job.attempt;
        while let LockStage::Queueing(place) = job.stage
            && job.zones.get(place).is_some_and(|it| job.granted.contains(it))
        {
            job.stage = LockStage::Queueing(place + 1); // Kept from the try by `KeepTried` only.
        }
        let LockStage::Queueing(place) = job.stage else { return };
        let Some(&zone) = job.zones.get(place) else { return self.run(model, event) };
        if zone != coordinator {
            return self.send(coordinator, zone, event, attempt, LockMsg::Lock { waits: true });
        }
        if self.table(coordinator).request(model, event, attempt) {
            self.job_granted(model, event);
        }
    }

    /// Mirrors `job_granted` of the code.
    fn job_granted(&mut self, model: &LockModel, event: LockEvent) {
        let LockStage::Queueing(place) = self.job(event).stage else { return };
        self.job(event).stage = LockStage::Queueing(place + 1);
        let coordinator = model.coordinator(event);
        self.add_grant(model, event, coordinator, self.place == coordinator);
        self.queue_next(model, event);
    }

    /// `fail`: the first time it goes on at once.
    fn fail(&mut self, model: &LockModel, event: LockEvent, at_once: bool) {
        let keeps = model.flaw == Some(LockFlaw::KeepTried) && self.job(event).stage == LockStage::Trying;
        let job = self.job(event);
        job.failures += 1;
        if keeps {
            job.stage = LockStage::Queueing(0);
            return self.queue_next(model, event);
        }
        job.stage = LockStage::Pausing;
        let at_once = at_once && job.failures == 1;
        self.release_locks(model, event);
        if at_once {
            self.attempt(model, event);
        }
    }

    /// Mirrors `release_locks` of the code.
    fn release_locks(&mut self, model: &LockModel, event: LockEvent) {
        let coordinator = model.coordinator(event);
        let LockJob { attempt, zones, .. } = self.job(event).clone();
        for zone in zones.into_iter().filter(|&it| it != coordinator) {
            self.send(coordinator, zone, event, attempt, LockMsg::Release);
        }
        self.unlock(model, coordinator, event);
    }

    /// `run`, and at once all zones know of it: the decision goes by post.
    fn run(&mut self, model: &LockModel, event: LockEvent) {
        let saw = self.job(event).saw;
        let misses = !saw && model.names(event).contains(&MOVER);
        match model.flaw {
            Some(LockFlaw::FollowForward) if misses => return self.follow(model, event),
            Some(LockFlaw::LeaveOut) => self.missed |= misses,
            _ if misses => return self.fail(model, event, false),
            _ => (),
        }
        self.job(event).stage = LockStage::Done;
        let is_locked = self.tables[usize::from(self.place)].holds(event).is_some();
        self.unlocked |= saw && !is_locked;
        self.release_locks(model, event);
    }

    /// The planted mistake: asks the mover's new zone, and keeps all locks.
    fn follow(&mut self, model: &LockModel, event: LockEvent) {
        let there = self.place;
        let job = self.job(event);
        if job.zones.contains(&there) {
            return self.fail(model, event, false);
        }
        job.zones.push(there);
        job.stage = LockStage::Queueing(job.zones.len() - 1);
        self.queue_next(model, event);
    }

    /// A request that no zone knows of.
    fn late(&mut self, model: &LockModel, event: LockEvent) {
        let LockJob { stage, attempt, zones, granted, .. } = self.job(event).clone();
        let asked: Vec<LockZone> = match stage {
            LockStage::Trying => zones.into_iter().filter(|it| !granted.contains(it)).collect(),
            LockStage::Queueing(place) => zones.get(place).copied().into_iter().collect(),
            _ => return,
        };
        let coordinator = model.coordinator(event);
        let lost = |&zone: &LockZone| {
            let between =
                |it: &LockEnvelope| [(coordinator, zone), (zone, coordinator)].contains(&(it.from, it.to));
            let under_way = self.messages.iter().any(|it| it.event == event && between(it));
            !under_way && self.tables[usize::from(zone)].awaits(event) != Some(attempt)
        };
        if asked.iter().any(lost) {
            self.fail(model, event, false);
        }
    }

    // The grantors.

    fn receive(&mut self, model: &LockModel, msg: LockEnvelope) {
        let Some(place) = self.messages.iter().position(|it| *it == msg) else { return };
        self.messages.remove(place);
        let LockEnvelope { from, to, event, attempt, says } = msg;
        match says {
            LockMsg::Lock { waits } => self.on_lock(model, to, event, attempt, waits),
            LockMsg::Release => self.on_release(model, to, event, attempt),
            LockMsg::Granted { .. } if !self.wants(event, attempt) => {
                self.send(to, from, event, attempt, LockMsg::Release);
            }
            LockMsg::Taken if !self.wants(event, attempt) => (),
            LockMsg::Granted { saw } => self.on_granted(model, from, event, saw),
            LockMsg::Taken => self.fail(model, event, true),
        }
    }

    fn on_granted(&mut self, model: &LockModel, from: LockZone, event: LockEvent, saw: bool) {
        if self.job(event).granted.contains(&from) {
            return;
        }
        self.add_grant(model, event, from, saw);
        let job = self.job(event);
        match job.stage {
            LockStage::Trying if job.granted.len() == job.zones.len() => self.run(model, event),
            LockStage::Queueing(place) if job.zones.get(place) == Some(&from) => {
                job.stage = LockStage::Queueing(place + 1);
                self.queue_next(model, event);
            }
            _ => (),
        }
    }

    /// Mirrors `on_lock` of the code.
    fn on_lock(&mut self, model: &LockModel, zone: LockZone, event: LockEvent, attempt: u8, waits: bool) {
        let coordinator = model.coordinator(event);
        if self.table(zone).awaits(event).is_some() {
            return;
        }
        match self.table(zone).holds(event) {
            Some(it) if it < attempt => self.unlock(model, zone, event),
            Some(_) => return,
            None => (),
        }
        let says = LockMsg::Granted { saw: self.place == zone };
        if waits && self.table(zone).request(model, event, attempt) {
            self.send(zone, coordinator, event, attempt, says);
        } else if !waits {
            let taken = self.table(zone).take(model, event, attempt);
            self.send(zone, coordinator, event, attempt, if taken { says } else { LockMsg::Taken });
        }
    }

    /// Mirrors `on_release` of the code.
    fn on_release(&mut self, model: &LockModel, zone: LockZone, event: LockEvent, attempt: u8) {
        let table = self.table(zone);
        if table.awaits(event).or(table.holds(event)).is_some_and(|it| it <= attempt) {
            self.unlock(model, zone, event);
        }
    }

    /// Mirrors `unlock` of the code.
    fn unlock(&mut self, model: &LockModel, zone: LockZone, event: LockEvent) {
        let saw = self.place == zone;
        for (next, attempt) in self.table(zone).release(model, event) {
            let coordinator = model.coordinator(next);
            if coordinator == zone {
                self.job_granted(model, next);
            } else {
                self.send(zone, coordinator, next, attempt, LockMsg::Granted { saw });
            }
        }
    }

    /// `maintain_grants` and `on_ask`, in one step: earlier messages arrive earlier.
    fn ask(&mut self, model: &LockModel, zone: LockZone, event: LockEvent) {
        let coordinator = model.coordinator(event);
        let under_way = |it: &LockEnvelope| {
            (it.from, it.to) == (zone, coordinator) || (it.from, it.to) == (coordinator, zone)
        };
        if model.flaw == Some(LockFlaw::NoQuestions)
            || coordinator == zone
            || self.messages.iter().any(under_way)
        {
            return;
        }
        if let Some(attempt) = self.table(zone).holds(event)
            && !self.wants(event, attempt)
        {
            self.unlock(model, zone, event);
        }
    }

    // Other steps.

    /// `offer_strayed` and `take_offer`, in one step: not out of a lock, nor into one.
    fn move_on(&mut self, model: &LockModel) {
        let Some(&to) = model.route.get(self.moved + 1) else { return };
        let is_locked = [self.place, to].map(|it| self.table(it).blocks(model, MOVER)).contains(&true);
        if is_locked && model.flaw != Some(LockFlaw::MoveLocked) {
            return;
        }
        (self.place, self.moved) = (to, self.moved + 1);
    }

    /// Grants are in the log; waiting events, and the zone's own ones, are not. All links break.
    fn crash(&mut self, model: &LockModel, zone: LockZone) {
        self.crashes -= 1;
        self.messages.retain(|it| it.from != zone && it.to != zone);
        self.table(zone).waiting.clear();
        self.table(zone).held.retain(|it| model.coordinator(it.0) != zone);
        for event in 0..model.scenario.len() as LockEvent {
            if model.coordinator(event) == zone && self.job(event).stage != LockStage::Done {
                *self.job(event) = LockJob {
                    stage: LockStage::Dead,
                    attempt: 0,
                    failures: 0,
                    zones: Vec::new(),
                    granted: BTreeSet::new(),
                    saw: false,
                };
            }
        }
    }
}

//! What happens in a step.

use super::*;
use game::Scope;
use machine::Time;
use space::{Epoch, Motion, ObjectId, ZoneId};
use zone::{Claim, EventId, Granted, Holder, Locks, Places};

/// Nobody is anywhere: all claims are names.
struct Nowhere;

impl Places for Nowhere {
    fn motion(&self, _: ObjectId) -> Option<Motion> {
        None
    }
}

fn holder(event: Event) -> Holder {
    Holder::Event(EventId { zone: ZoneId(1), epoch: Epoch(1), number: u64::from(event) })
}

fn claim(names: &[Object]) -> Claim {
    let id = |it: &Object| ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: u32::from(*it) + 1 };
    Claim { scope: Scope::objects(names.iter().map(id)), objects: Vec::new() }
}

impl Table {
    fn locks(&self, model: &Locking) -> Locks {
        let mut locks = Locks::default();
        for &(event, _) in &self.held {
            locks.hold(holder(event), claim(model.names(event)));
        }
        for &(event, _) in &self.waiting {
            locks.request(holder(event), claim(model.names(event)), &Nowhere, Time::ZERO);
        }
        locks
    }

    fn take(&mut self, model: &Locking, event: Event, attempt: u8) -> bool {
        let claim = claim(model.names(event));
        let free = self.locks(model).take(holder(event), claim, &Nowhere, Time::ZERO)
            || model.flaw == Some(Flaw::LocksIgnored);
        if free {
            self.held.push((event, attempt));
        }
        free
    }

    fn request(&mut self, model: &Locking, event: Event, attempt: u8) -> bool {
        let claim = claim(model.names(event));
        let granted = self.locks(model).request(holder(event), claim, &Nowhere, Time::ZERO);
        match granted {
            Granted::Now => self.held.push((event, attempt)),
            Granted::Later | Granted::Busy => self.waiting.push((event, attempt)),
        }
        granted == Granted::Now
    }

    /// Lets go, and says whose turn has come.
    fn release(&mut self, model: &Locking, event: Event) -> Vec<(Event, u8)> {
        let next = self.locks(model).release(holder(event), &Nowhere, Time::ZERO);
        self.held.retain(|it| it.0 != event);
        self.waiting.retain(|it| it.0 != event);
        let (granted, still) = self.waiting.iter().partition(|it| next.contains(&holder(it.0)));
        self.waiting = still;
        self.held.extend(&granted);
        granted
    }

    fn blocks(&self, model: &Locking, object: Object) -> bool {
        self.locks(model).blocks(&claim(&[object]), &Nowhere, Time::ZERO)
    }

    fn holds(&self, event: Event) -> Option<u8> {
        self.held.iter().find(|it| it.0 == event).map(|it| it.1)
    }

    fn awaits(&self, event: Event) -> Option<u8> {
        self.waiting.iter().find(|it| it.0 == event).map(|it| it.1)
    }
}

impl State {
    pub(super) fn step(&mut self, model: &Locking, action: Action) {
        match action {
            Action::Hear(msg) => self.hear(model, msg),
            Action::Again(event) => self.attempt(model, event),
            Action::Late(event) => self.late(model, event),
            Action::Ask(zone, event) => self.ask(model, zone, event),
            Action::Move => self.move_on(model),
            Action::Crash(zone) => self.crash(model, zone),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let ended = |it: &Job| matches!(it.stage, Stage::Done | Stage::Dead);
        self.jobs.iter().all(ended) && self.tables.iter().all(|it| *it == Table::default())
    }

    fn job(&mut self, event: Event) -> &mut Job {
        &mut self.jobs[usize::from(event)]
    }

    fn table(&mut self, zone: Zone) -> &mut Table {
        &mut self.tables[usize::from(zone)]
    }

    /// `Jobs::wants`.
    fn wants(&self, event: Event, attempt: u8) -> bool {
        let job = &self.jobs[usize::from(event)];
        job.attempt == attempt && matches!(job.stage, Stage::Trying | Stage::Queueing(_))
    }

    fn say(&mut self, from: Zone, to: Zone, event: Event, attempt: u8, says: Says) {
        self.messages.push(Msg { from, to, event, attempt, says });
    }

    // The zone that decides.

    /// `reach`: with what is known now.
    fn zones(&self, model: &Locking, event: Event) -> Vec<Zone> {
        let place = |it: &Object| if *it == MOVER { self.place } else { *it };
        let home = model.home(event);
        let mut zones: Vec<_> = model.names(event).iter().map(place).chain([home]).collect();
        zones.sort_unstable_by(|one, two| two.cmp(one));
        zones.dedup();
        if model.flaw == Some(Flaw::AnyOrder) {
            zones.sort_by_key(|it| *it != home);
        }
        zones
    }

    /// `attempt`.
    fn attempt(&mut self, model: &Locking, event: Event) {
        if self.job(event).stage != Stage::Pausing {
            return;
        }
        let zones = self.zones(model, event);
        let job = self.job(event);
        let is_try = job.failures == 0 && 1 < zones.len();
        (job.attempt, job.zones) = (job.attempt + 1, zones.clone());
        job.granted.clear();
        job.saw = false;
        job.stage = if is_try { Stage::Trying } else { Stage::Queueing(0) };
        if !is_try {
            return self.queue_next(model, event);
        }
        let (home, attempt) = (model.home(event), 1);
        if !self.table(home).take(model, event, attempt) {
            return self.fail(model, event, true);
        }
        self.got(model, event, home, self.place == home);
        for zone in zones.into_iter().filter(|&it| it != home) {
            self.say(home, zone, event, attempt, Says::Lock { waits: false });
        }
    }

    fn got(&mut self, model: &Locking, event: Event, zone: Zone, saw: bool) {
        let saw = saw && model.names(event).contains(&MOVER);
        let job = self.job(event);
        job.granted.insert(zone);
        job.saw |= saw;
    }

    /// `queue_next`.
    fn queue_next(&mut self, model: &Locking, event: Event) {
        let home = model.home(event);
        let job = self.job(event);
        let attempt = job.attempt;
        while let Stage::Queueing(place) = job.stage
            && job.zones.get(place).is_some_and(|it| job.granted.contains(it))
        {
            job.stage = Stage::Queueing(place + 1); // Kept from the try; not so if all rules are kept.
        }
        let Stage::Queueing(place) = job.stage else { return };
        let Some(&zone) = job.zones.get(place) else { return self.run(model, event) };
        if zone != home {
            return self.say(home, zone, event, attempt, Says::Lock { waits: true });
        }
        if self.table(home).request(model, event, attempt) {
            self.job_granted(model, event);
        }
    }

    /// `job_granted`.
    fn job_granted(&mut self, model: &Locking, event: Event) {
        let Stage::Queueing(place) = self.job(event).stage else { return };
        self.job(event).stage = Stage::Queueing(place + 1);
        let home = model.home(event);
        self.got(model, event, home, self.place == home);
        self.queue_next(model, event);
    }

    /// `fail`: the first time it goes on at once.
    fn fail(&mut self, model: &Locking, event: Event, at_once: bool) {
        let keeps = model.flaw == Some(Flaw::KeepTried) && self.job(event).stage == Stage::Trying;
        let job = self.job(event);
        job.failures += 1;
        if keeps {
            job.stage = Stage::Queueing(0);
            return self.queue_next(model, event);
        }
        job.stage = Stage::Pausing;
        let at_once = at_once && job.failures == 1;
        self.let_go(model, event);
        if at_once {
            self.attempt(model, event);
        }
    }

    /// `let_go`.
    fn let_go(&mut self, model: &Locking, event: Event) {
        let home = model.home(event);
        let Job { attempt, zones, .. } = self.job(event).clone();
        for zone in zones.into_iter().filter(|&it| it != home) {
            self.say(home, zone, event, attempt, Says::Release);
        }
        self.unlock(model, home, event);
    }

    /// `run`, and at once everybody hears of it: the decision goes by post.
    fn run(&mut self, model: &Locking, event: Event) {
        let saw = self.job(event).saw;
        let misses = !saw && model.names(event).contains(&MOVER);
        match model.flaw {
            Some(Flaw::FollowForward) if misses => return self.follow(model, event),
            Some(Flaw::LeaveOut) => self.missed |= misses,
            _ if misses => return self.fail(model, event, false),
            _ => (),
        }
        self.job(event).stage = Stage::Done;
        let is_locked = self.tables[usize::from(self.place)].holds(event).is_some();
        self.unlocked |= saw && !is_locked;
        self.let_go(model, event);
    }

    /// The mistake: asks where somebody went, with all that is held.
    fn follow(&mut self, model: &Locking, event: Event) {
        let there = self.place;
        let job = self.job(event);
        if job.zones.contains(&there) {
            return self.fail(model, event, false);
        }
        job.zones.push(there);
        job.stage = Stage::Queueing(job.zones.len() - 1);
        self.queue_next(model, event);
    }

    /// A request that nobody knows of.
    fn late(&mut self, model: &Locking, event: Event) {
        let Job { stage, attempt, zones, granted, .. } = self.job(event).clone();
        let asked: Vec<Zone> = match stage {
            Stage::Trying => zones.into_iter().filter(|it| !granted.contains(it)).collect(),
            Stage::Queueing(place) => zones.get(place).copied().into_iter().collect(),
            _ => return,
        };
        let home = model.home(event);
        let lost = |&zone: &Zone| {
            let between = |it: &Msg| [(home, zone), (zone, home)].contains(&(it.from, it.to));
            let under_way = self.messages.iter().any(|it| it.event == event && between(it));
            !under_way && self.tables[usize::from(zone)].awaits(event) != Some(attempt)
        };
        if asked.iter().any(lost) {
            self.fail(model, event, false);
        }
    }

    // The zones that grant.

    fn hear(&mut self, model: &Locking, msg: Msg) {
        let Some(place) = self.messages.iter().position(|it| *it == msg) else { return };
        self.messages.remove(place);
        let Msg { from, to, event, attempt, says } = msg;
        match says {
            Says::Lock { waits } => self.on_lock(model, to, event, attempt, waits),
            Says::Release => self.on_release(model, to, event, attempt),
            Says::Granted { .. } if !self.wants(event, attempt) => {
                self.say(to, from, event, attempt, Says::Release);
            }
            Says::Taken if !self.wants(event, attempt) => (),
            Says::Granted { saw } => self.on_granted(model, from, event, saw),
            Says::Taken => self.fail(model, event, true),
        }
    }

    fn on_granted(&mut self, model: &Locking, from: Zone, event: Event, saw: bool) {
        if self.job(event).granted.contains(&from) {
            return;
        }
        self.got(model, event, from, saw);
        let job = self.job(event);
        match job.stage {
            Stage::Trying if job.granted.len() == job.zones.len() => self.run(model, event),
            Stage::Queueing(place) if job.zones.get(place) == Some(&from) => {
                job.stage = Stage::Queueing(place + 1);
                self.queue_next(model, event);
            }
            _ => (),
        }
    }

    /// `on_lock`.
    fn on_lock(&mut self, model: &Locking, zone: Zone, event: Event, attempt: u8, waits: bool) {
        let home = model.home(event);
        if self.table(zone).awaits(event).is_some() {
            return;
        }
        match self.table(zone).holds(event) {
            Some(it) if it < attempt => self.unlock(model, zone, event),
            Some(_) => return,
            None => (),
        }
        let says = Says::Granted { saw: self.place == zone };
        if waits && self.table(zone).request(model, event, attempt) {
            self.say(zone, home, event, attempt, says);
        } else if !waits {
            let taken = self.table(zone).take(model, event, attempt);
            self.say(zone, home, event, attempt, if taken { says } else { Says::Taken });
        }
    }

    /// `on_release`.
    fn on_release(&mut self, model: &Locking, zone: Zone, event: Event, attempt: u8) {
        let table = self.table(zone);
        if table.awaits(event).or(table.holds(event)).is_some_and(|it| it <= attempt) {
            self.unlock(model, zone, event);
        }
    }

    /// `unlock`.
    fn unlock(&mut self, model: &Locking, zone: Zone, event: Event) {
        let saw = self.place == zone;
        for (next, attempt) in self.table(zone).release(model, event) {
            let home = model.home(next);
            if home == zone {
                self.job_granted(model, next);
            } else {
                self.say(zone, home, next, attempt, Says::Granted { saw });
            }
        }
    }

    /// `look_after_grants` and `on_ask`, in one step: what was said before is heard before.
    fn ask(&mut self, model: &Locking, zone: Zone, event: Event) {
        let home = model.home(event);
        let under_way = |it: &Msg| (it.from, it.to) == (zone, home) || (it.from, it.to) == (home, zone);
        if model.flaw == Some(Flaw::NobodyAsks) || home == zone || self.messages.iter().any(under_way) {
            return;
        }
        if let Some(attempt) = self.table(zone).holds(event)
            && !self.wants(event, attempt)
        {
            self.unlock(model, zone, event);
        }
    }

    // What else happens.

    /// `offer_strayed` and `take_offer`, in one step: not out of a lock, nor into one.
    fn move_on(&mut self, model: &Locking) {
        let Some(&to) = model.way.get(self.moved + 1) else { return };
        let is_locked = [self.place, to].map(|it| self.table(it).blocks(model, MOVER)).contains(&true);
        if is_locked && model.flaw != Some(Flaw::MoveLocked) {
            return;
        }
        (self.place, self.moved) = (to, self.moved + 1);
    }

    /// Grants are in the log; who waits, and what the zone itself wanted, is not. All links break.
    fn crash(&mut self, model: &Locking, zone: Zone) {
        self.crashes -= 1;
        self.messages.retain(|it| it.from != zone && it.to != zone);
        self.table(zone).waiting.clear();
        self.table(zone).held.retain(|it| model.home(it.0) != zone);
        for event in 0..model.plot.len() as Event {
            if model.home(event) == zone && self.job(event).stage != Stage::Done {
                *self.job(event) = Job {
                    stage: Stage::Dead,
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

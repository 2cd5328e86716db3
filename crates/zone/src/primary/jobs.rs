//! What is to be done, and events that cannot be done at once: those that reach into other zones, and those that meet
//! something locked.
//!
//! First all zones are asked at once, and nobody waits. If any of them refuses, everything is let go and they are asked
//! one after the other, the highest zone first: each puts the event into its queue. So nobody waits for somebody who
//! waits for them. With all locks the event is executed once; its record is the decision, and posts it to the others.

use super::Primary;
use super::grants::wider;
use super::players::Seen;
use super::write::{Executed, Failed, Joint};
use crate::config::{HOLD_MAX, JOB_MAX, STALE_AFTER, STRAY_MAX, WAIT_MAX};
use crate::core::{Core, Out};
use crate::locks::{Claim, Granted, Holder};
use crate::mesh::{Denial, EventId, Known, Mesh, Wanted};
use crate::plant::Plant;
use crate::record::Stamp;
use crate::state::State;
use crate::table::Table;
use game::{Addressee, Call, Objects, PlayerId, Refused, Scope};
use machine::{Address, Lane, Span, Time};
use serde_bytes::ByteBuf;
use space::{Distance, Motion, ObjectId, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The pause before another try, at first, and at most.
const PAUSE: (Span, Span) = (Span::from_millis(20), Span::from_millis(500));

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A player's action.
    Act { player: PlayerId, number: u64, action: ByteBuf },
    /// A letter that is here.
    Letter(Stamp),
    /// A timer that is due.
    Timer(Time, Stamp),
    /// An object thinks.
    Think(ObjectId),
    /// A player comes, from this address, with a session, a name, and the last record they heard of.
    Join { player: PlayerId, from: Address, session: u64, name: String, seen: Seen },
    /// A player is gone.
    Leave(PlayerId),
    /// An object was too often refused by another zone: it waits in line.
    Pass(ObjectId),
}

/// Of what there is only one thing done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Player(PlayerId),
    Letter(Stamp),
    Timer(Stamp),
    Thinker(ObjectId),
    Passage(ObjectId),
}

/// The call that a work stands for, with everything in it.
pub(super) enum Asked {
    Act(ObjectId, ByteBuf),
    Letter(Addressee, ByteBuf),
    Think(ObjectId),
    Join(PlayerId, String),
    Leave(ObjectId),
}

impl Asked {
    pub(super) fn call(&self) -> Call<'_> {
        match self {
            Self::Act(actor, action) => Call::Act { actor: *actor, action },
            Self::Letter(to, letter) => Call::Letter { to: *to, letter },
            Self::Think(object) => Call::Think { object: *object },
            Self::Join(player, name) => Call::Join { player: *player, name },
            Self::Leave(avatar) => Call::Leave { avatar: *avatar },
        }
    }
}

impl Work {
    pub(super) const fn subject(&self) -> Subject {
        match self {
            Self::Act { player, .. } | Self::Join { player, .. } | Self::Leave(player) => {
                Subject::Player(*player)
            }
            Self::Letter(stamp) => Subject::Letter(*stamp),
            Self::Timer(_, stamp) => Subject::Timer(*stamp),
            Self::Think(object) => Subject::Thinker(*object),
            Self::Pass(object) => Subject::Passage(*object),
        }
    }

    /// What to ask the game; `None` if there is nothing to be done any more, or nothing to ask.
    pub(super) fn asked(&self, state: &State) -> Option<Asked> {
        let here = |object: ObjectId| state.objects.get(object).map(|_| object);
        let avatar = |player: &PlayerId| state.players.get(player)?.avatar.and_then(here);
        Some(match self {
            Self::Act { player, number, action } => {
                let row = state.players.get(player).filter(|it| it.cursor + 1 == *number)?;
                Asked::Act(row.avatar?, action.clone())
            }
            Self::Letter(stamp) => {
                let it = state.letters.get(stamp)?;
                Asked::Letter(it.to, it.letter.clone())
            }
            Self::Timer(at, stamp) => {
                let it = state.timers.get(&(*at, *stamp))?;
                Asked::Letter(Addressee::Object(it.object), it.letter.clone())
            }
            Self::Think(object) => Asked::Think(here(*object)?),
            Self::Join { player, name, session, .. } => {
                let newer = state.players.get(player).is_some_and(|it| {
                    *session < it.session || it.avatar.is_some() || it.present && it.session == *session
                });
                if newer {
                    return None;
                }
                Asked::Join(*player, name.clone())
            }
            Self::Leave(player) => {
                state.players.get(player).filter(|it| it.present)?;
                Asked::Leave(avatar(player)?)
            }
            Self::Pass(_) => return None,
        })
    }
}

/// How far an event reaches.
pub(super) struct Reach {
    pub(super) scope: Scope,
    pub(super) actor: Option<ObjectId>,
    /// The zones that take part, the highest first.
    pub(super) zones: Vec<ZoneId>,
    /// What the game said against it. The actor must be free even to be refused something.
    pub(super) refused: Option<Refused>,
}

impl Reach {
    pub(super) fn claim(&self) -> Claim {
        Claim { scope: self.scope.clone(), objects: self.actor.into_iter().collect() }
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Everybody was asked at once.
    Trying,
    /// The highest zones were asked, up to this place in the list.
    Queueing(usize),
    /// It tries again at this moment.
    Pausing(Time),
}

/// An event on its way to its locks.
struct Job {
    work: Work,
    attempt: u32,
    reach: Reach,
    /// The event's moment: when it was wanted, or in a queue when it got its first locks.
    time: Option<Time>,
    /// The earliest moment that everybody still knows.
    not_before: Time,
    stage: Stage,
    granted: BTreeMap<ZoneId, Vec<Known>>,
    /// When it was wanted, when somebody was last asked, and since when it holds locks.
    since: Time,
    asked: Time,
    holds: Option<Time>,
    failures: u32,
}

/// Everything that is being done and not done yet.
#[derive(Default)]
pub(super) struct Jobs {
    by_event: BTreeMap<EventId, Job>,
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

/// A zone's own objects and the ghosts of its neighbours': nothing is locked here, so this is for planning only.
pub(super) struct InSight<'a>(pub(super) &'a Table, pub(super) &'a Table);

impl Objects for InSight<'_> {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.0.find(object).or_else(|| self.1.find(object))
    }

    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        self.0.visit(centre, radius, now, visit);
        self.1.visit(centre, radius, now, visit);
    }
}

/// Whether an action may be answered without a lock: not while its player is on the way to another zone.
fn may_be_refused(state: &State, work: &Work) -> bool {
    let Work::Act { player, number, .. } = work else { return false };
    let Some(row) = state.players.get(player).filter(|it| it.cursor + 1 == *number) else { return false };
    row.avatar.is_some_and(|it| !state.abroad.offered.contains_key(&it))
}

impl Primary {
    /// Does something, at once if nothing is in the way.
    pub(super) fn perform(&mut self, core: &mut Core, work: Work, out: &mut Out) {
        self.perform_since(core, work, core.now, out);
    }

    /// Does something that was wanted a while ago.
    pub(super) fn perform_since(&mut self, core: &mut Core, work: Work, since: Time, out: &mut Out) {
        let Some(asked) = work.asked(&core.state) else { return self.finish_void(core, &work, out) };
        let now = core.world_now();
        core.state.objects.refresh(now);
        let reach = self.reach(core, asked.call(), now);
        let free = self.locks.is_empty() || !self.locks.blocks(&reach.claim(), &core.state.objects, now);
        if reach.zones == [self.zone] && free {
            let executed = match reach.refused {
                Some(why) => Err(Failed::refused(why)),
                None => self.execute(core, asked.call(), reach.scope),
            };
            return self.finish(core, &work, executed, out);
        }
        if let Work::Think(object) = work
            && self.think_freely(core, object, &reach.scope, out)
        {
            return;
        }
        // Who has waited for so long, and would have to wait on, is told so: a backlog must not grow older and older.
        if STALE_AFTER < core.now.since(since) && may_be_refused(&core.state, &work) {
            return self.finish(core, &work, Err(Failed::busy()), out);
        }
        self.start_job(core, work, reach, out);
    }

    /// How far a work reaches now; `None` if there is nothing to be done any more.
    fn plan(&self, core: &Core, work: &Work, now: Time) -> Option<Reach> {
        match work {
            Work::Pass(object) => self.reach_of_passage(core, *object, now),
            _ => Some(self.reach(core, work.asked(&core.state)?.call(), now)),
        }
    }

    /// How far a call reaches, and into which zones.
    fn reach(&self, core: &Core, call: Call<'_>, now: Time) -> Reach {
        let view = InSight(&core.state.objects, self.borders.ghosts());
        let (scope, refused) = match core.config.rules.scope(&view, now, call) {
            Ok(scope) => (scope, None),
            Err(why) => (Scope::Objects(Vec::new()), Some(why)),
        };
        let mut zones = vec![self.zone];
        if core.config.is_meshed() {
            match &scope {
                Scope::Area { centre, radius } => {
                    core.config.map.zones_touching(*centre, wider(*radius, STRAY_MAX), &mut zones);
                    zones.push(self.zone);
                }
                Scope::Objects(objects) => {
                    zones.extend(objects.iter().filter_map(|&it| self.owner(core, it)));
                }
            }
            zones.sort_unstable_by(|one, two| two.cmp(one));
            zones.dedup();
        }
        Reach { scope, actor: call.actor(), zones, refused }
    }

    /// Whose an object is, as far as is known here.
    pub(super) fn owner(&self, core: &Core, object: ObjectId) -> Option<ZoneId> {
        if core.state.objects.get(object).is_some() {
            return Some(self.zone);
        }
        if object == game::WORLD {
            return core.config.map.locate(Position::ORIGIN);
        }
        self.borders.owner(object)
    }

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
        self.attempt(core, event, out);
    }

    /// Asks for locks, anew.
    fn attempt(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let work = job.work.clone();
        let now = core.world_now();
        let Some(reach) = self.plan(core, &work, now) else { return self.drop_job(core, event, out) };
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.attempt += 1;
        job.reach = reach;
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
        let now = core.world_now();
        let Some(job) = self.jobs.by_event.get_mut(&event) else { return };
        job.time = Some(now.max(job.not_before));
        let zones = job.reach.zones.clone();
        let claim = self.own_claim(core, event);
        if !self.locks.take(Holder::Event(event), claim, &core.state.objects, now) {
            return self.fail(core, event, Span::ZERO, out);
        }
        self.got_own(core, event);
        let Some(wanted) = self.wanted(core, event, false) else { return };
        let own = self.zone;
        for zone in zones.into_iter().filter(|&it| it != own) {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Lock(wanted.clone()), out);
        }
    }

    /// The own objects of a job, locked from now on.
    fn own_claim(&self, core: &mut Core, event: EventId) -> Claim {
        let Some(job) = self.jobs.by_event.get(&event) else {
            return Claim { scope: Scope::Objects(Vec::new()), objects: Vec::new() };
        };
        let time = job.time.unwrap_or_else(|| core.world_now());
        let found = self.gather(core, &job.reach.scope, job.reach.actor, time);
        let objects = found.into_iter().map(|it| it.object).collect();
        Claim { scope: job.reach.scope.clone(), objects }
    }

    fn got_own(&mut self, core: &mut Core, event: EventId) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let time = job.time.unwrap_or_else(|| core.world_now().max(job.not_before));
        let found = self.gather(core, &job.reach.scope, job.reach.actor, time);
        if let Some(job) = self.jobs.by_event.get_mut(&event) {
            job.time = Some(time);
            job.holds.get_or_insert(core.now);
            job.granted.insert(self.zone, found);
        }
    }

    /// Asks the next zone in line, or executes.
    fn queue_next(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let Stage::Queueing(place) = job.stage else { return };
        let Some(&zone) = job.reach.zones.get(place) else { return self.run(core, event, out) };
        if let Some(job) = self.jobs.by_event.get_mut(&event) {
            job.asked = core.now;
        }
        if zone != self.zone {
            let Some(wanted) = self.wanted(core, event, true) else { return };
            return self.tell_zone(core, zone, Lane::Sure, Mesh::Lock(wanted), out);
        }
        let (claim, now) = (self.own_claim(core, event), core.world_now());
        match self.locks.request(Holder::Event(event), claim, &core.state.objects, now) {
            Granted::Now => self.job_granted(core, event, out),
            Granted::Later => (),
            Granted::Busy => self.fail(core, event, PAUSE.0, out),
        }
    }

    /// The own zone's locks are there.
    pub(super) fn job_granted(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        if let Some(job) = self.jobs.by_event.get_mut(&event)
            && let Stage::Queueing(place) = job.stage
        {
            job.stage = Stage::Queueing(place + 1);
            let found = self.own_claim(core, event).objects;
            let claim = Claim { scope: Scope::Objects(Vec::new()), objects: found };
            let (now, holder) = (core.world_now(), Holder::Event(event));
            // Whoever walked in while it waited may be somebody else's.
            if self.locks.is_held(&claim, holder, &core.state.objects, now) {
                return self.fail(core, event, PAUSE.0, out);
            }
            self.locks.add_objects(holder, &claim.objects);
            self.got_own(core, event);
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
        if job.granted.insert(from, objects).is_some() {
            return;
        }
        job.time.get_or_insert(time);
        job.holds.get_or_insert(core.now);
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
    fn fail(&mut self, core: &mut Core, event: EventId, pause: Span, out: &mut Out) {
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
    fn let_go(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        let (attempt, zones) = (job.attempt, job.reach.zones.clone());
        let own = self.zone;
        for zone in zones.into_iter().filter(|&it| it != own) {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Release { event, attempt }, out);
        }
        self.unlock(core, Holder::Event(event), out);
    }

    /// All locks are there: executes the event, once.
    fn run(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
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
        // What is decided releases the others by post; what is not, must say so.
        let undecided = executed.as_ref().map_or(true, |it| it.product.is_only_moves());
        self.finish(core, &work, executed, out);
        if undecided {
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

    /// An action that found no room is answered so; what must happen some time goes on trying.
    fn give_up(&mut self, core: &mut Core, event: EventId, out: &mut Out) {
        let Some(job) = self.jobs.by_event.get(&event) else { return };
        match job.work {
            Work::Act { .. } if may_be_refused(&core.state, &job.work) => {
                self.end_job(core, event, Err(Failed::busy()), out);
            }
            Work::Think(_) | Work::Join { .. } => self.drop_job(core, event, out),
            Work::Act { .. } | Work::Letter(_) | Work::Timer(..) | Work::Leave(_) | Work::Pass(_) => {
                self.attempt(core, event, out);
            }
        }
    }
}

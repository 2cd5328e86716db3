//! From a call of the game to a record.

use super::Primary;
use super::announce::Pending;
use crate::core::{Core, Event, Out};
use crate::hash;
use crate::mesh::{EventId, Known};
use crate::msg::Down;
use crate::note::{Asked, Note, Ran};
use crate::plant::Plant;
use crate::record::{Cause, Change, Index, Outcome, Record, Stamp, cut_at};
use crate::state::{State, world_object};
use game::{Call, Draft, Names, Objects, Product, Refused, Scope, Write};
use machine::{Rng, Time};
use serde_bytes::ByteBuf;
use space::{Distance, Epoch, Motion, ObjectId, Position, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a call of the game led to.
pub(super) struct Executed {
    pub(super) product: Product,
    pub(super) ran: game::Ran,
    /// Who else takes part.
    pub(super) joint: Option<Joint>,
    note: Option<Ran>,
}

/// Who takes part in an event of several zones.
pub(super) struct Joint {
    pub(super) event: EventId,
    pub(super) time: Time,
    pub(super) zones: Vec<ZoneId>,
    /// What they had when it happened.
    pub(super) known: BTreeMap<ObjectId, (ZoneId, Known)>,
}

/// A call that could not be carried out.
pub(super) struct Failed {
    /// What the game says; nothing if there was no room among others.
    pub(super) why: Option<Refused>,
    pub(super) note: Option<Box<Ran>>,
}

impl Failed {
    pub(super) const fn refused(why: Refused) -> Self {
        Self { why: Some(why), note: None }
    }

    pub(super) const fn busy() -> Self {
        Self { why: None, note: None }
    }

    /// What the player is told.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.why {
            None => Outcome::Busy,
            Some(Refused::ByGame(bytes)) => Outcome::Refused(ByteBuf::from(bytes.clone())),
            Some(Refused::Fault(text)) => Outcome::Fault(text.clone()),
        }
    }
}

impl Primary {
    /// The first records of a new world.
    pub(super) fn found(&mut self, core: &mut Core, out: &mut Out) {
        let region = core.config.region().clone();
        let everything = Scope::area(Position::ORIGIN, Distance::MAX);
        let executed = self.execute(core, Call::Populate { region: &region }, everything);
        let has_origin = core.config.map.locate(Position::ORIGIN).is_none_or(|it| it == self.zone);
        let world = core.config.rules.world().filter(|_| has_origin).map(world_object);
        match executed {
            Ok(executed) => {
                self.write_product(core, Cause::Founding, world.into_iter().collect(), executed, out)
            }
            Err(failed) => {
                self.tell_fault(&failed, out);
                self.write(core, Cause::Founding, world.into_iter().collect(), out);
            }
        }
    }

    /// Carries out a call of this zone alone, without anything becoming true yet.
    pub(super) fn execute(&self, core: &mut Core, call: Call<'_>, scope: Scope) -> Result<Executed, Failed> {
        let now = core.world_now();
        core.state.objects.refresh(now);
        self.execute_on(core, call, scope, now, &core.state.objects)
    }

    /// Carries out a call at a moment, on what there is to be seen.
    pub(super) fn execute_on(
        &self,
        core: &Core,
        call: Call<'_>,
        scope: Scope,
        now: Time,
        view: &dyn Objects,
    ) -> Result<Executed, Failed> {
        let rules = Arc::clone(&core.config.rules);
        let seed = hash::of_value(&(core.config.seed, self.epoch, core.log.head() + 1));
        let names = self.names(core);
        let actor = call.actor();
        let mut draft = Draft::new(view, scope.clone(), actor, now, Rng::seeded(seed), names);
        let result = rules.run(&mut draft, call);
        let finished = draft.finish();
        let note = |product: &Product, refused| {
            let reads = product.reads.iter().map(|(&id, &motion)| (id, motion)).collect();
            let asked = asked(call);
            Ran { asked, scope: scope.clone(), time: now, seed, reads, next_name: names.next, refused }
        };
        let notes = core.config.notes;
        match (result, finished) {
            (Ok(ran), Ok((product, _))) => {
                let note = notes.then(|| note(&product, false));
                Ok(Executed { product, ran, joint: None, note })
            }
            (Err(why), Ok((product, _))) => {
                Err(Failed { why: Some(why), note: notes.then(|| Box::new(note(&product, true))) })
            }
            (_, Err(fault)) => Err(Failed::refused(Refused::Fault(fault))),
        }
    }

    fn names(&self, core: &Core) -> Names {
        let next = if core.state.epoch == self.epoch { core.state.next_name } else { 0 };
        let epoch = if core.config.plants.has(Plant::ReuseNames) { Epoch(1) } else { self.epoch };
        Names { zone: core.config.zone, epoch, next }
    }

    /// Writes what a call led to as one record, after `first`.
    pub(super) fn write_product(
        &mut self,
        core: &mut Core,
        cause: Cause,
        first: Vec<Change>,
        executed: Executed,
        out: &mut Out,
    ) {
        let Executed { mut product, note, joint, .. } = executed;
        let (epoch, index) = (self.epoch, core.log.head() + 1);
        let mut changes = first;
        let writes = joint.as_ref().map_or_else(Vec::new, |it| it.take_abroad(&mut product));
        changes.extend(changes_of(&core.state, epoch, index, &product));
        changes.extend(self.farewells(core, &changes));
        if let Some(joint) = joint {
            changes.extend(self.decision(core, &joint, writes, &changes, &product));
        }
        if core.config.plants.has(Plant::SkipVersions) {
            skip_versions(epoch, &mut changes);
        }
        let notices = product.notices.into_iter().map(|(to, bytes)| (to, ByteBuf::from(bytes))).collect();
        let motions = self.unlogged(core, product.reads.keys().copied());
        let time = core.world_now();
        let record = Record { index, epoch, cut: cut_at(time), time, cause, changes, notices, motions };
        self.commit_to_log(core, record, note, out);
        for (object, motion) in product.steered {
            self.steer(core, object, motion, out);
        }
    }

    /// Writes a record that no game was asked about.
    pub(super) fn write(&mut self, core: &mut Core, cause: Cause, changes: Vec<Change>, out: &mut Out) {
        self.write_noted(core, cause, changes, None, out);
    }

    pub(super) fn write_noted(
        &mut self,
        core: &mut Core,
        cause: Cause,
        changes: Vec<Change>,
        note: Option<Ran>,
        out: &mut Out,
    ) {
        let (epoch, index, time) = (self.epoch, core.log.head() + 1, core.world_now());
        let (notices, motions) = (Vec::new(), Vec::new());
        let record = Record { index, epoch, cut: cut_at(time), time, cause, changes, notices, motions };
        self.commit_to_log(core, record, note, out);
    }

    /// Writes a record that another zone decided, with what players are told.
    pub(super) fn write_told(
        &mut self,
        core: &mut Core,
        cause: Cause,
        changes: Vec<Change>,
        notices: Vec<(game::Hearers, ByteBuf)>,
        out: &mut Out,
    ) {
        let (epoch, index, time) = (self.epoch, core.log.head() + 1, core.world_now());
        let record =
            Record { index, epoch, cut: cut_at(time), time, cause, changes, notices, motions: Vec::new() };
        self.commit_to_log(core, record, None, out);
    }

    /// The one place where a primary makes something true: in state, log and the list of what to tell.
    fn commit_to_log(&mut self, core: &mut Core, record: Record, note: Option<Ran>, out: &mut Out) {
        if core.config.plants.has(Plant::TornEvents) && 1 < record.changes.len() && note.is_some() {
            return self.tear(core, record, note, out);
        }
        let bytes = self.logged_bytes(core, &record);
        let begin_to_think = new_thinkers(core, &record);
        let applied = core.state.apply(&record);
        assert_eq!(applied, Ok(()), "a primary's record follows from its own state");
        let bytes: Arc<[u8]> = Arc::from(bytes);
        core.log.push(record.epoch, Arc::clone(&bytes));
        core.note(out, || Note::Wrote { record: bytes.to_vec(), ran: note });
        for (object, motion) in &record.motions {
            self.motion_logged(*object, motion);
        }
        for change in &record.changes {
            self.unsettle(change);
        }
        for object in begin_to_think {
            self.thoughts.think_at(object, core.now);
        }
        self.pending_bytes += bytes.len();
        self.pending.push_back(Pending { record, bytes: bytes.len() });
    }

    /// The record's bytes for backup and disk: all of it, unless a mistake was planted.
    fn logged_bytes(&self, core: &Core, record: &Record) -> Vec<u8> {
        let plants = core.config.plants;
        let is_lost = |it: &Change| match it {
            Change::TimerSet { .. } => plants.has(Plant::TimersUnlogged),
            Change::LetterSent { .. } => plants.has(Plant::LettersUnlogged),
            _ => false,
        };
        if plants == crate::Plants::NONE || !record.changes.iter().any(is_lost) {
            return record.to_bytes();
        }
        let mut record = record.clone();
        record.changes.retain(|it| !is_lost(it));
        record.to_bytes()
    }

    /// A planted mistake: an event in several records.
    fn tear(&mut self, core: &mut Core, record: Record, mut note: Option<Ran>, out: &mut Out) {
        for change in record.changes.clone() {
            let index = core.log.head() + 1;
            let part = Record { index, changes: vec![change], notices: Vec::new(), ..record.clone() };
            self.commit_to_log(core, part, note.take(), out);
        }
    }

    /// Motions of these objects that no record holds yet.
    fn unlogged(&self, core: &Core, objects: impl Iterator<Item = ObjectId>) -> Vec<(ObjectId, Motion)> {
        let motion = |id| core.state.objects.get(id).map(|it| (id, it.motion));
        let is_new = |(id, motion): &(ObjectId, Motion)| {
            (motion.generation, motion.sequence) != self.logged.get(id).copied().unwrap_or_default()
        };
        objects.filter_map(motion).filter(is_new).collect()
    }

    /// A change is written and not told: nobody new may see the object before it is.
    fn unsettle(&mut self, change: &Change) {
        match change {
            Change::Put { object, motion, .. } => {
                *self.unsettled.entry(*object).or_default() += 1;
                self.motion_logged(*object, motion);
            }
            Change::Removed { object, .. } => {
                *self.unsettled.entry(*object).or_default() += 1;
                self.logged.remove(object);
                self.moved.remove(object);
            }
            Change::Departed { object, .. } => {
                self.logged.remove(object);
                self.moved.remove(object);
            }
            _ => (),
        }
    }

    /// Something without a player changes its course. What was decided a moment ago is news although it has moved since.
    pub(super) fn steer(&mut self, core: &mut Core, object: ObjectId, motion: Motion, out: &mut Out) {
        let current = core.state.objects.get(object).map(|it| it.motion);
        let motion = match current.filter(|it| !motion.is_newer_than(it)) {
            Some(Motion { generation, sequence, .. }) => {
                Motion { generation, sequence: sequence.saturating_add(1), ..motion }
            }
            None => motion,
        };
        self.set_motion(core, object, motion);
        self.moved.insert(object);
        self.stage_motion(object, &motion, out);
    }

    /// Something moves otherwise from now on.
    pub(super) fn set_motion(&mut self, core: &mut Core, object: ObjectId, motion: Motion) {
        if core.config.is_meshed()
            && let Some(before) = core.state.objects.get(object).map(|it| it.motion)
        {
            self.past.keep(object, before, core.now);
            self.borders.moved(object);
        }
        core.state.objects.set_motion(object, motion);
    }

    /// A mistake of the game's is told to its author, not to players.
    pub(super) fn tell_fault(&self, failed: &Failed, out: &mut Out) {
        if let Some(Refused::Fault(text)) = &failed.why {
            out.raise(Event::Fault(text.clone()));
        }
    }

    pub(super) fn say(&self, to: machine::Address, down: Down, out: &mut Out) {
        out.send(to, machine::Lane::Sure, crate::msg::Msg::Down(self.zone, self.epoch, down));
    }
}

/// Whoever begins to think with a record that is not applied yet: who is new and thinks, or did not think before.
fn new_thinkers(core: &Core, record: &Record) -> Vec<ObjectId> {
    let thinks = |state: &[u8]| core.config.rules.thinks(state);
    let thought = |object| core.state.objects.get(object).is_some_and(|it| thinks(&it.state));
    let begins = |it: &Change| match it {
        Change::Put { object, state, .. } => (thinks(state) && !thought(*object)).then_some(*object),
        _ => None,
    };
    record.changes.iter().filter_map(begins).collect()
}

/// What a game's transaction makes of a zone's state, as the changes of one record.
pub fn changes_of(state: &State, epoch: Epoch, index: Index, product: &Product) -> Vec<Change> {
    let mut place = 0;
    let mut stamp = || {
        place += 1;
        Stamp { epoch, index, place }
    };
    let mut changes: Vec<_> =
        product.writes.iter().filter_map(|(&object, write)| effect(state, object, write)).collect();
    for (object, at, letter) in &product.timers {
        let letter = ByteBuf::from(letter.clone());
        changes.push(Change::TimerSet { stamp: stamp(), at: *at, object: *object, letter });
    }
    for (to, letter) in &product.letters {
        changes.push(Change::LetterSent { stamp: stamp(), to: *to, letter: ByteBuf::from(letter.clone()) });
    }
    changes
}

/// A planted mistake: a later reign leaves room for versions that it may not know of.
fn skip_versions(epoch: Epoch, changes: &mut [Change]) {
    for change in changes {
        if let Change::Put { version, .. } | Change::Removed { version, .. } = change
            && 1 < epoch.0
            && 1 < *version
        {
            *version += 1;
        }
    }
}

/// What a write of the game makes of an object.
fn effect(state: &State, object: ObjectId, write: &Write) -> Option<Change> {
    let known = state.objects.get(object);
    match write {
        Write::Spawned { motion, state } => {
            let (motion, state) = (*motion, ByteBuf::from(state.clone()));
            Some(Change::Put { object, incarnation: 1, version: 1, motion, state })
        }
        Write::Changed { state, motion } => known.map(|it| Change::Put {
            object,
            incarnation: it.incarnation,
            version: it.version + 1,
            motion: newer(&it.motion, *motion),
            state: state.as_ref().map_or_else(|| it.state.clone(), |state| ByteBuf::from(state.clone())),
        }),
        Write::Removed => known.map(|it| Change::Removed { object, version: it.version + 1 }),
    }
}

/// A motion that an event set, which must outrank the one there is.
pub(super) fn newer(current: &Motion, set: Option<Motion>) -> Motion {
    match set {
        None => *current,
        Some(motion) if motion.is_newer_than(current) => motion,
        Some(motion) => Motion { generation: current.generation.saturating_add(1), ..motion },
    }
}

fn asked(call: Call<'_>) -> Asked {
    match call {
        Call::Populate { .. } => Asked::Populate,
        Call::Act { actor, action } => Asked::Act { actor, action: action.to_vec() },
        Call::Letter { to, letter } => Asked::Letter { to, letter: letter.to_vec() },
        Call::Think { object } => Asked::Think { object },
        Call::Join { player, name } => Asked::Join { player, name: name.to_owned() },
        Call::Leave { avatar } => Asked::Leave { avatar },
    }
}

//! Records: from the changes of an event to state and log (`commit`), by way of what each kind of record says besides.

use super::execute::Executed;
use crate::core::Core;
use crate::note::{Note, Ran};
use crate::primary::broken;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index, Record, Stamp, cut_at};
use crate::rule::{BrokenRules, Rule};
use crate::state::{State, world_object};
use game::{Call, Hearers, Product, Scope, Write};
use serde_bytes::ByteBuf;
use space::{Distance, Epoch, Motion, ObjectId, Position};
use std::sync::Arc;

/// What a record says besides its cause and changes.
#[derive(Default)]
struct Details {
    notices: Vec<(Hearers, ByteBuf)>,
    motions: Vec<(ObjectId, Motion)>,
    note: Option<Ran>,
}

impl Turn<'_> {
    /// Writes what a call of the game led to as one record, after the changes `first`.
    pub(super) fn write_product(&mut self, cause: Cause, first: Vec<Change>, executed: Executed) {
        let Executed { mut product, note, joint, .. } = executed;
        let (epoch, index) = (self.cx.epoch(), self.cx.core.log.head() + 1);
        let mut changes = first;
        let writes = joint.as_ref().map_or_else(Vec::new, |it| it.take_remote(&mut product));
        changes.extend(changes_of(&self.cx.core.state, epoch, index, &product));
        changes.extend(self.farewells(&changes));
        if let Some(joint) = joint {
            changes.extend(self.decision(&joint, writes, &changes, &product));
        }
        if !self.cx.enforces(Rule::VersionsWithoutGaps) {
            broken::skip_versions(epoch, &mut changes);
        }
        let notices = product.notices.into_iter().map(|(to, bytes)| (to, ByteBuf::from(bytes))).collect();
        let motions = self.audience.motions.unlogged(self.cx.core, product.reads.keys().copied());
        self.write_with(cause, changes, Details { notices, motions, note });
        for (object, motion) in product.steered {
            self.audience.steer(&mut self.cx, object, motion);
        }
    }

    /// Writes a record for which the game was not called.
    pub(in crate::primary) fn write(&mut self, cause: Cause, changes: Vec<Change>) {
        self.write_with(cause, changes, Details::default());
    }

    /// Writes a record for which the game was called and refused.
    pub(super) fn write_noted(&mut self, cause: Cause, changes: Vec<Change>, note: Option<Box<Ran>>) {
        self.write_with(cause, changes, Details { note: note.map(|it| *it), ..Details::default() });
    }

    /// Writes a record that another zone decided, with what players are told.
    pub(super) fn write_told(
        &mut self,
        cause: Cause,
        changes: Vec<Change>,
        notices: Vec<(Hearers, ByteBuf)>,
    ) {
        self.write_with(cause, changes, Details { notices, ..Details::default() });
    }

    fn write_with(&mut self, cause: Cause, changes: Vec<Change>, details: Details) {
        let (epoch, index, time) = (self.cx.epoch(), self.cx.core.log.head() + 1, self.cx.world_now());
        let Details { notices, motions, note } = details;
        let record = Record { index, epoch, cut: cut_at(time), time, cause, changes, notices, motions };
        if !self.cx.enforces(Rule::OneRecordPerEvent) && 1 < record.changes.len() && note.is_some() {
            return broken::tear(record, note, |part, note| self.commit(part, note));
        }
        self.commit(record, note);
    }

    /// The one place where a primary makes something true: in state and log, and in the list of what to announce.
    fn commit(&mut self, record: Record, note: Option<Ran>) {
        let core = &mut *self.cx.core;
        assert_eq!(core.state.head, core.log.head(), "state and log stand for the same records");
        let bytes: Arc<[u8]> = match core.config.broken_rules {
            BrokenRules::NONE => Arc::from(record.to_bytes()),
            broken => Arc::from(broken::logged_bytes(broken, &record)),
        };
        let begin_to_think = new_thinkers(core, &record);
        let applied = core.state.apply(&record);
        assert_eq!(applied, Ok(()), "a primary's record follows from its own state");
        core.log.push(record.epoch, Arc::clone(&bytes));
        assert_eq!(record.index, core.log.head(), "the record is the log's last one");
        self.cx.note(|| Note::Wrote { record: bytes.to_vec(), ran: note });
        for object in begin_to_think {
            self.schedule.think_at(object, self.cx.core.now);
        }
        self.audience.expect(record, bytes.len());
    }

    /// The first record of a reign.
    pub(in crate::primary) fn write_reign(&mut self) {
        let change = Change::Reigns { primary: self.cx.core.config.me, backup: self.cx.reign.backup };
        self.write(Cause::Reign, vec![change]);
    }

    /// The first record of a new world.
    pub(in crate::primary) fn found(&mut self) {
        let region = self.cx.core.config.region().clone();
        let everything = Scope::area(Position::ORIGIN, Distance::MAX);
        let executed = self.execute(Call::Populate { region: &region }, everything);
        let config = &self.cx.core.config;
        let has_origin = config.map.locate(Position::ORIGIN).is_none_or(|it| it == config.zone);
        let world = config.rules.world().filter(|_| has_origin).map(world_object);
        match executed {
            Ok(executed) => self.write_product(Cause::Founding, world.into_iter().collect(), executed),
            Err(failed) => {
                self.report_fault(&failed);
                self.write(Cause::Founding, world.into_iter().collect());
            }
        }
    }
}

/// Objects that begin to think with a record that is not applied yet: those that are new and think, or did not before.
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
pub(in crate::primary) fn newer(current: &Motion, set: Option<Motion>) -> Motion {
    match set {
        None => *current,
        Some(motion) if motion.is_newer_than(current) => motion,
        Some(motion) => Motion { generation: current.generation.saturating_add(1), ..motion },
    }
}

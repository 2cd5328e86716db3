//! Committing: a record is built for each kind of event, and written to state and log (`Turn::commit`).

use super::execute::ExecutedCall;
use crate::core::Core;
use crate::note::{Execution, Note};
use crate::primary::broken;
use crate::primary::turn::Turn;
use crate::record::{Cause, Change, Index, Record, Stamp, cut_at};
use crate::rule::{BrokenRules, Rule};
use crate::zone_state::{ZoneState, world_object};
use game::{Call, DraftWrite, Hearers, Product, Scope};
use serde_bytes::ByteBuf;
use space::{Distance, Epoch, Motion, ObjectId, Position};
use std::sync::Arc;

/// The parts of a record besides its cause and changes, and the execution that it came from, for the checkers.
#[derive(Default)]
struct RecordDetails {
    notices: Vec<(Hearers, ByteBuf)>,
    motions: Vec<(ObjectId, Motion)>,
    execution: Option<Execution>,
}

impl Turn<'_> {
    /// Writes the product of a call of the game as one record, after the changes `first`.
    pub(super) fn write_product(&mut self, cause: Cause, first: Vec<Change>, executed: ExecutedCall) {
        let ExecutedCall { mut product, execution, joint, .. } = executed;
        let (epoch, index) = (self.cx.epoch(), self.cx.core.log.head() + 1);
        let mut changes = first;
        // First: what remains in the product concerns this zone alone.
        let writes = joint.as_ref().map_or_else(Vec::new, |it| it.take_remote(&mut product));
        changes.extend(changes_of(&self.cx.core.state, epoch, index, &product));
        changes.extend(self.removal_posts(&changes));
        if let Some(joint) = joint {
            changes.extend(self.decision(&joint, writes, &changes, &product));
        }
        if !self.cx.enforces(Rule::VersionsWithoutGaps) {
            broken::skip_versions(epoch, &mut changes);
        }
        let notices = product.notices.into_iter().map(|(to, bytes)| (to, ByteBuf::from(bytes))).collect();
        let motions = self.audience.motions.unlogged(self.cx.core, product.reads.keys().copied());
        self.write_with(cause, changes, RecordDetails { notices, motions, execution });
        // After the record: courses are moves, and no part of it.
        for (object, motion) in product.steered {
            self.audience.steer(&mut self.cx, object, motion);
        }
    }

    /// Writes a record for which the game was not called.
    pub(in crate::primary) fn write(&mut self, cause: Cause, changes: Vec<Change>) {
        self.write_with(cause, changes, RecordDetails::default());
    }

    /// Writes a record for which the game was called and refused.
    pub(super) fn write_refused(
        &mut self,
        cause: Cause,
        changes: Vec<Change>,
        execution: Option<Box<Execution>>,
    ) {
        self.write_with(
            cause,
            changes,
            RecordDetails { execution: execution.map(|it| *it), ..RecordDetails::default() },
        );
    }

    /// Writes the record of an event that another zone decided, with its notices.
    pub(super) fn write_decided(
        &mut self,
        cause: Cause,
        changes: Vec<Change>,
        notices: Vec<(Hearers, ByteBuf)>,
    ) {
        self.write_with(cause, changes, RecordDetails { notices, ..RecordDetails::default() });
    }

    fn write_with(&mut self, cause: Cause, changes: Vec<Change>, details: RecordDetails) {
        let (epoch, index, time) = (self.cx.epoch(), self.cx.core.log.head() + 1, self.cx.world_now());
        let RecordDetails { notices, motions, execution } = details;
        let record = Record { index, epoch, cut: cut_at(time), time, cause, changes, notices, motions };
        if !self.cx.enforces(Rule::OneRecordPerEvent) && 1 < record.changes.len() && execution.is_some() {
            return broken::split_record(record, execution, |part, execution| self.commit(part, execution));
        }
        self.commit(record, execution);
    }

    /// Commits a record: to state and log, and to the list of records to announce. A primary changes its state nowhere
    /// else, but for motions.
    fn commit(&mut self, record: Record, execution: Option<Execution>) {
        let core = &mut *self.cx.core;
        assert_eq!(core.state.head, core.log.head(), "state and log stand for the same records");
        let bytes: Arc<[u8]> = match core.config.broken_rules {
            BrokenRules::NONE => Arc::from(record.to_bytes()),
            broken => Arc::from(broken::logged_bytes(broken, &record)),
        };
        // Before the record is applied: it compares with the state as it was.
        let begin_to_think = new_thinkers(core, &record);
        let applied = core.state.apply(&record);
        assert_eq!(applied, Ok(()), "a primary's record follows from its own state");
        core.log.push(record.epoch, Arc::clone(&bytes));
        assert_eq!(record.index, core.log.head(), "the record is the log's last one");
        // Another zone waits for these until they are on disk.
        if record.changes.iter().any(|it| matches!(it, Change::Granted { .. } | Change::Posted { .. })) {
            core.awaited = record.index;
        }
        self.cx.note(|| Note::Wrote { record: bytes.to_vec(), execution });
        for object in begin_to_think {
            self.schedule.think_at(object, self.cx.core.now);
        }
        self.audience.add_unannounced(record, bytes.len());
    }

    /// Writes the leadership: the first record of an epoch.
    pub(in crate::primary) fn write_leadership(&mut self) {
        let change = Change::Leads { primary: self.cx.core.config.me, backup: self.cx.backup };
        self.write(Cause::Leadership, vec![change]);
    }

    /// Writes the first objects of a new world, with the world's own object in the zone at the origin.
    pub(in crate::primary) fn found_world(&mut self) {
        let region = self.cx.core.config.region().clone();
        let everything = Scope::area(Position::ORIGIN, Distance::MAX);
        let executed = self.execute(Call::Populate { region: &region }, everything);
        let config = &self.cx.core.config;
        let has_origin = config.map.locate(Position::ORIGIN).is_none_or(|it| it == config.zone);
        let world = config.rules.world().filter(|_| has_origin).map(world_object);
        match executed {
            Ok(executed) => self.write_product(Cause::Founding, world.into_iter().collect(), executed),
            // The world begins empty rather than not at all.
            Err(failed) => {
                self.report_fault(&failed);
                self.write(Cause::Founding, world.into_iter().collect());
            }
        }
    }
}

/// The objects that begin to think with a record that is not applied yet: they think after it and did not before.
fn new_thinkers(core: &Core, record: &Record) -> Vec<ObjectId> {
    let thinks = |state: &[u8]| core.config.rules.thinks(state);
    let thought = |object| core.state.objects.get(object).is_some_and(|it| thinks(&it.state));
    let begins = |it: &Change| match it {
        Change::Put { object, state, .. } => (thinks(state) && !thought(*object)).then_some(*object),
        _ => None,
    };
    record.changes.iter().filter_map(begins).collect()
}

/// The changes of one record that a product of the game makes to a zone's state.
pub fn changes_of(state: &ZoneState, epoch: Epoch, index: Index, product: &Product) -> Vec<Change> {
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

/// The effect of a write of the game on an object of this zone; `None` if the object is gone.
fn effect(state: &ZoneState, object: ObjectId, write: &DraftWrite) -> Option<Change> {
    let known = state.objects.get(object);
    match write {
        DraftWrite::Spawned { motion, state } => {
            let (motion, state) = (*motion, ByteBuf::from(state.clone()));
            Some(Change::Put { object, incarnation: 1, version: 1, motion, state })
        }
        DraftWrite::Changed { state, motion } => known.map(|it| Change::Put {
            object,
            incarnation: it.incarnation,
            version: it.version + 1,
            motion: newer(&it.motion, *motion),
            state: state.as_ref().map_or_else(|| it.state.clone(), |state| ByteBuf::from(state.clone())),
        }),
        DraftWrite::Removed => known.map(|it| Change::Removed { object, version: it.version + 1 }),
    }
}

/// The motion that an event sets, newer than the current one in any case: a higher generation makes clients drop moves
/// that they sent before they knew.
pub(in crate::primary) fn newer(current: &Motion, set: Option<Motion>) -> Motion {
    match set {
        None => *current,
        Some(motion) if motion.is_newer_than(current) => motion,
        Some(motion) => Motion { generation: current.generation.saturating_add(1), ..motion },
    }
}

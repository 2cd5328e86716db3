//! Records that are committed and not announced yet.

use crate::config::UNANNOUNCED_BYTES_MAX;
use crate::record::{Change, Index, Record};
use game::PlayerId;
use rustc_hash::FxHashMap;
use space::ObjectId;
use std::collections::VecDeque;

/// The records between the last announced one and the end of the log, in order.
#[derive(Debug, Default)]
pub(in crate::primary) struct UnannouncedRecords {
    /// The last record that is announced.
    announced: Index,
    /// The records, each with its size in bytes, and the sum of the sizes.
    records: VecDeque<(Record, usize)>,
    bytes: usize,
    /// Objects that these records change, with the number of records that do. Their state in memory is not safe, so no
    /// client or neighbour may be shown it.
    changed: FxHashMap<ObjectId, u32>,
}

impl UnannouncedRecords {
    /// No records yet; all up to this one count as announced.
    pub(super) fn after(announced: Index) -> Self {
        Self { announced, ..Self::default() }
    }

    pub(super) const fn announced(&self) -> Index {
        self.announced
    }

    pub(in crate::primary) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether so many bytes wait to become safe that no new work should begin.
    pub(in crate::primary) const fn is_backlogged(&self) -> bool {
        UNANNOUNCED_BYTES_MAX < self.bytes
    }

    /// Returns whether all changes of an object are announced.
    pub(super) fn is_announced(&self, object: ObjectId) -> bool {
        !self.changed.contains_key(&object)
    }

    /// Returns whether the result of an action waits to be announced.
    pub(in crate::primary) fn answers(&self, player: PlayerId, number: u64) -> bool {
        let answers = |it: &Change| matches!(it, Change::Acted { player: of, number: it, .. } if (*of, *it) == (player, number));
        self.records.iter().any(|(record, _)| record.changes.iter().any(answers))
    }

    /// Adds a committed record of so many bytes.
    pub(super) fn push(&mut self, record: Record, bytes: usize) {
        let next = self.announced + self.records.len() as Index + 1;
        assert_eq!(record.index, next, "records are committed and announced in order");
        for change in &record.changes {
            if let Change::Put { object, .. } | Change::Removed { object, .. } = change {
                *self.changed.entry(*object).or_default() += 1;
            }
        }
        self.bytes += bytes;
        self.records.push_back((record, bytes));
    }

    /// Counts all records up to `safe` as announced; [`Self::pop`] returns them one by one.
    pub(super) fn advance(&mut self, safe: Index) {
        let head = self.announced + self.records.len() as Index;
        assert!(self.announced < safe && safe <= head, "only committed records are announced, once");
        self.announced = safe;
    }

    /// Takes the next record to announce, if there is one.
    pub(super) fn pop(&mut self) -> Option<Record> {
        let (record, bytes) = self.records.pop_front_if(|it| it.0.index <= self.announced)?;
        self.bytes -= bytes;
        Some(record)
    }

    /// Notes that a change of an object is announced.
    pub(super) fn count_announced(&mut self, object: ObjectId) {
        if let Some(count) = self.changed.get_mut(&object) {
            *count -= 1;
            if *count == 0 {
                self.changed.remove(&object);
            }
        }
    }
}

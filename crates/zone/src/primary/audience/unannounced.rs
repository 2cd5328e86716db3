//! Records that are committed and not announced yet.

use crate::config::UNACKED_BYTES_MAX;
use crate::record::{Cause, Change, Index, Record};
use game::PlayerId;
use rustc_hash::FxHashMap;
use space::ObjectId;
use std::collections::VecDeque;

/// What is committed and not announced yet.
#[derive(Debug, Default)]
pub(in crate::primary) struct Unannounced {
    /// Everything up to here is announced.
    announced: Index,
    records: VecDeque<(Record, usize)>,
    bytes: usize,
    /// Objects that one of these records changes, and how many do. No new client may see them.
    unsettled: FxHashMap<ObjectId, u32>,
}

impl Unannounced {
    /// Everything up to this record counts as announced.
    pub(super) fn after(announced: Index) -> Self {
        Self { announced, ..Self::default() }
    }

    pub(super) const fn announced(&self) -> Index {
        self.announced
    }

    pub(in crate::primary) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether so much waits to be acknowledged that nothing more should be taken on.
    pub(in crate::primary) const fn is_choked(&self) -> bool {
        UNACKED_BYTES_MAX < self.bytes
    }

    /// Whether everything committed about an object is announced.
    pub(super) fn is_settled(&self, object: ObjectId) -> bool {
        !self.unsettled.contains_key(&object)
    }

    /// Whether the result of an action is yet to be announced.
    pub(in crate::primary) fn answers(&self, player: PlayerId, number: u64) -> bool {
        self.records.iter().any(|it| it.0.cause == Cause::Act(player, number))
    }

    /// A record was committed, and has so many bytes.
    pub(super) fn push(&mut self, record: Record, bytes: usize) {
        let next = self.announced + self.records.len() as Index + 1;
        assert_eq!(record.index, next, "records are committed and announced in order");
        for change in &record.changes {
            if let Change::Put { object, .. } | Change::Removed { object, .. } = change {
                *self.unsettled.entry(*object).or_default() += 1;
            }
        }
        self.bytes += bytes;
        self.records.push_back((record, bytes));
    }

    /// From now on everything up to here counts as announced: see [`Self::pop`].
    pub(super) fn advance(&mut self, committed: Index) {
        let head = self.announced + self.records.len() as Index;
        assert!(
            self.announced < committed && committed <= head,
            "only committed records are announced, once"
        );
        self.announced = committed;
    }

    /// The next record to announce, if there is one.
    pub(super) fn pop(&mut self) -> Option<Record> {
        let (record, bytes) = self.records.pop_front_if(|it| it.0.index <= self.announced)?;
        self.bytes -= bytes;
        Some(record)
    }

    /// A change of an object is announced.
    pub(super) fn settle(&mut self, object: ObjectId) {
        if let Some(count) = self.unsettled.get_mut(&object) {
            *count -= 1;
            if *count == 0 {
                self.unsettled.remove(&object);
            }
        }
    }
}

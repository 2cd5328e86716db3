//! The changes that the journal holds and a log does not.

use super::journal_entry::{JournalChange, JournalEntry};
use crate::config::JOURNAL_BYTES_MAX;
use crate::format::RECORD_HEADER;
use crate::{DropReason, DroppedBytes, Log, Media, StoreError};

/// What a log lacks: it is to end before record `from`, and these records follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingChanges {
    pub schema: u64,
    pub from: u64,
    pub records: Vec<Vec<u8>>,
    /// True if the log may hold records from `from` on that were deleted.
    is_cut: bool,
}

impl PendingChanges {
    pub(super) fn new(schema: u64, from: u64) -> Self {
        Self { schema, from, records: Vec::new(), is_cut: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && !self.is_cut
    }

    /// The number of the next record.
    pub(super) fn next(&self) -> u64 {
        self.from + self.records.len() as u64
    }

    /// Deletes the records from this number on.
    pub(super) fn cut(&mut self, from: u64) {
        self.from = self.from.min(from);
        self.records.truncate((from - self.from) as usize);
        // Also if only pending records are deleted: during a replay the log may have been given them meanwhile.
        self.is_cut = true;
    }

    /// Deletes records as the journal says.
    pub(super) fn replay_cut(&mut self, schema: u64, from: u64) {
        if self.next() < from {
            // The log had more records than the journal, which was damaged: those before the cut are in the log.
            *self = Self::new(schema, from);
        }
        self.cut(from);
    }

    /// Adds a record of the journal.
    pub(super) fn replay_record(&mut self, schema: u64, index: u64, bytes: &[u8]) {
        if self.next() < index {
            // A snapshot of the log lies between; it went to the log directly.
            *self = Self::new(schema, index);
        } else if index < self.next() {
            self.cut(index);
        }
        self.schema = schema;
        self.records.push(bytes.to_vec());
    }

    /// Forgets the records that a snapshot of the log covers.
    pub(super) fn cover(&mut self, index: u64) {
        if self.from <= index {
            let covered = usize::try_from(index + 1 - self.from).unwrap_or(usize::MAX);
            self.records.drain(..covered.min(self.records.len()));
            self.from = index + 1;
        }
    }

    /// Forgets the records that the log has already: a crash came between a checkpoint and the emptying of the journal.
    pub(super) fn skip_present(&mut self, first: u64, present: &[Vec<u8>]) {
        let Some(skipped) = self.from.checked_sub(first).filter(|_| !self.is_cut) else { return };
        let present = usize::try_from(skipped).ok().and_then(|it| present.get(it..)).unwrap_or_default();
        let both = present.len().min(self.records.len());
        if present[..both] == self.records[..both] {
            self.records.drain(..both);
            // Records that only the log has were durable in the journal, too, before it was damaged: they stay.
            self.from += present.len() as u64;
        }
    }

    /// The report on records that cannot be used, because the disk has lost those from `expected` on before them.
    pub(super) fn lost_before(&self, expected: u64) -> DroppedBytes {
        let bytes = self.records.iter().map(|it| it.len() as u64).sum();
        DroppedBytes { file: "the journal".to_owned(), at: 0, bytes, reason: DropReason::Gap { expected } }
    }

    /// Writes the changes to their log. Repeating it does no harm.
    pub(super) fn write_to<M: Media>(&mut self, log: &mut Log<M>) -> Result<(), StoreError> {
        if self.from < log.next() {
            log.cut(self.from)?;
        }
        self.is_cut = false;
        while !self.records.is_empty() {
            let mut bytes = 0;
            let fits = |record: &&Vec<u8>| {
                bytes += RECORD_HEADER + record.len();
                bytes <= 2 * JOURNAL_BYTES_MAX
            };
            let count = self.records.iter().take_while(fits).count().max(1);
            log.append(self.from, &self.records[..count])?;
            self.records.drain(..count);
            self.from += count as u64;
        }
        Ok(())
    }

    /// The entries of the journal that say the same.
    pub(super) fn entries(&self, log: u32) -> Vec<Vec<u8>> {
        let Self { schema, from, .. } = *self;
        let cut = JournalEntry { log, schema, index: from, kind: JournalChange::Cut };
        let cut = self.is_cut.then(|| cut.to_bytes());
        let records = (from..).zip(&self.records).map(|(index, bytes)| {
            JournalEntry { log, schema, index, kind: JournalChange::Record(bytes) }.to_bytes()
        });
        cut.into_iter().chain(records).collect()
    }
}

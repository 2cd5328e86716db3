//! Many logs that share one sync.
//!
//! A sync costs the same for one record as for a thousand, and a host has a log per zone. So a [`LogGroup`] writes the
//! changes of all its logs into one more log, the **journal**, and syncs that once per batch. The logs themselves are
//! written later, in a checkpoint, which empties the journal. After a crash the journal says what they lack.
//!
//! Snapshots go to their log at once. The records that a snapshot covers are never written to the log at all.

mod journal_entry;
mod pending_changes;

use crate::config::{APPEND_MAX, JOURNAL_BYTES_MAX, LogLimits};
use crate::format::RECORD_HEADER;
use crate::log::check_append;
use crate::{Log, LogContents, Media, Recovery, StoreError};
use journal_entry::{ENTRY_HEADER, JournalChange, JournalEntry};
use machine::disk::{DiskReply, DiskRequest};
use pending_changes::PendingChanges;
use std::collections::BTreeMap;

/// The shape of the journal's records, as its schema.
const JOURNAL_SCHEMA: u64 = 1;

/// The logs of one host and their journal. Each log has a number.
#[derive(Debug)]
pub struct LogGroup<M> {
    journal: Log<M>,
    logs: BTreeMap<u32, Log<M>>,
    limits: LogLimits,
    /// By log: the changes that the journal holds and the log does not.
    pending: BTreeMap<u32, PendingChanges>,
    /// Entries of the batch that are not in the journal yet.
    entries: Vec<Vec<u8>>,
    entry_bytes: usize,
    /// Bytes in the journal since the last checkpoint.
    journal_bytes: usize,
    /// The journal's snapshot holds changes of logs that were closed or broken at the last checkpoint.
    has_rest: bool,
    /// A request failed for this reason. By log, the newest.
    failures: BTreeMap<u32, StoreError>,
}

impl<M: Media> LogGroup<M> {
    /// Opens the journal. The logs are opened one by one, each by [`open_log`](Self::open_log). The recovery is the
    /// journal's.
    pub fn open(journal: M, limits: LogLimits) -> Result<(Self, Recovery), StoreError> {
        let (journal, opened) = Log::open(journal, JOURNAL_SCHEMA, limits)?;
        let opened_journal = opened.recalled;
        let rest = opened_journal.snapshot.map(|(_, rest)| rest).unwrap_or_default();
        let mut group = Self {
            journal,
            logs: BTreeMap::new(),
            limits,
            pending: BTreeMap::new(),
            entries: Vec::new(),
            entry_bytes: 0,
            journal_bytes: opened_journal.records.iter().map(|it| RECORD_HEADER + it.len()).sum(),
            has_rest: !rest.is_empty(),
            failures: BTreeMap::new(),
        };
        let damaged = || StoreError::Damaged { file: "the journal".to_owned() };
        let rest = journal_entry::unpack(&rest).ok_or_else(damaged)?;
        for bytes in rest.into_iter().chain(opened_journal.records.iter().map(Vec::as_slice)) {
            group.replay(JournalEntry::from_bytes(bytes).ok_or_else(damaged)?);
        }
        Ok((group, opened.recovery))
    }

    fn replay(&mut self, entry: JournalEntry<'_>) {
        let JournalEntry { log, schema, index, kind } = entry;
        let pending = self.pending.entry(log).or_insert_with(|| PendingChanges::new(schema, index));
        match kind {
            JournalChange::Record(bytes) => pending.replay_record(schema, index, bytes),
            JournalChange::Cut => pending.replay_cut(schema, index),
        }
    }

    /// Opens a log, mends what a crash left, adds what the journal says it lacks, and returns its contents. A log of the
    /// same number that is open is closed first.
    pub fn open_log(&mut self, log: u32, media: M, schema: u64) -> Result<LogContents, StoreError> {
        self.close_log(log);
        let (mut opened_log, mut opened) = Log::open(media, schema, self.limits)?;
        if let Some(pending) = self.pending.get_mut(&log) {
            // First: a snapshot of another schema may stand for all of them.
            pending.cover(opened_log.base());
            if !pending.is_empty() && pending.schema != schema {
                return Err(StoreError::Schema { found: pending.schema, expected: schema });
            }
            pending.skip_present(opened.recalled.first, &opened.recalled.records);
            if opened_log.next() < pending.from {
                opened.recovery.dropped.push(pending.lost_before(opened_log.next()));
                // Said in the journal, too: a later replay must not bring them back.
                self.push(&JournalEntry { log, schema, index: opened_log.next(), kind: JournalChange::Cut });
                self.write_entries()?;
            } else {
                pending.write_to(&mut opened_log)?;
                opened.recalled = opened_log.recall()?;
            }
            self.pending.remove(&log);
        }
        self.logs.insert(log, opened_log);
        self.failures.remove(&log);
        Ok(opened)
    }

    /// Closes a log. If it cannot be written, the journal keeps what it lacks.
    pub fn close_log(&mut self, log: u32) {
        if self.flush(log).is_ok() {
            self.pending.remove(&log);
        }
        self.logs.remove(&log);
    }

    /// Returns whether the journal has failed. All requests fail then, until a new group is opened.
    pub fn is_poisoned(&self) -> bool {
        self.journal.is_poisoned()
    }

    /// The reason why a log's last failed request failed.
    pub fn failure(&self, log: u32) -> Option<&StoreError> {
        self.failures.get(&log)
    }

    /// Carries out a batch of requests, each with the number of its log, and returns their replies in the same order. The
    /// appends and cuts of the batch share one sync. The caller hands the replies out and then calls
    /// [`checkpoint_if_due`](Self::checkpoint_if_due), without which the journal grows for ever.
    pub fn serve(&mut self, requests: Vec<(u32, DiskRequest)>) -> Vec<(u32, DiskReply)> {
        let mut replies = Vec::with_capacity(requests.len());
        // Replies from here on hold only if the journal is synced.
        let mut unsynced = 0;
        for (log, request) in requests {
            let is_journaled = match &request {
                DiskRequest::Append { records, .. } => is_short(records),
                DiskRequest::Cut { .. } => true,
                DiskRequest::Keep { .. } | DiskRequest::Replace { .. } | DiskRequest::Recall { .. } => false,
            };
            if !is_journaled || JOURNAL_BYTES_MAX < self.entry_bytes {
                self.sync(&mut replies[unsynced..]);
                unsynced = replies.len();
            }
            replies.push((log, self.serve_one(log, request)));
            if !is_journaled {
                unsynced = replies.len();
            }
        }
        self.sync(&mut replies[unsynced..]);
        replies
    }

    /// Runs a checkpoint if the journal has grown long. It writes and syncs every log, so replies must not wait for it.
    pub fn checkpoint_if_due(&mut self) -> Result<(), StoreError> {
        // A journal that has failed was reported by the request that failed.
        let is_due = self.limits.checkpoint_bytes < self.journal_bytes && !self.is_poisoned();
        if is_due { self.checkpoint() } else { Ok(()) }
    }

    fn serve_one(&mut self, log: u32, request: DiskRequest) -> DiskReply {
        let (ticket, result) = match request {
            DiskRequest::Append { ticket, first, records } => (ticket, self.append(log, first, records)),
            DiskRequest::Cut { ticket, from } => (ticket, self.cut(log, from)),
            DiskRequest::Keep { ticket, index, snapshot } => (ticket, self.keep(log, index, &snapshot)),
            DiskRequest::Replace { ticket, index, snapshot } => (ticket, self.replace(log, index, &snapshot)),
            DiskRequest::Recall { ticket } => match self.recall(log) {
                Ok(recalled) => return DiskReply::Recalled { ticket, recalled },
                Err(error) => (ticket, Err(error)),
            },
        };
        match result {
            Ok(()) => DiskReply::Persisted { ticket },
            Err(error) => {
                self.note(log, error);
                DiskReply::Failed { ticket }
            }
        }
    }

    /// Keeps the first error of a log: those that follow only say that it is poisoned.
    fn note(&mut self, log: u32, error: StoreError) {
        if error != StoreError::Poisoned || !self.failures.contains_key(&log) {
            self.failures.insert(log, error);
        }
    }

    /// Syncs the batch's entries. If that fails, so do the requests that these replies answer.
    fn sync(&mut self, replies: &mut [(u32, DiskReply)]) {
        let Err(error) = self.write_entries() else { return };
        for (log, reply) in replies {
            if let DiskReply::Persisted { ticket } = *reply {
                *reply = DiskReply::Failed { ticket };
                self.note(*log, error.clone());
            }
        }
    }

    fn write_entries(&mut self) -> Result<(), StoreError> {
        let entries = std::mem::take(&mut self.entries);
        self.journal_bytes += std::mem::take(&mut self.entry_bytes);
        self.journal.append(self.journal.next(), &entries)
    }

    fn push(&mut self, entry: &JournalEntry<'_>) {
        let bytes = entry.to_bytes();
        self.entry_bytes += RECORD_HEADER + bytes.len();
        self.entries.push(bytes);
    }

    /// A log that takes changes.
    fn writable(&mut self, log: u32) -> Result<&mut Log<M>, StoreError> {
        if self.journal.is_poisoned() {
            return Err(StoreError::Poisoned);
        }
        let log = self.logs.get_mut(&log).ok_or(StoreError::Closed)?;
        log.check_writable()?;
        Ok(log)
    }

    fn append(&mut self, log: u32, first: u64, records: Vec<Vec<u8>>) -> Result<(), StoreError> {
        let the_log = self.writable(log)?;
        let (schema, written) = (the_log.schema(), the_log.next());
        let next = self.pending.get(&log).map_or(written, PendingChanges::next);
        check_append(next, first, &records)?;
        if !is_short(&records) {
            // The journal must not hold older changes of a log that is written directly.
            self.checkpoint()?;
            return self.writable(log)?.append(first, &records);
        }
        for (index, bytes) in (first..).zip(&records) {
            self.push(&JournalEntry { log, schema, index, kind: JournalChange::Record(bytes) });
        }
        let pending = self.pending.entry(log).or_insert_with(|| PendingChanges::new(schema, first));
        pending.records.extend(records);
        Ok(())
    }

    fn cut(&mut self, log: u32, from: u64) -> Result<(), StoreError> {
        let the_log = self.writable(log)?;
        let (schema, written, snapshot) = (the_log.schema(), the_log.next(), the_log.base());
        if from <= snapshot {
            return Err(StoreError::CutInSnapshot { from, snapshot });
        }
        let next = self.pending.get(&log).map_or(written, PendingChanges::next);
        if next <= from {
            return Ok(());
        }
        self.push(&JournalEntry { log, schema, index: from, kind: JournalChange::Cut });
        self.pending.entry(log).or_insert_with(|| PendingChanges::new(schema, written)).cut(from);
        Ok(())
    }

    fn keep(&mut self, log: u32, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.writable(log)?;
        let Some(the_log) = self.logs.get_mut(&log) else { return Err(StoreError::Closed) };
        let Some(pending) = self.pending.get_mut(&log) else { return the_log.keep(index, snapshot) };
        // Records that were cut must not lie behind the snapshot.
        if pending.from < the_log.next() {
            the_log.cut(pending.from)?;
        }
        the_log.keep(index, snapshot)?;
        pending.cover(index);
        Ok(())
    }

    fn replace(&mut self, log: u32, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.writable(log)?;
        // The journal must not hold changes of the contents that are replaced: a replay would bring them back.
        self.checkpoint()?;
        self.writable(log)?.replace(index, snapshot)
    }

    fn recall(&mut self, log: u32) -> Result<machine::disk::DiskContents, StoreError> {
        self.writable(log)?;
        self.flush(log)?;
        self.logs.get_mut(&log).ok_or(StoreError::Closed)?.recall()
    }

    /// Writes a log's pending changes to it. The journal has them, too, until the next checkpoint.
    fn flush(&mut self, log: u32) -> Result<(), StoreError> {
        let Some(pending) = self.pending.get_mut(&log) else { return Ok(()) };
        pending.write_to(self.logs.get_mut(&log).ok_or(StoreError::Closed)?)
    }

    /// Writes the pending changes to their logs and empties the journal. The changes of logs that are closed or broken
    /// go into the journal's snapshot.
    pub fn checkpoint(&mut self) -> Result<(), StoreError> {
        self.write_entries()?;
        for log in self.pending.keys().copied().collect::<Vec<_>>() {
            match self.flush(log) {
                Ok(()) => drop(self.pending.remove(&log)),
                Err(StoreError::Closed) => (),
                Err(error) => self.note(log, error),
            }
        }
        let covered = self.journal.next() - 1;
        if covered == self.journal.base() && !self.has_rest {
            return Ok(()); // The journal is empty.
        }
        // Why a snapshot: it replaces all entries at once. Entries written again one by one would begin to replace those that
        // are there, and a crash would leave only a first part of them.
        let mut rest = Vec::new();
        for (&log, pending) in &self.pending {
            pending.entries(log).iter().for_each(|entry| journal_entry::pack(&mut rest, entry));
        }
        self.journal.keep(covered, &rest)?;
        (self.journal_bytes, self.has_rest) = (0, !rest.is_empty());
        Ok(())
    }
}

/// Returns whether an append goes through the journal. A long one is written to its log directly, so that its bytes are
/// written once. Headers count: records without bytes take room in the journal, too.
fn is_short(records: &[Vec<u8>]) -> bool {
    let bytes = |record: &Vec<u8>| RECORD_HEADER + ENTRY_HEADER + record.len();
    records.iter().map(bytes).sum::<usize>() <= JOURNAL_BYTES_MAX
}

// A sync writes less than one request more than `JOURNAL_BYTES_MAX`.
const _: () = assert!(JOURNAL_BYTES_MAX * 4 < APPEND_MAX);

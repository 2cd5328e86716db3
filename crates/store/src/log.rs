//! The log: numbered records and at most one snapshot, on a medium.
//!
//! A call that returns `Ok` has made its change durable. One that fails may or may not have; from then on
//! the log is poisoned and refuses everything, because a failed sync cannot be repeated. Opening the log again
//! finds out what the disk holds.

use crate::config::{APPEND_MAX, INDEX_MAX, LogLimits, RECORD_MAX, SNAPSHOT_MAX};
use crate::format::{self, RECORD_HEADER, SEGMENT_HEADER};
use crate::mend::{finish_replacement, mend, write_whole};
use crate::scan::{Scan, offset_of, scan};
use crate::{Media, Recovery, StoreError};
use machine::disk::{DiskContents, DiskReply, DiskRequest};

/// One machine's log. It carries out requests one after the other, each durable when the call returns.
#[derive(Debug)]
pub struct Log<M> {
    media: M,
    limits: LogLimits,
    schema: u64,
    health: LogHealth,
    /// The last record that the snapshot covers.
    snapshot: Option<u64>,
    /// The segments by their first record, in order. The records in them reach up to `next`.
    segments: Vec<u64>,
    /// The length of the last segment, in bytes.
    tail_bytes: u64,
    /// The number of the next record.
    next: u64,
    /// The reason of the last failed request.
    failure: Option<StoreError>,
    /// The bytes being written; kept to reuse its allocation.
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LogHealth {
    Sound,
    /// Everything stored has this other schema, until a snapshot replaces it.
    Unmigrated(u64),
    /// A change failed half-way: the disk is unknown.
    Poisoned,
}

/// The contents of a log at its opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogContents {
    /// The snapshot and the records after it, all durable.
    pub recalled: DiskContents,
    /// The schema they were written with; `None` if the log is empty.
    pub schema: Option<u64>,
    /// The findings besides undamaged records.
    pub recovery: Recovery,
}

impl<M: Media> Log<M> {
    /// Opens the log on a medium, mends what a crash left, and returns its contents. A disk that
    /// is refused is left as it was, except by [`StoreError::Media`].
    ///
    /// `schema` names the shape of the records and the snapshot; the stored ones must have the same.
    pub fn open(media: M, schema: u64, limits: LogLimits) -> Result<(Self, LogContents), StoreError> {
        let scan = scan(&media)?;
        match scan.schemas().into_iter().find(|&found| found != schema) {
            Some(found) => Err(StoreError::Schema { found, expected: schema }),
            None => Self::start(media, schema, limits, scan),
        }
    }

    /// Like [`open`](Self::open), but accepts stored state of any one schema; [`LogContents::schema`]
    /// says which. If it is another one, the log takes nothing but a snapshot (in `schema`, migrated
    /// by the caller) that covers every record there is; then it is like any other. A crash before
    /// that snapshot is durable leaves the old state, a crash after it the new one.
    pub fn open_to_migrate(
        media: M,
        schema: u64,
        limits: LogLimits,
    ) -> Result<(Self, LogContents), StoreError> {
        let scan = scan(&media)?;
        match scan.schemas()[..] {
            [expected, found, ..] => Err(StoreError::Schema { found, expected }),
            _ => Self::start(media, schema, limits, scan),
        }
    }

    fn start(
        mut media: M,
        schema: u64,
        limits: LogLimits,
        scan: Scan,
    ) -> Result<(Self, LogContents), StoreError> {
        // Why before anything is returned: the caller acts on the contents, so they must be durable.
        let aside = mend(&mut media, &scan)?;
        let found = scan.schemas().first().copied();
        let log = Self {
            media,
            limits,
            schema,
            health: found.filter(|&found| found != schema).map_or(LogHealth::Sound, LogHealth::Unmigrated),
            snapshot: scan.snapshot.as_ref().map(|snapshot| snapshot.index),
            segments: scan.segments.iter().map(|segment| segment.first).collect(),
            tail_bytes: scan.segments.last().map_or(0, |segment| segment.length),
            next: scan.base() + 1 + scan.records.len() as u64,
            failure: None,
            buffer: Vec::new(),
        };
        let recovery = Recovery { dropped: scan.dropped.clone(), aside };
        Ok((log, LogContents { recalled: recalled(scan), schema: found, recovery }))
    }

    /// Carries out a machine's request. [`failure`](Self::failure) gives the reason of a failed one.
    pub fn serve(&mut self, request: DiskRequest) -> DiskReply {
        match request {
            DiskRequest::Append { ticket, first, records } => {
                let result = self.append(first, &records);
                self.answer(result, DiskReply::Failed { ticket }, |()| DiskReply::Persisted { ticket })
            }
            DiskRequest::Cut { ticket, from } => {
                let result = self.cut(from);
                self.answer(result, DiskReply::Failed { ticket }, |()| DiskReply::Persisted { ticket })
            }
            DiskRequest::Keep { ticket, index, snapshot } => {
                let result = self.keep(index, &snapshot);
                self.answer(result, DiskReply::Failed { ticket }, |()| DiskReply::Persisted { ticket })
            }
            DiskRequest::Replace { ticket, index, snapshot } => {
                let result = self.replace(index, &snapshot);
                self.answer(result, DiskReply::Failed { ticket }, |()| DiskReply::Persisted { ticket })
            }
            DiskRequest::Recall { ticket } => {
                let result = self.recall();
                self.answer(result, DiskReply::Failed { ticket }, |recalled| DiskReply::Recalled {
                    ticket,
                    recalled,
                })
            }
        }
    }

    fn answer<T>(
        &mut self,
        result: Result<T, StoreError>,
        failed: DiskReply,
        done: impl Fn(T) -> DiskReply,
    ) -> DiskReply {
        match result {
            Ok(value) => done(value),
            Err(error) => {
                self.note(error);
                failed
            }
        }
    }

    /// Keeps the first error: those that follow only say that the log is poisoned.
    fn note(&mut self, error: StoreError) {
        if error != StoreError::Poisoned {
            self.failure = Some(error);
        }
    }

    /// The reason of the last request that [`serve`](Self::serve) answered with `Failed`.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// The number that the next record gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn schema(&self) -> u64 {
        self.schema
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.health == LogHealth::Poisoned
    }

    /// The medium on which the log lies.
    pub fn media(&self) -> &M {
        &self.media
    }

    /// The medium, for tests and simulators that damage it.
    pub fn media_mut(&mut self) -> &mut M {
        &mut self.media
    }

    /// Closes the log and gives its medium back.
    pub fn into_media(self) -> M {
        self.media
    }

    /// Appends records and syncs them. `first` must be [`next`](Self::next). If this fails, a first part
    /// of the records may be there when the log is opened again.
    pub fn append(&mut self, first: u64, records: &[Vec<u8>]) -> Result<(), StoreError> {
        self.check_writable()?;
        check_append(self.next, first, records)?;
        if records.is_empty() {
            return Ok(()); // Everything before is durable already.
        }
        let result = self.write_records(records);
        self.settle(result)
    }

    fn write_records(&mut self, records: &[Vec<u8>]) -> Result<(), StoreError> {
        // Why a limit: opening reads and rewrites the last segment as a whole.
        let is_new = self.segments.is_empty() || self.limits.segment_bytes <= self.tail_bytes;
        self.buffer.clear();
        if is_new {
            format::put_segment_header(&mut self.buffer, self.next, self.schema);
            self.media.create(&format::segment_name(self.next))?;
            self.segments.push(self.next);
            self.tail_bytes = 0;
        }
        for (index, record) in (self.next..).zip(records) {
            format::put_record(&mut self.buffer, index, record);
        }
        let name = self.tail_name();
        // One write and one sync for all records of the batch.
        self.media.append(&name, &self.buffer)?;
        self.media.sync(&name)?;
        if is_new {
            self.media.sync_names()?;
        }
        self.tail_bytes += self.buffer.len() as u64;
        self.next += records.len() as u64;
        Ok(())
    }

    /// Deletes the records from this number on, and syncs. If this fails, any of them may be back when
    /// the log is opened again, but never one without those before it.
    pub fn cut(&mut self, from: u64) -> Result<(), StoreError> {
        self.check_writable()?;
        let snapshot = self.base();
        if from <= snapshot {
            return Err(StoreError::CutInSnapshot { from, snapshot });
        }
        // Nothing to delete: no write, so that nothing can fail.
        if self.next <= from {
            return Ok(());
        }
        let result = self.forget_from(from);
        self.settle(result)
    }

    fn forget_from(&mut self, from: u64) -> Result<(), StoreError> {
        // From the end, so that a crash half-way leaves no gap.
        while let Some(&first) = self.segments.last().filter(|&&first| from <= first) {
            self.media.remove(&format::segment_name(first))?;
            self.segments.pop();
        }
        self.media.sync_names()?;
        if let Some(&first) = self.segments.last() {
            self.cut_tail(first, from)?;
        }
        self.next = from;
        Ok(())
    }

    fn cut_tail(&mut self, first: u64, from: u64) -> Result<(), StoreError> {
        let name = format::segment_name(first);
        let file = self.media.read(&name)?;
        let length = offset_of(&name, first, &file, from)?;
        let length = length.ok_or_else(|| StoreError::Damaged { file: name.clone() })?;
        self.media.truncate(&name, length)?;
        self.media.sync(&name)?;
        self.tail_bytes = length;
        Ok(())
    }

    /// Stores a snapshot that covers every record up to `index`, in place of the older one, and
    /// deletes those records. A log that does not reach so far is emptied and goes on after `index`. If this
    /// fails, either the old or the new snapshot is there when the log is opened again.
    pub fn keep(&mut self, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.check_keep(index, snapshot)?;
        let result = self.replace_snapshot(index, snapshot);
        self.settle(result)
    }

    fn check_keep(&self, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        let kept = self.base();
        if INDEX_MAX < index {
            return Err(StoreError::IndexTooHigh(index));
        }
        match self.health {
            LogHealth::Poisoned => return Err(StoreError::Poisoned),
            // Why refused: records of the old schema would be left after the new snapshot.
            LogHealth::Unmigrated(_) if index + 1 < self.next => self.check_writable()?,
            LogHealth::Unmigrated(_) | LogHealth::Sound => (),
        }
        if index < kept {
            return Err(StoreError::OldSnapshot { index, snapshot: kept });
        }
        if SNAPSHOT_MAX < snapshot.len() {
            return Err(StoreError::SnapshotTooLong(snapshot.len()));
        }
        Ok(())
    }

    fn write_snapshot(&mut self, name: &str, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.buffer.clear();
        format::put_snapshot_header(&mut self.buffer, index, self.schema, snapshot);
        write_whole(&mut self.media, name, &[&self.buffer, snapshot])?;
        // Only now may the replaced files go. If a crash loses the removals, opening repeats them.
        Ok(self.media.sync_names()?)
    }

    fn replace_snapshot(&mut self, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.write_snapshot(&format::snapshot_name(index), index, snapshot)?;
        if let Some(old) = self.snapshot.replace(index).filter(|&old| old != index) {
            self.media.remove(&format::snapshot_name(old))?;
        }
        self.forget_covered(index)?;
        // A snapshot from another replica may lie ahead of this log.
        self.next = self.next.max(index + 1);
        self.health = LogHealth::Sound;
        Ok(())
    }

    fn forget_covered(&mut self, index: u64) -> Result<(), StoreError> {
        while let Some(&first) = self.segments.first() {
            // A segment that reaches beyond the snapshot stays as a whole; opening skips its covered records.
            let end = self.segments.get(1).copied().unwrap_or(self.next);
            if index + 1 < end {
                break;
            }
            self.media.remove(&format::segment_name(first))?;
            self.segments.remove(0);
        }
        Ok(())
    }

    /// Forgets everything and holds exactly this snapshot, which may be older than the stored one. The log goes on after
    /// `index`. If this fails, either the old contents or the new snapshot alone are there when the log is opened again.
    pub fn replace(&mut self, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.check_writable()?;
        if INDEX_MAX < index {
            return Err(StoreError::IndexTooHigh(index));
        }
        if SNAPSHOT_MAX < snapshot.len() {
            return Err(StoreError::SnapshotTooLong(snapshot.len()));
        }
        let result = self.replace_all(index, snapshot);
        self.settle(result)
    }

    fn replace_all(&mut self, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        // Why another name: an older snapshot stands for everything only under this one, until the others are gone.
        self.write_snapshot(&format::replacement_name(index), index, snapshot)?;
        for first in std::mem::take(&mut self.segments) {
            self.media.remove(&format::segment_name(first))?;
        }
        if let Some(old) = self.snapshot.replace(index) {
            self.media.remove(&format::snapshot_name(old))?;
        }
        self.media.sync_names()?;
        finish_replacement(&mut self.media, index)?;
        (self.next, self.tail_bytes) = (index + 1, 0);
        Ok(())
    }

    /// Reads the log's contents back from the disk.
    pub fn recall(&mut self) -> Result<DiskContents, StoreError> {
        if self.health == LogHealth::Poisoned {
            return Err(StoreError::Poisoned);
        }
        // Why a new scan: it checks every checksum again, so that damage since the opening is found.
        let scan = scan(&self.media)?;
        let is_whole = scan.base() == self.base() && scan.base() + 1 + scan.records.len() as u64 == self.next;
        if is_whole {
            return Ok(recalled(scan));
        }
        let file = scan.dropped.first().map_or_else(|| self.tail_name(), |dropped| dropped.file.clone());
        // Poisoned, too: the disk has lost acknowledged records.
        self.settle(Err(StoreError::Damaged { file }))
    }

    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        match self.health {
            LogHealth::Sound => Ok(()),
            LogHealth::Unmigrated(found) => Err(StoreError::Schema { found, expected: self.schema }),
            LogHealth::Poisoned => Err(StoreError::Poisoned),
        }
    }

    /// Poisons the log after a failed change: the contents of the disk are unknown.
    fn settle<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if result.is_err() {
            self.health = LogHealth::Poisoned;
        }
        result
    }

    /// The last record that the snapshot covers; 0 without one.
    pub(crate) fn base(&self) -> u64 {
        self.snapshot.unwrap_or(0)
    }

    fn tail_name(&self) -> String {
        format::segment_name(self.segments.last().copied().unwrap_or(self.next))
    }
}

pub(crate) fn check_append(next: u64, first: u64, records: &[Vec<u8>]) -> Result<(), StoreError> {
    if first != next {
        return Err(StoreError::NotNext { expected: next, found: first });
    }
    let last = first.saturating_add(records.len() as u64);
    if INDEX_MAX < last {
        return Err(StoreError::IndexTooHigh(last));
    }
    if let Some(record) = records.iter().find(|record| RECORD_MAX < record.len()) {
        return Err(StoreError::RecordTooLong(record.len()));
    }
    let bytes = records.iter().map(|record| RECORD_HEADER + record.len()).sum::<usize>() + SEGMENT_HEADER;
    if APPEND_MAX < bytes { Err(StoreError::AppendTooLong(bytes)) } else { Ok(()) }
}

fn recalled(scan: Scan) -> DiskContents {
    let first = scan.base() + 1;
    let snapshot = scan.snapshot.map(|snapshot| (snapshot.index, snapshot.payload));
    DiskContents { snapshot, first, records: scan.records }
}

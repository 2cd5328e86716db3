//! The log: numbered records and at most one snapshot, on a medium.
//!
//! A call that returns `Ok` has made its change durable. One that fails may or may not have; from then on
//! the log is poisoned and refuses everything, because a sync that failed cannot be repeated. What
//! the disk really holds is found by opening it again.

use crate::config::{APPEND_MAX, INDEX_MAX, Limits, RECORD_MAX, SNAPSHOT_MAX};
use crate::format::{self, RECORD_HEADER, SEGMENT_HEADER};
use crate::mend::{mend, write_whole};
use crate::scan::{Scan, offset_of, scan};
use crate::{Media, Recovery, StoreError};
use machine::disk::{Done, Recalled, Request};

/// One machine's log. Requests are carried out one after the other, each durable when it returns.
#[derive(Debug)]
pub struct Log<M> {
    media: M,
    limits: Limits,
    schema: u64,
    health: Health,
    /// The last record that the snapshot stands for.
    snapshot: Option<u64>,
    /// The segments by their first record, in order. The records in them reach up to `next`.
    segments: Vec<u64>,
    /// How long the last segment is, in bytes.
    tail_bytes: u64,
    /// The number of the next record.
    next: u64,
    /// Why the last request that failed did.
    failure: Option<StoreError>,
    /// What is being written; kept to be reused.
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Sound,
    /// All that is kept has this other schema, until a snapshot replaces it.
    Unmigrated(u64),
    /// A change failed half-way.
    Poisoned,
}

/// What a log held when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The snapshot and the records after it, all durable.
    pub recalled: Recalled,
    /// The schema they were written with; `None` if there is nothing.
    pub schema: Option<u64>,
    /// What could not be used.
    pub recovery: Recovery,
}

impl<M: Media> Log<M> {
    /// Opens the log on a medium, mends what a crash left, and gives back what it holds. A disk that
    /// is refused is left as it was, except by [`StoreError::Media`].
    ///
    /// `schema` names the shape of the records and the snapshot; what is kept must have the same.
    pub fn open(media: M, schema: u64, limits: Limits) -> Result<(Self, Opened), StoreError> {
        let scan = scan(&media)?;
        match scan.schemas().into_iter().find(|&found| found != schema) {
            Some(found) => Err(StoreError::Schema { found, expected: schema }),
            None => Self::start(media, schema, limits, scan),
        }
    }

    /// Like [`open`](Self::open), but takes what is kept in whatever schema it has; [`Opened::schema`]
    /// says which. If it is another one, the log takes nothing but a snapshot (in `schema`, brought along
    /// by the caller) that stands for every record there is; then it is like any other. A crash before
    /// that snapshot is durable leaves the old state, a crash after it the new one.
    pub fn open_to_migrate(media: M, schema: u64, limits: Limits) -> Result<(Self, Opened), StoreError> {
        let scan = scan(&media)?;
        match scan.schemas()[..] {
            [expected, found, ..] => Err(StoreError::Schema { found, expected }),
            _ => Self::start(media, schema, limits, scan),
        }
    }

    fn start(mut media: M, schema: u64, limits: Limits, scan: Scan) -> Result<(Self, Opened), StoreError> {
        let aside = mend(&mut media, &scan)?;
        let found = scan.schemas().first().copied();
        let log = Self {
            media,
            limits,
            schema,
            health: found.filter(|&found| found != schema).map_or(Health::Sound, Health::Unmigrated),
            snapshot: scan.snapshot.as_ref().map(|snapshot| snapshot.index),
            segments: scan.segments.iter().map(|segment| segment.first).collect(),
            tail_bytes: scan.segments.last().map_or(0, |segment| segment.length),
            next: scan.base() + 1 + scan.records.len() as u64,
            failure: None,
            buffer: Vec::new(),
        };
        let recovery = Recovery { dropped: scan.dropped.clone(), aside };
        Ok((log, Opened { recalled: recalled(scan), schema: found, recovery }))
    }

    /// Carries out a machine's request. Why one failed, [`failure`](Self::failure) says.
    pub fn serve(&mut self, request: Request) -> Done {
        match request {
            Request::Append { ticket, first, records } => {
                let result = self.append(first, &records);
                self.answer(result, Done::Failed { ticket }, |()| Done::Persisted { ticket })
            }
            Request::Cut { ticket, from } => {
                let result = self.cut(from);
                self.answer(result, Done::Failed { ticket }, |()| Done::Persisted { ticket })
            }
            Request::Keep { ticket, index, snapshot } => {
                let result = self.keep(index, &snapshot);
                self.answer(result, Done::Failed { ticket }, |()| Done::Persisted { ticket })
            }
            Request::Recall { ticket } => {
                let result = self.recall();
                self.answer(result, Done::Failed { ticket }, |recalled| Done::Recalled { ticket, recalled })
            }
        }
    }

    fn answer<T>(&mut self, result: Result<T, StoreError>, failed: Done, done: impl Fn(T) -> Done) -> Done {
        match result {
            Ok(value) => done(value),
            Err(error) => {
                self.note(error);
                failed
            }
        }
    }

    /// The first error counts: those that follow only say that the log is poisoned.
    fn note(&mut self, error: StoreError) {
        if error != StoreError::Poisoned {
            self.failure = Some(error);
        }
    }

    /// Why the last request that [`serve`](Self::serve) answered with `Failed` did fail.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// The number that the next record gets.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// What the log lies on.
    pub fn media(&self) -> &M {
        &self.media
    }

    /// What the log lies on, to do it harm. Changing the files of a log is for tests and simulators.
    pub fn media_mut(&mut self) -> &mut M {
        &mut self.media
    }

    /// Closes the log and gives its medium back.
    pub fn into_media(self) -> M {
        self.media
    }

    /// Appends records and syncs them. `first` must be [`next`](Self::next). If this fails, a beginning
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
        self.media.append(&name, &self.buffer)?;
        self.media.sync(&name)?;
        if is_new {
            self.media.sync_names()?;
        }
        self.tail_bytes += self.buffer.len() as u64;
        self.next += records.len() as u64;
        Ok(())
    }

    /// Forgets the records from this number on, and syncs. If this fails, any of them may be back when
    /// the log is opened again, but never one without those before it.
    pub fn cut(&mut self, from: u64) -> Result<(), StoreError> {
        self.check_writable()?;
        let snapshot = self.base();
        if from <= snapshot {
            return Err(StoreError::CutInSnapshot { from, snapshot });
        }
        if self.next <= from {
            return Ok(());
        }
        let result = self.forget_from(from);
        self.settle(result)
    }

    fn forget_from(&mut self, from: u64) -> Result<(), StoreError> {
        // From the end, so that what a crash leaves of this has no gap.
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

    /// Keeps a snapshot that stands for every record up to `index`, in place of the older one, and
    /// forgets those records. A log that does not reach so far is emptied and goes on after `index`. If this
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
            Health::Poisoned => return Err(StoreError::Poisoned),
            // Records of the old schema would be left behind it.
            Health::Unmigrated(_) if index + 1 < self.next => self.check_writable()?,
            Health::Unmigrated(_) | Health::Sound => (),
        }
        if index < kept {
            return Err(StoreError::OldSnapshot { index, snapshot: kept });
        }
        if SNAPSHOT_MAX < snapshot.len() {
            return Err(StoreError::SnapshotTooLong(snapshot.len()));
        }
        Ok(())
    }

    fn replace_snapshot(&mut self, index: u64, snapshot: &[u8]) -> Result<(), StoreError> {
        self.buffer.clear();
        format::put_snapshot_header(&mut self.buffer, index, self.schema, snapshot);
        write_whole(&mut self.media, &format::snapshot_name(index), &[&self.buffer, snapshot])?;
        // Only now may what it replaces go. If the removals are lost in a crash, opening repeats them.
        self.media.sync_names()?;
        if let Some(old) = self.snapshot.replace(index).filter(|&old| old != index) {
            self.media.remove(&format::snapshot_name(old))?;
        }
        self.forget_covered(index)?;
        self.next = self.next.max(index + 1);
        self.health = Health::Sound;
        Ok(())
    }

    fn forget_covered(&mut self, index: u64) -> Result<(), StoreError> {
        while let Some(&first) = self.segments.first() {
            let end = self.segments.get(1).copied().unwrap_or(self.next);
            if index + 1 < end {
                break;
            }
            self.media.remove(&format::segment_name(first))?;
            self.segments.remove(0);
        }
        Ok(())
    }

    /// Reads back what the log holds.
    pub fn recall(&mut self) -> Result<Recalled, StoreError> {
        if self.health == Health::Poisoned {
            return Err(StoreError::Poisoned);
        }
        let scan = scan(&self.media)?;
        let is_whole = scan.base() == self.base() && scan.base() + 1 + scan.records.len() as u64 == self.next;
        if is_whole {
            return Ok(recalled(scan));
        }
        let file = scan.dropped.first().map_or_else(|| self.tail_name(), |dropped| dropped.file.clone());
        self.settle(Err(StoreError::Damaged { file }))
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        match self.health {
            Health::Sound => Ok(()),
            Health::Unmigrated(found) => Err(StoreError::Schema { found, expected: self.schema }),
            Health::Poisoned => Err(StoreError::Poisoned),
        }
    }

    /// After a failed change nobody knows what the disk holds.
    fn settle<T>(&mut self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        if result.is_err() {
            self.health = Health::Poisoned;
        }
        result
    }

    /// The last record that the snapshot stands for; 0 without one.
    fn base(&self) -> u64 {
        self.snapshot.unwrap_or(0)
    }

    fn tail_name(&self) -> String {
        format::segment_name(self.segments.last().copied().unwrap_or(self.next))
    }
}

fn check_append(next: u64, first: u64, records: &[Vec<u8>]) -> Result<(), StoreError> {
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

fn recalled(scan: Scan) -> Recalled {
    let first = scan.base() + 1;
    let snapshot = scan.snapshot.map(|snapshot| (snapshot.index, snapshot.payload));
    Recalled { snapshot, first, records: scan.records }
}

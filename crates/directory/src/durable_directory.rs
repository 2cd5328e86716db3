//! The directory on a disk: no swap is answered before it is durable, and the clock never outruns its mark.
//!
//! Opening it again gives every swap that was answered, and perhaps one more that was not.
//!
//! When the disk fails, everything is answered `Unknown` until the directory is opened again, reads too.
//! The last swap may or may not be found then, so answering reads from the state before it would be dangerous:
//! a backup that asked for its promotion, got `Unknown`, and then read that it is still the backup, resumes
//! acknowledging its primary; if the next opening finds the promotion on the disk, there are two primaries.

use crate::change::{self, DirectoryChange};
use crate::config::SNAPSHOT_EVERY;
use crate::directory::{Directory, SwapError};
use machine::directory::{DirectoryReply, DirectoryRequest, DirectoryWrite};
use machine::{Ticket, Time};
use store::{Log, LogLimits, Media, Recovery, StoreError};
use thiserror::Error;
use wire::DecodeError;

/// Names the shape of the records and snapshots of this crate.
const SCHEMA: u64 = u64::from_le_bytes(*b"ECUMDIR1");

/// A directory whose swaps survive a crash.
#[derive(Debug)]
pub struct DurableDirectory<M> {
    log: Log<M>,
    directory: Directory,
    settings: DirectorySettings,
    changes_since_snapshot: u64,
    failure: Option<StoreError>,
}

/// Settings of a durable directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectorySettings {
    /// The number of changes after which a snapshot replaces the log.
    pub snapshot_every: u64,
    /// The limits of the log on which it lies.
    pub limits: LogLimits,
}

impl Default for DirectorySettings {
    fn default() -> Self {
        Self { snapshot_every: SNAPSHOT_EVERY, limits: LogLimits::default() }
    }
}

/// The reason why a directory could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DirectoryOpenError {
    /// The store did not open.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk lost swaps that were answered. Going on could make two primaries of one zone, or two owners.
    #[error(
        "the directory's disk lost what it had promised to keep ({0}). Stop every host first; then remove the \
         files set aside to go on with what is left, or restore the folder from a copy"
    )]
    Damaged(Recovery),
    /// A record or the snapshot is undamaged, but cannot be decoded.
    #[error("record {index} of the directory makes no sense ({reason}): was it written by another program?")]
    Senseless {
        /// The record's number; for a snapshot, the number of the last record that it covers.
        index: u64,
        /// The reason why it was refused.
        reason: DecodeError,
    },
}

impl<M: Media> DurableDirectory<M> {
    /// Opens the directory on a medium. Its clock goes on from the durable mark, which no earlier answer has passed.
    pub fn open(media: M, now: Time, settings: DirectorySettings) -> Result<Self, DirectoryOpenError> {
        let (log, opened) = Log::open(media, SCHEMA, settings.limits)?;
        // Files set aside by an earlier opening count as well: an operator must have looked at them and removed them.
        if opened.recovery.is_damaged() || !opened.recovery.aside.is_empty() {
            return Err(DirectoryOpenError::Damaged(opened.recovery));
        }
        let recalled = opened.recalled;
        let changes_since_snapshot = recalled.records.len() as u64;
        let mut directory = match recalled.snapshot {
            None => Directory::default(),
            Some((index, bytes)) => {
                change::decode(&bytes).map_err(|reason| DirectoryOpenError::Senseless { index, reason })?
            }
        };
        for (index, bytes) in (recalled.first..).zip(recalled.records) {
            replay(&mut directory, &bytes)
                .map_err(|reason| DirectoryOpenError::Senseless { index, reason })?;
        }
        // Only after the replay, which may raise the mark from which the clock goes on.
        directory.clock.resume(now);
        Ok(Self { log, directory, settings, changes_since_snapshot, failure: None })
    }

    /// Answers one request of a machine.
    pub fn serve(&mut self, now: Time, request: DirectoryRequest) -> DirectoryReply {
        if self.failure.is_some() {
            return DirectoryReply::Unknown { ticket: ticket_of(&request) };
        }
        match request {
            // Reads change nothing, so memory answers them.
            DirectoryRequest::Read { .. } => self.directory.serve(now, request),
            DirectoryRequest::Swap { ticket, writes } => self.on_swap(ticket, &writes),
            DirectoryRequest::Clock { ticket } => self.on_clock(now, ticket),
        }
    }

    fn on_swap(&mut self, ticket: Ticket, writes: &[DirectoryWrite]) -> DirectoryReply {
        let won = match self.directory.decide(writes) {
            // A swap of nothing needs no record: there is nothing to lose.
            Ok(None) => true,
            Ok(Some(change)) => self.commit(change),
            Err(error) => return self.lost(ticket, writes, error),
        };
        let revision = self.directory.revision();
        if won { DirectoryReply::Won { ticket, revision } } else { DirectoryReply::Unknown { ticket } }
    }

    fn lost(&mut self, ticket: Ticket, writes: &[DirectoryWrite], error: SwapError) -> DirectoryReply {
        DirectoryReply::Lost { ticket, entries: self.directory.on_lost(writes, error) }
    }

    fn on_clock(&mut self, now: Time, ticket: Ticket) -> DirectoryReply {
        let time = self.directory.time(now);
        // Why the mark first: after a crash the clock must not fall behind an answer.
        let is_safe = match self.directory.clock.mark_for(time) {
            None => true,
            Some(mark) => self.commit(DirectoryChange::Mark(mark)),
        };
        if is_safe { DirectoryReply::Clock { ticket, time } } else { DirectoryReply::Unknown { ticket } }
    }

    /// Makes a change durable, then applies it. False if the disk failed: then the change may or may not be durable.
    fn commit(&mut self, change: DirectoryChange) -> bool {
        // Why first: a change that is applied before it is durable could be read and then be lost.
        if let Err(error) = self.log.append(self.log.next(), &[change.encode()]) {
            self.failure = Some(error);
            return false;
        }
        self.directory.apply(change);
        self.changes_since_snapshot += 1;
        if self.settings.snapshot_every <= self.changes_since_snapshot {
            self.snapshot();
        }
        true
    }

    /// Replaces the log by a snapshot. One that fails does not undo the change before it: that change is answered as
    /// done, later requests as unknown.
    fn snapshot(&mut self) {
        let last = self.log.next() - 1;
        self.failure = self.log.keep(last, &change::encode(&self.directory)).err();
        self.changes_since_snapshot = 0;
    }

    /// The disk's failure, after which every answer is `Unknown`.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// The directory that answers come from. After a failure it may lack the last swap.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// The medium, for tests and simulators that damage it.
    pub fn media_mut(&mut self) -> &mut M {
        self.log.media_mut()
    }

    /// Closes the directory and gives its medium back, to be opened again.
    pub fn into_media(self) -> M {
        self.log.into_media()
    }
}

fn replay(directory: &mut Directory, bytes: &[u8]) -> Result<(), DecodeError> {
    let change = DirectoryChange::decode(bytes)?;
    match &change {
        // Why checked: `apply` panics over a wrong revision, and bytes on a disk must not cause a panic.
        DirectoryChange::Swap { revision, .. } if directory.revision.checked_add(1) != Some(*revision) => {
            Err(DecodeError::OutOfRange("the next revision"))
        }
        DirectoryChange::Swap { .. } | DirectoryChange::Mark(_) => {
            directory.apply(change);
            Ok(())
        }
    }
}

fn ticket_of(request: &DirectoryRequest) -> Ticket {
    match *request {
        DirectoryRequest::Read { ticket, .. }
        | DirectoryRequest::Swap { ticket, .. }
        | DirectoryRequest::Clock { ticket } => ticket,
    }
}

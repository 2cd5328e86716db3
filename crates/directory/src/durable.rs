//! The directory on a disk: no swap is answered before it is durable, and the clock never outruns its mark.
//!
//! Opening it again gives every swap that was answered, and perhaps one more that was not.
//!
//! When the disk fails, everything is answered `Unknown` until the directory is opened again, reads too.
//! The last swap may or may not be found then, so to answer reads from the state before it would be a lie
//! with consequences: a backup that asked for its promotion, got `Unknown`, and then read that it is
//! still the backup, resumes acknowledging its primary; if the next opening finds the promotion on the
//! disk, there are two.

use crate::change::{self, Change};
use crate::config::SNAPSHOT_EVERY;
use crate::directory::{Directory, SwapError};
use machine::directory::{Done, Request, Write};
use machine::{Ticket, Time};
use store::{Limits, Log, Media, Recovery, StoreError};
use thiserror::Error;
use wire::DecodeError;

/// Names the shape of the records and snapshots of this crate.
const SCHEMA: u64 = u64::from_le_bytes(*b"ECUMDIR1");

/// A directory on a disk.
#[derive(Debug)]
pub struct Durable<M> {
    log: Log<M>,
    directory: Directory,
    settings: Settings,
    changes_since_snapshot: u64,
    failure: Option<StoreError>,
}

/// What a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// After so many changes a snapshot takes the place of the log.
    pub snapshot_every: u64,
    /// The log's own limits.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self { snapshot_every: SNAPSHOT_EVERY, limits: Limits::default() }
    }
}

/// Why a directory could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The store did not open.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk lost swaps that were answered. Going on could make two of one: two primaries, two owners.
    #[error(
        "the directory's disk lost what it had promised to keep ({0}). Stop every host first; then remove the \
         files set aside to go on with what is left, or restore the folder from a copy"
    )]
    Damaged(Recovery),
    /// A record or the snapshot is whole, but makes no sense.
    #[error("record {index} of the directory makes no sense ({reason}): was it written by another program?")]
    Senseless {
        /// Its number; that of the last record it stands for, if it is the snapshot.
        index: u64,
        /// What is wrong with it.
        reason: DecodeError,
    },
}

impl<M: Media> Durable<M> {
    /// Opens the directory on a medium. Its clock goes on from where no earlier answer has been.
    pub fn open(media: M, now: Time, settings: Settings) -> Result<Self, OpenError> {
        let (log, opened) = Log::open(media, SCHEMA, settings.limits)?;
        // Files set aside by an earlier opening count as well: only who has looked at them may remove them.
        if opened.recovery.is_damaged() || !opened.recovery.aside.is_empty() {
            return Err(OpenError::Damaged(opened.recovery));
        }
        let recalled = opened.recalled;
        let changes_since_snapshot = recalled.records.len() as u64;
        let mut directory = match recalled.snapshot {
            None => Directory::default(),
            Some((index, bytes)) => {
                change::decode(&bytes).map_err(|reason| OpenError::Senseless { index, reason })?
            }
        };
        for (index, bytes) in (recalled.first..).zip(recalled.records) {
            replay(&mut directory, &bytes).map_err(|reason| OpenError::Senseless { index, reason })?;
        }
        directory.clock.resume(now);
        Ok(Self { log, directory, settings, changes_since_snapshot, failure: None })
    }

    /// Answers a request.
    pub fn serve(&mut self, now: Time, request: Request) -> Done {
        if self.failure.is_some() {
            return Done::Unknown { ticket: ticket_of(&request) };
        }
        match request {
            Request::Read { .. } => self.directory.serve(now, request),
            Request::Swap { ticket, writes } => self.on_swap(ticket, &writes),
            Request::Clock { ticket } => self.on_clock(now, ticket),
        }
    }

    fn on_swap(&mut self, ticket: Ticket, writes: &[Write]) -> Done {
        let won = match self.directory.judge(writes) {
            Ok(None) => true,
            Ok(Some(change)) => self.commit(change),
            Err(error) => return self.lost(ticket, writes, error),
        };
        let revision = self.directory.revision();
        if won { Done::Won { ticket, revision } } else { Done::Unknown { ticket } }
    }

    fn lost(&mut self, ticket: Ticket, writes: &[Write], error: SwapError) -> Done {
        Done::Lost { ticket, entries: self.directory.on_lost(writes, error) }
    }

    fn on_clock(&mut self, now: Time, ticket: Ticket) -> Done {
        let time = self.directory.time(now);
        let is_safe = match self.directory.clock.mark_for(time) {
            None => true,
            Some(mark) => self.commit(Change::Mark(mark)),
        };
        if is_safe { Done::Clock { ticket, time } } else { Done::Unknown { ticket } }
    }

    /// Makes a change durable, then makes it. False if nobody knows whether it is durable.
    fn commit(&mut self, change: Change) -> bool {
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

    /// A snapshot that fails does not undo the change before it: that one is answered, the next is not.
    fn snapshot(&mut self) {
        let last = self.log.next() - 1;
        self.failure = self.log.keep(last, &change::encode(&self.directory)).err();
        self.changes_since_snapshot = 0;
    }

    /// Why nothing but `Unknown` is answered, if so.
    pub fn failure(&self) -> Option<&StoreError> {
        self.failure.as_ref()
    }

    /// What is answered from. After a failure it may lack the last swap.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// What it lies on, to do it harm: for tests and simulators.
    pub fn media_mut(&mut self) -> &mut M {
        self.log.media_mut()
    }

    /// Closes the directory and gives its medium back, to be opened again.
    pub fn into_media(self) -> M {
        self.log.into_media()
    }
}

fn replay(directory: &mut Directory, bytes: &[u8]) -> Result<(), DecodeError> {
    let change = Change::decode(bytes)?;
    match &change {
        Change::Swap { revision, .. } if directory.revision.checked_add(1) != Some(*revision) => {
            Err(DecodeError::OutOfRange("the next revision"))
        }
        Change::Swap { .. } | Change::Mark(_) => {
            directory.apply(change);
            Ok(())
        }
    }
}

fn ticket_of(request: &Request) -> Ticket {
    match *request {
        Request::Read { ticket, .. } | Request::Swap { ticket, .. } | Request::Clock { ticket } => ticket,
    }
}

//! The directory as a value: keys with revisions, swaps that happen whole or not at all, and the world's
//! clock.
//!
//! One counter gives every swap its revision, so a key that was removed and written again never has a
//! revision it had before. Nothing here is durable; [`Durable`](crate::Durable) makes it so.

use crate::change::{Change, Written};
use crate::clock::Clock;
use crate::config::{KEY_MAX, KEYS_MAX, REQUEST_KEYS_MAX, VALUE_MAX};
use machine::Time;
use machine::directory::{Done, Entry, Key, Request, Revision, Write};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Keys, their revisions, and a clock.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// The revision of the last swap; 0 before the first.
    pub(crate) revision: u64,
    pub(crate) held: BTreeMap<Key, Held>,
    pub(crate) clock: Clock,
    refusals: u64,
    last_refusal: Option<Refusal>,
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub revision: u64,
    pub value: Vec<u8>,
}

/// Why a swap did not happen. It never will.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SwapError {
    /// A key had another revision than expected.
    #[error("a key has another revision than expected")]
    Lost(
        /// The keys as they are, in the order of the writes.
        Vec<Entry>,
    ),
    /// It breaks a limit.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A request that the directory does not take, whatever it holds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Too many keys in one request.
    #[error("a request names {0} keys, the limit is {REQUEST_KEYS_MAX}: ask in parts")]
    TooManyInRequest(usize),
    /// A key is too long.
    #[error("a key of {0} bytes is too long, the limit is {KEY_MAX}")]
    KeyTooLong(usize),
    /// A value is too long.
    #[error(
        "a value of {0} bytes is too long, the limit is {VALUE_MAX}: keep it elsewhere, and a name for it here"
    )]
    ValueTooLong(usize),
    /// One swap writes a key twice, and so cannot say what it shall hold.
    #[error("one swap writes the key {} twice", .0.0)]
    Twice(Key),
    /// The directory would hold too many keys.
    #[error("the directory would hold {0} keys, the limit is {KEYS_MAX}: remove what is no longer served")]
    TooManyKeys(usize),
}

impl Directory {
    /// An empty directory. Its clock shows zero at `now`.
    pub fn new(now: Time) -> Self {
        let mut directory = Self::default();
        directory.clock.resume(now);
        directory
    }

    /// Answers a request. A swap beyond a limit is lost, since it never happens, and a read beyond a limit
    /// stays unknown; both are counted in [`refusals`](Self::refusals).
    pub fn serve(&mut self, now: Time, request: Request) -> Done {
        match request {
            Request::Read { ticket, keys } => match self.read(&keys) {
                Ok(entries) => Done::Read { ticket, entries },
                Err(refusal) => {
                    self.count(refusal);
                    Done::Unknown { ticket }
                }
            },
            Request::Swap { ticket, writes } => match self.swap(&writes) {
                Ok(revision) => Done::Won { ticket, revision },
                Err(error) => Done::Lost { ticket, entries: self.on_lost(&writes, error) },
            },
            Request::Clock { ticket } => Done::Clock { ticket, time: self.time(now) },
        }
    }

    /// The keys as they are, in the order asked for, at one revision.
    pub fn read(&self, keys: &[Key]) -> Result<Vec<Entry>, Refusal> {
        check_count(keys.len())?;
        Ok(keys.iter().map(|key| self.entry(key)).collect())
    }

    /// Writes all or nothing: all, if every key has its expected revision. A swap of nothing has the
    /// revision of the last one that wrote.
    pub fn swap(&mut self, writes: &[Write]) -> Result<Revision, SwapError> {
        if let Some(change) = self.judge(writes)? {
            self.apply(change);
        }
        Ok(self.revision())
    }

    /// The world's time. Never less than in any earlier answer.
    pub fn time(&mut self, now: Time) -> Time {
        self.clock.time(now)
    }

    /// The revision of the last swap that wrote.
    pub fn revision(&self) -> Revision {
        Revision(self.revision)
    }

    /// Every key there is, in order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.held.keys().map(|key| self.entry(key))
    }

    /// How many requests broke a limit, and the last that did.
    pub fn refusals(&self) -> (u64, Option<&Refusal>) {
        (self.refusals, self.last_refusal.as_ref())
    }

    /// Decides a swap without making it. `None` if there is nothing to write.
    pub(crate) fn judge(&self, writes: &[Write]) -> Result<Option<Change>, SwapError> {
        check_writes(writes)?;
        if writes.iter().any(|write| self.entry(&write.key).revision != write.expected) {
            return Err(SwapError::Lost(self.entries_of(writes)));
        }
        self.check_room(writes)?;
        let written = |write: &Write| Written { key: write.key.clone(), value: write.value.clone() };
        let change =
            || Change::Swap { revision: self.revision + 1, writes: writes.iter().map(written).collect() };
        Ok((!writes.is_empty()).then(change))
    }

    /// Makes a change that was decided.
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Mark(mark) => self.clock.reserve(mark),
            Change::Swap { revision, writes } => {
                assert_eq!(revision, self.revision + 1, "swaps are made in the order they were decided in");
                self.revision = revision;
                writes.into_iter().for_each(|written| self.write(written));
            }
        }
    }

    fn write(&mut self, Written { key, value }: Written) {
        match value {
            Some(value) => self.held.insert(key, Held { revision: self.revision, value }),
            None => self.held.remove(&key),
        };
    }

    /// What to answer to a swap that did not happen.
    pub(crate) fn on_lost(&mut self, writes: &[Write], error: SwapError) -> Vec<Entry> {
        match error {
            SwapError::Lost(entries) => entries,
            SwapError::Refused(refusal) => {
                self.count(refusal);
                self.entries_of(writes)
            }
        }
    }

    fn count(&mut self, refusal: Refusal) {
        self.refusals += 1;
        self.last_refusal = Some(refusal);
    }

    fn check_room(&self, writes: &[Write]) -> Result<(), Refusal> {
        let is_held = |write: &&Write| self.held.contains_key(&write.key);
        let added = writes.iter().filter(|write| write.value.is_some() && !is_held(write)).count();
        let removed = writes.iter().filter(|write| write.value.is_none() && is_held(write)).count();
        let keys = self.held.len() + added - removed;
        // Whoever removes as much as it adds is welcome even at the limit.
        if KEYS_MAX < keys && removed < added { Err(Refusal::TooManyKeys(keys)) } else { Ok(()) }
    }

    fn entries_of(&self, writes: &[Write]) -> Vec<Entry> {
        writes.iter().map(|write| self.entry(&write.key)).collect()
    }

    fn entry(&self, key: &Key) -> Entry {
        let (revision, value) =
            self.held.get(key).map_or((0, Vec::new()), |held| (held.revision, held.value.clone()));
        Entry { key: key.clone(), revision: Revision(revision), value }
    }
}

fn check_count(keys: usize) -> Result<(), Refusal> {
    if REQUEST_KEYS_MAX < keys { Err(Refusal::TooManyInRequest(keys)) } else { Ok(()) }
}

fn check_writes(writes: &[Write]) -> Result<(), Refusal> {
    check_count(writes.len())?;
    let mut seen = BTreeSet::new();
    for Write { key, value, .. } in writes {
        let length = value.as_ref().map_or(0, Vec::len);
        if KEY_MAX < key.0.len() {
            return Err(Refusal::KeyTooLong(key.0.len()));
        }
        if VALUE_MAX < length {
            return Err(Refusal::ValueTooLong(length));
        }
        if !seen.insert(key) {
            return Err(Refusal::Twice(key.clone()));
        }
    }
    Ok(())
}

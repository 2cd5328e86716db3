//! The directory as a value: keys with revisions, swaps that happen as a whole or not at all, and the world's
//! clock.
//!
//! One counter gives every swap its revision, so a key that was removed and written again never has a
//! revision it had before. Nothing here is durable; [`DurableDirectory`](crate::DurableDirectory) is.

use crate::change::{DirectoryChange, KeyWrite};
use crate::clock::DirectoryClock;
use crate::config::{KEY_MAX, KEYS_MAX, REQUEST_KEYS_MAX, VALUE_MAX};
use machine::Time;
use machine::directory::{DirectoryEntry, DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Keys with their revisions and values, and the world's clock.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// The revision of the last swap; 0 before the first.
    pub(crate) revision: u64,
    pub(crate) held: BTreeMap<Key, StoredValue>,
    pub(crate) clock: DirectoryClock,
    refusals: u64,
    last_refusal: Option<DirectoryRefusal>,
}

/// The stored value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredValue {
    pub revision: u64,
    pub value: Vec<u8>,
}

/// The reason why a swap did not happen. It never will.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SwapError {
    /// A key had another revision than expected.
    #[error("a key has another revision than expected")]
    Lost(
        /// The keys as they are, in the order of the writes.
        Vec<DirectoryEntry>,
    ),
    /// The swap breaks a limit.
    #[error(transparent)]
    Refused(#[from] DirectoryRefusal),
}

/// The reason why the directory takes a request under no circumstances.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DirectoryRefusal {
    /// The request names too many keys.
    #[error("a request names {0} keys, the limit is {REQUEST_KEYS_MAX}: ask in parts")]
    TooManyInRequest(usize),
    /// The key is too long.
    #[error("a key of {0} bytes is too long, the limit is {KEY_MAX}")]
    KeyTooLong(usize),
    /// The value is too long.
    #[error(
        "a value of {0} bytes is too long, the limit is {VALUE_MAX}: keep it elsewhere, and a name for it here"
    )]
    ValueTooLong(usize),
    /// One swap writes a key twice, so its new value is ambiguous.
    #[error("one swap writes the key {} twice", .0.0)]
    Twice(Key),
    /// The directory would hold too many keys.
    #[error("the directory would hold {0} keys, the limit is {KEYS_MAX}: remove what is no longer served")]
    TooManyKeys(usize),
    /// The answer says only that the swap did not happen, and it lost no race.
    #[error("the directory refused it for a reason that the answer does not carry: its own log says which")]
    Unstated,
}

/// The refusal behind an answer to a swap: [`DirectoryReply::Lost`] stands for a lost race as well as for a refusal.
/// `None` if the swap happened, lost a race, or has an unknown outcome.
pub fn refusal_of(writes: &[DirectoryWrite], reply: &DirectoryReply) -> Option<DirectoryRefusal> {
    match reply {
        DirectoryReply::Lost { entries, .. } => {
            // After a lost race at least one key has another revision than expected.
            let is_race = !writes.iter().map(|it| it.expected).eq(entries.iter().map(|it| it.revision));
            check_writes(writes).err().or((!is_race).then_some(DirectoryRefusal::Unstated))
        }
        // A driver drops a request that is far too long before the directory can answer it.
        DirectoryReply::Unknown { .. } => check_writes(writes).err(),
        _ => None,
    }
}

impl Directory {
    /// An empty directory. Its clock shows zero at `now`.
    pub fn new(now: Time) -> Self {
        let mut directory = Self::default();
        directory.clock.resume(now);
        directory
    }

    /// Answers a request. A swap beyond a limit is `Lost`, since it never happens, and a read beyond a limit
    /// is `Unknown`; both are counted in [`refusals`](Self::refusals).
    pub fn serve(&mut self, now: Time, request: DirectoryRequest) -> DirectoryReply {
        match request {
            DirectoryRequest::Read { ticket, keys } => match self.read(&keys) {
                Ok(entries) => DirectoryReply::Read { ticket, entries },
                Err(refusal) => {
                    self.count(refusal);
                    // Why `Unknown`: a read has no reply that says "never".
                    DirectoryReply::Unknown { ticket }
                }
            },
            DirectoryRequest::Swap { ticket, writes } => match self.swap(&writes) {
                Ok(revision) => DirectoryReply::Won { ticket, revision },
                Err(error) => DirectoryReply::Lost { ticket, entries: self.on_lost(&writes, error) },
            },
            DirectoryRequest::Clock { ticket } => DirectoryReply::Clock { ticket, time: self.time(now) },
        }
    }

    /// The entries of these keys, in the given order, at one revision.
    pub fn read(&self, keys: &[Key]) -> Result<Vec<DirectoryEntry>, DirectoryRefusal> {
        check_count(keys.len())?;
        Ok(keys.iter().map(|key| self.entry(key)).collect())
    }

    /// Writes all or nothing: all, if every key has its expected revision. A swap of nothing has the
    /// revision of the last one that wrote.
    pub fn swap(&mut self, writes: &[DirectoryWrite]) -> Result<Revision, SwapError> {
        if let Some(change) = self.decide(writes)? {
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

    /// Every key in the directory, in order.
    pub fn entries(&self) -> impl Iterator<Item = DirectoryEntry> {
        self.held.keys().map(|key| self.entry(key))
    }

    /// The number of requests that broke a limit, and the last reason.
    pub fn refusals(&self) -> (u64, Option<&DirectoryRefusal>) {
        (self.refusals, self.last_refusal.as_ref())
    }

    /// Decides a swap without making it. `None` if there is nothing to write.
    pub(crate) fn decide(&self, writes: &[DirectoryWrite]) -> Result<Option<DirectoryChange>, SwapError> {
        check_writes(writes)?;
        if writes.iter().any(|write| self.entry(&write.key).revision != write.expected) {
            return Err(SwapError::Lost(self.entries_of(writes)));
        }
        // Why after the revisions: a caller with old revisions must learn the new ones, full directory or not.
        self.check_room(writes)?;
        let written =
            |write: &DirectoryWrite| KeyWrite { key: write.key.clone(), value: write.value.clone() };
        let change = || DirectoryChange::Swap {
            revision: self.revision + 1,
            writes: writes.iter().map(written).collect(),
        };
        Ok((!writes.is_empty()).then(change))
    }

    /// Makes a change that was decided before.
    pub(crate) fn apply(&mut self, change: DirectoryChange) {
        match change {
            DirectoryChange::Mark(mark) => self.clock.reserve(mark),
            DirectoryChange::Swap { revision, writes } => {
                assert_eq!(revision, self.revision + 1, "swaps are made in the order they were decided in");
                self.revision = revision;
                writes.into_iter().for_each(|written| self.write(written));
            }
        }
    }

    fn write(&mut self, KeyWrite { key, value }: KeyWrite) {
        match value {
            Some(value) => self.held.insert(key, StoredValue { revision: self.revision, value }),
            None => self.held.remove(&key),
        };
    }

    /// The entries with which to answer a swap that did not happen.
    pub(crate) fn on_lost(&mut self, writes: &[DirectoryWrite], error: SwapError) -> Vec<DirectoryEntry> {
        match error {
            SwapError::Lost(entries) => entries,
            SwapError::Refused(refusal) => {
                self.count(refusal);
                self.entries_of(writes)
            }
        }
    }

    fn count(&mut self, refusal: DirectoryRefusal) {
        self.refusals += 1;
        self.last_refusal = Some(refusal);
    }

    fn check_room(&self, writes: &[DirectoryWrite]) -> Result<(), DirectoryRefusal> {
        let is_held = |write: &&DirectoryWrite| self.held.contains_key(&write.key);
        let added = writes.iter().filter(|write| write.value.is_some() && !is_held(write)).count();
        let removed = writes.iter().filter(|write| write.value.is_none() && is_held(write)).count();
        let keys = self.held.len() + added - removed;
        // Why `removed < added`: a swap that removes as many keys as it adds is allowed even at the limit.
        if KEYS_MAX < keys && removed < added { Err(DirectoryRefusal::TooManyKeys(keys)) } else { Ok(()) }
    }

    fn entries_of(&self, writes: &[DirectoryWrite]) -> Vec<DirectoryEntry> {
        writes.iter().map(|write| self.entry(&write.key)).collect()
    }

    fn entry(&self, key: &Key) -> DirectoryEntry {
        // A missing key reads as revision 0, which is what a swap that creates it expects.
        let (revision, value) =
            self.held.get(key).map_or((0, Vec::new()), |held| (held.revision, held.value.clone()));
        DirectoryEntry { key: key.clone(), revision: Revision(revision), value }
    }
}

fn check_count(keys: usize) -> Result<(), DirectoryRefusal> {
    if REQUEST_KEYS_MAX < keys { Err(DirectoryRefusal::TooManyInRequest(keys)) } else { Ok(()) }
}

fn check_writes(writes: &[DirectoryWrite]) -> Result<(), DirectoryRefusal> {
    check_count(writes.len())?;
    let mut seen = BTreeSet::new();
    for DirectoryWrite { key, value, .. } in writes {
        let length = value.as_ref().map_or(0, Vec::len);
        if KEY_MAX < key.0.len() {
            return Err(DirectoryRefusal::KeyTooLong(key.0.len()));
        }
        if VALUE_MAX < length {
            return Err(DirectoryRefusal::ValueTooLong(length));
        }
        if !seen.insert(key) {
            return Err(DirectoryRefusal::Twice(key.clone()));
        }
    }
    Ok(())
}

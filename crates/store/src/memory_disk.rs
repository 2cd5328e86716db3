//! A disk in memory that crashes, tears, fills up and fails on command, for the simulator.
//!
//! For every file it keeps the durable bytes and the written ones, and for the names likewise. A
//! [`crash`](MemoryDisk::crash) keeps a first part of the unsynced changes, chosen by the seed. The same
//! calls and the same seed leave the same bytes.
//!
//! A failed sync is modelled after what Linux does: the bytes that did not reach the disk stay readable and
//! count as written, so that a later sync succeeds without them, and only a crash shows the hole.
//! A failed sync of names loses nothing yet; a system whose journal fails stops writing altogether.

use crate::config::GARBLED_MAX;
use crate::{Media, MediaError};
use machine::Rng;
use std::collections::BTreeMap;

/// A disk in memory. A clone can be put back later as an old disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    contents: BTreeMap<u64, FileContent>,
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    unsynced_names: Vec<NameChange>,
    next_content: u64,
    failing_sync: Option<u64>,
    limit: Option<usize>,
    operations: u64,
    power_off_at: Option<u64>,
}

/// The contents of a file, whatever its name.
#[derive(Clone, Debug, Default)]
struct FileContent {
    seen: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<FileChange>,
}

#[derive(Clone, Debug)]
enum FileChange {
    Write { at: usize, bytes: Vec<u8> },
    Truncate { length: usize },
}

#[derive(Clone, Debug)]
enum NameChange {
    Create { name: String, content: u64 },
    Rename { from: String, to: String },
    Remove { name: String },
}

impl MemoryDisk {
    /// A disk without files or faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk that holds these files, all durable.
    pub fn holding<'a>(files: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Self {
        let mut disk = Self::new();
        for (name, bytes) in files {
            disk.contents.insert(disk.next_content, FileContent::durable(bytes));
            disk.names.insert(name.to_owned(), disk.next_content);
            disk.next_content += 1;
        }
        disk.durable_names.clone_from(&disk.names);
        disk
    }

    /// The power fails and comes back. Of each file's unsynced changes a first part is kept, the last one
    /// perhaps incomplete and with its last bytes garbled; of the unsynced name changes a first part happened.
    /// Planned faults are over, a limit stays.
    pub fn crash(&mut self, rng: &mut Rng) {
        let kept = part_of(self.unsynced_names.len(), rng);
        for change in self.unsynced_names.drain(..).take(kept) {
            change.apply(&mut self.durable_names);
        }
        self.names.clone_from(&self.durable_names);
        self.contents.values_mut().for_each(|content| content.crash(rng));
        self.forget_nameless();
        self.heal();
    }

    /// Cancels the faults planned by [`fail_next_sync`](Self::fail_next_sync) and
    /// [`cut_power_after`](Self::cut_power_after).
    pub fn heal(&mut self) {
        self.failing_sync = None;
        self.power_off_at = None;
    }

    /// Makes the next sync fail, of a file or of names. The number of bytes that reach the disk all the
    /// same is drawn here.
    pub fn fail_next_sync(&mut self, rng: &mut Rng) {
        self.failing_sync = Some(rng.next_u64());
    }

    /// Makes every change and sync of this disk fail after `operations` more of them, until the
    /// next crash.
    pub fn cut_power_after(&mut self, operations: u64) {
        self.power_off_at = Some(self.operations + operations);
    }

    /// The number of changes and syncs so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Sets the capacity of this disk in bytes, counted over all its files.
    pub fn limit(&mut self, bytes: Option<usize>) {
        self.limit = bytes;
    }

    /// Flips one bit of a file permanently, bit 0 being the lowest one of the first byte. False if the file has
    /// no such bit.
    pub fn flip_bit(&mut self, name: &str, bit: u64) -> bool {
        let Some(content) = self.names.get(name).and_then(|id| self.contents.get_mut(id)) else {
            return false;
        };
        let (byte, mask) = ((bit / 8) as usize, 1 << (bit % 8));
        let Some(seen) = content.seen.get_mut(byte) else { return false };
        *seen ^= mask;
        if let Some(durable) = content.durable.get_mut(byte) {
            *durable ^= mask;
        }
        true
    }

    /// Removes every file permanently, as a replaced disk does.
    pub fn wipe(&mut self) {
        *self = Self { operations: self.operations, limit: self.limit, ..Self::default() };
    }

    /// Counts one more change or sync, if there is power.
    fn spend(&mut self, name: &str) -> Result<(), MediaError> {
        if self.power_off_at.is_some_and(|at| at <= self.operations) {
            return Err(failed(name, "the power is off"));
        }
        self.operations += 1;
        Ok(())
    }

    fn content(&mut self, name: &str) -> Result<&mut FileContent, MediaError> {
        let id = self.names.get(name).ok_or_else(|| missing(name))?;
        Ok(self.contents.get_mut(id).expect("every name has a content"))
    }

    fn change_names(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsynced_names.push(change);
    }

    fn room(&self) -> usize {
        let used: usize = self.names.values().map(|id| self.contents[id].seen.len()).sum();
        self.limit.map_or(usize::MAX, |limit| limit.saturating_sub(used))
    }

    fn forget_nameless(&mut self) {
        // Contents stay until their removal is durable: a crash may bring the name back.
        let (now, durable) = (&self.names, &self.durable_names);
        self.contents.retain(|id, _| now.values().chain(durable.values()).any(|named| named == id));
    }
}

impl Media for MemoryDisk {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        Ok(self.names.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        let id = self.names.get(name).ok_or_else(|| missing(name))?;
        Ok(self.contents[id].seen.clone())
    }

    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        self.spend(name)?;
        if self.names.contains_key(name) {
            return Err(MediaError::Exists(name.to_owned()));
        }
        self.contents.insert(self.next_content, FileContent::default());
        self.change_names(NameChange::Create { name: name.to_owned(), content: self.next_content });
        self.next_content += 1;
        Ok(())
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        self.spend(name)?;
        // A full disk takes what fits, as a real one does, and then fails.
        let fitting = bytes.len().min(self.room());
        let content = self.content(name)?;
        content.change(FileChange::Write { at: content.seen.len(), bytes: bytes[..fitting].to_vec() });
        if fitting < bytes.len() { Err(MediaError::Full) } else { Ok(()) }
    }

    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        self.spend(name)?;
        let content = self.content(name)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(content.seen.len());
        content.change(FileChange::Truncate { length });
        Ok(())
    }

    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        self.spend(name)?;
        let failing = self.failing_sync.take();
        let content = self.content(name)?;
        let Some(draw) = failing else {
            content.settle(usize::MAX);
            return Ok(());
        };
        let kept = part_of(content.unsynced_bytes(), &mut Rng::seeded(draw));
        content.settle(kept);
        Err(failed(name, "input/output error"))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        self.spend(from)?;
        self.content(from)?;
        self.change_names(NameChange::Rename { from: from.to_owned(), to: to.to_owned() });
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.spend(name)?;
        self.content(name)?;
        self.change_names(NameChange::Remove { name: name.to_owned() });
        Ok(())
    }

    fn sync_names(&mut self) -> Result<(), MediaError> {
        self.spend("the folder")?;
        if self.failing_sync.take().is_some() {
            return Err(failed("the folder", "input/output error"));
        }
        self.unsynced_names.clear();
        self.durable_names.clone_from(&self.names);
        self.forget_nameless();
        Ok(())
    }
}

impl FileContent {
    fn durable(bytes: Vec<u8>) -> Self {
        Self { seen: bytes.clone(), durable: bytes, unsynced: Vec::new() }
    }

    fn change(&mut self, change: FileChange) {
        change.apply(&mut self.seen);
        self.unsynced.push(change);
    }

    fn unsynced_bytes(&self) -> usize {
        self.unsynced.iter().map(FileChange::cost).sum()
    }

    /// Takes the unsynced changes as written, though only the first `bytes` of them reach the disk.
    fn settle(&mut self, mut bytes: usize) {
        for change in self.unsynced.drain(..) {
            let cost = change.cost();
            change.cut_to(bytes).apply(&mut self.durable);
            bytes = bytes.saturating_sub(cost);
        }
    }

    fn crash(&mut self, rng: &mut Rng) {
        let kept = part_of(self.unsynced_bytes(), rng);
        // The draws come in a fixed order: one seed must leave the same bytes in every version.
        let tail = kept.min(rng.below(GARBLED_MAX as u64 + 1) as usize);
        let is_garbled = rng.coin() && matches!(self.unsynced.last(), Some(FileChange::Write { .. }));
        let synced = self.durable.len();
        self.settle(kept);
        if is_garbled {
            let from = self.durable.len().saturating_sub(tail).max(synced);
            self.durable.iter_mut().skip(from).for_each(|byte| *byte ^= rng.next_u64() as u8);
        }
        self.seen.clone_from(&self.durable);
    }
}

impl FileChange {
    /// The number of bytes that must reach the disk for this change.
    fn cost(&self) -> usize {
        match self {
            Self::Write { bytes, .. } => bytes.len(),
            // Why 1: a truncation happens or not; it must cost something to be lost.
            Self::Truncate { .. } => 1,
        }
    }

    /// The part of this change that remains if only `bytes` bytes reach the disk.
    fn cut_to(self, bytes: usize) -> Self {
        match self {
            Self::Write { at, bytes: mut all } => {
                all.truncate(bytes);
                Self::Write { at, bytes: all }
            }
            // `usize::MAX` truncates nothing: the change is lost.
            Self::Truncate { .. } if bytes == 0 => Self::Truncate { length: usize::MAX },
            whole => whole,
        }
    }

    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Write { bytes, .. } if bytes.is_empty() => (),
            Self::Write { at, bytes } => {
                // Bytes that were written before and never reached the disk are a hole of zeros.
                let end = at + bytes.len();
                file.resize(end.max(file.len()), 0);
                file[*at..end].copy_from_slice(bytes);
            }
            Self::Truncate { length } => file.truncate(*length),
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, u64>) {
        match self {
            Self::Create { name, content } => {
                names.insert(name.clone(), *content);
            }
            Self::Rename { from, to } => {
                let content = names.remove(from).expect("checked when it was renamed");
                names.insert(to.clone(), content);
            }
            Self::Remove { name } => {
                names.remove(name);
            }
        }
    }
}

/// None, all or some of `count`. Most bugs are at the ends, and an even draw of many would
/// hardly meet them.
fn part_of(count: usize, rng: &mut Rng) -> usize {
    match rng.below(4) {
        0 => 0,
        1 => count,
        _ => rng.below(count as u64 + 1) as usize,
    }
}

fn missing(name: &str) -> MediaError {
    MediaError::Missing(name.to_owned())
}

fn failed(name: &str, reason: &str) -> MediaError {
    MediaError::Failed { file: name.to_owned(), reason: reason.to_owned() }
}

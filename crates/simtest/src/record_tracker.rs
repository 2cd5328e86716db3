//! Tracks what really happened in a zone, as only an observer of all its replicas can: every record written, what every
//! replica holds, what was announced, and the leaderships.
//!
//! A record's (epoch, number) names a whole history: the one that led to it. So a replica's log is known by the name of
//! its last record.

pub use history::RecordName;

use machine::{Address, Time};
use space::Epoch;
use std::collections::BTreeMap;
use zone::{Change, Execution, Index, Leadership, Note, PostItem, Record, Suspects};

/// A record that a primary wrote.
#[derive(Clone, Debug)]
pub struct TrackedRecord {
    /// The primary that wrote it.
    pub by: Address,
    /// Time at which it was written.
    pub at: Time,
    /// The record as encoded bytes.
    pub bytes: Vec<u8>,
    /// The call of the game that led to it; `None` if no game was called.
    pub execution: Option<Execution>,
}

/// The first announcement of a record.
#[derive(Clone, Copy, Debug)]
pub struct Announcement {
    /// Epoch of the record, not of the announcement.
    pub epoch: Epoch,
    /// Time at which it was first announced.
    pub time: Time,
    /// True if the primary that announced it was alone.
    pub alone: bool,
}

/// A replica that died or stopped.
#[derive(Clone, Copy, Debug)]
pub struct DeadReplica {
    /// Address of the replica that is gone.
    pub host: Address,
    /// Name of the last record in its memory.
    pub last: RecordName,
    /// Time at which it was killed; `None` if it stopped by itself.
    pub killed: Option<Time>,
}

/// Records of a zone, and the replicas that hold them.
#[derive(Debug, Default)]
pub struct RecordTracker {
    /// Every record ever written, also those that were lost.
    pub records: BTreeMap<RecordName, TrackedRecord>,
    /// The first record of each epoch, and the epoch of the record before it.
    starts: BTreeMap<Epoch, (Index, Epoch)>,
    /// The last record in each living replica's memory.
    pub memory: BTreeMap<Address, RecordName>,
    /// Replicas that died or stopped, in order of time.
    pub dead: Vec<DeadReplica>,
    /// The last record that each replica's disk would give back.
    pub disk: BTreeMap<Address, RecordName>,
    /// Announcements, by the number of the record.
    pub announced: BTreeMap<Index, Announcement>,
    /// Leaderships that the directory stored, by epoch.
    pub leaderships: BTreeMap<Epoch, Leadership>,
    /// The suspects that each leadership named when it began, by epoch.
    pub suspects: BTreeMap<Epoch, Suspects>,
    /// Number of events that this zone decided with others.
    pub decided: u64,
    /// Number of objects that were transferred to another zone.
    pub departed: u64,
}

impl RecordTracker {
    /// Takes in a note of a replica.
    pub fn take_note(&mut self, now: Time, host: Address, note: &Note) {
        match note {
            Note::Wrote { record, execution } => self.wrote(now, host, record, execution.as_ref()),
            Note::Stored { epoch, index, .. } | Note::Replaced { epoch, index } => {
                self.memory.insert(host, (*epoch, *index));
            }
            Note::Announces { index, alone, .. } => self.announce(now, host, *index, *alone),
            _ => (),
        }
    }

    fn wrote(&mut self, now: Time, host: Address, bytes: &[u8], execution: Option<&Execution>) {
        let Some(record) = Record::from_bytes(bytes) else { return };
        let name = (record.epoch, record.index);
        let decided = |it: &Change| matches!(it, Change::Posted { item: PostItem::Decided(_), .. });
        self.decided += u64::from(record.changes.iter().any(decided));
        let departed = |it: &&Change| matches!(it, Change::Departed { .. });
        self.departed += record.changes.iter().filter(departed).count() as u64;
        let before = self.memory.get(&host).map_or(Epoch(0), |it| it.0);
        // Only the first record of an epoch tells which epoch it continues.
        self.starts.entry(record.epoch).or_insert((record.index, before));
        self.records.entry(name).or_insert_with(|| TrackedRecord {
            by: host,
            at: now,
            bytes: bytes.to_vec(),
            execution: execution.cloned(),
        });
        self.memory.insert(host, name);
    }

    /// Takes in that a replica is gone, and its memory with it.
    pub fn replica_died(&mut self, host: Address, killed: Option<Time>) {
        self.dead.extend(self.memory.remove(&host).map(|last| DeadReplica { host, last, killed }));
    }

    /// The last record that a replica holds in memory, or held when it died.
    pub fn last_of(&self, host: Address) -> Option<RecordName> {
        let dead = || self.dead.iter().rev().find(|it| it.host == host).map(|it| it.last);
        self.memory.get(&host).copied().or_else(dead)
    }

    // Disks.

    /// Sets what a disk holds, as it turned out when it was read.
    pub fn set_disk(&mut self, host: Address, last: Option<RecordName>) {
        match last {
            Some(name) => self.disk.insert(host, name),
            None => self.disk.remove(&host),
        };
    }

    /// Takes in that records up to this one are on disk.
    pub fn disk_stored(&mut self, host: Address, last: RecordName) {
        self.disk.insert(host, last);
    }

    /// Takes in that a snapshot is on disk. Mostly it repeats what the log holds; for a new backup it is all there is.
    pub fn snapshot_stored(&mut self, host: Address, name: RecordName) {
        let held = self.disk.get(&host).is_some_and(|&last| self.holds(last, name));
        if !held {
            self.disk.insert(host, name);
        }
    }

    /// Takes in that a disk dropped the records from this one on.
    pub fn disk_cut(&mut self, host: Address, from: Index) {
        let Some(&last) = self.disk.get(&host) else { return };
        match self.epoch_at(last, from.saturating_sub(1)) {
            Some(epoch) if from <= last.1 => self.set_disk(host, Some((epoch, from - 1))),
            None if from <= 1 => self.set_disk(host, None),
            _ => (),
        }
    }

    // Announcements.

    fn announce(&mut self, now: Time, host: Address, index: Index, alone: bool) {
        let Some(&holder) = self.memory.get(&host) else { return };
        let from = self.announced.last_key_value().map_or(0, |it| *it.0);
        for index in from + 1..=index {
            // `safe_to_tell` reports a record that the primary does not have.
            let Some(epoch) = self.epoch_at(holder, index) else { continue };
            self.announced.insert(index, Announcement { epoch, time: now, alone });
        }
    }

    /// The epoch of record `index` in the history that `last` names.
    pub fn epoch_at(&self, last: RecordName, index: Index) -> Option<Epoch> {
        let (mut epoch, head) = last;
        if head < index || index == 0 {
            return None;
        }
        loop {
            // Epochs are walked back from the newest: each knows the epoch that it continued.
            let &(start, before) = self.starts.get(&epoch)?;
            if start <= index {
                return Some(epoch);
            }
            epoch = before;
        }
    }

    /// Name of the announced record with the highest number.
    pub fn last_announced(&self) -> Option<RecordName> {
        self.announced.last_key_value().map(|(&index, it)| (it.epoch, index))
    }

    /// Returns whether the history that `last` names holds a record.
    pub fn holds(&self, last: RecordName, name: RecordName) -> bool {
        self.epoch_at(last, name.1) == Some(name.0)
    }

    /// The first announced record that a history lacks.
    pub fn first_lost(&self, last: RecordName) -> Option<(RecordName, Announcement)> {
        let (epoch, index) = self.last_announced()?;
        // A name stands for a whole history: one that holds the last announced record holds all of them.
        if self.holds(last, (epoch, index)) {
            return None;
        }
        let lacks = |(&index, &announcement): (&Index, &Announcement)| {
            let name = (announcement.epoch, index);
            (!self.holds(last, name)).then_some((name, announcement))
        };
        self.announced.iter().find_map(lacks)
    }

    /// Undoes announcements from this record on, which a full stop lost as the durability allows; `last` survived.
    pub fn roll_back(&mut self, last: RecordName, from: Index) {
        self.announced.split_off(&from);
        // Disks that end with a record of the lost history count for nothing from now on.
        self.disk.retain(|_, it| it.1 < from || it.0 <= last.0);
    }

    /// Names of all records of a history, in order.
    pub fn names_up_to(&self, last: RecordName) -> Vec<RecordName> {
        (1..=last.1).filter_map(|index| self.epoch_at(last, index).map(|epoch| (epoch, index))).collect()
    }
}

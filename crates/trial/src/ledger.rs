//! What really happened, from the point of view of somebody who sees everything: every record written, what every
//! host holds, what was announced, who reigned.
//!
//! A record's (epoch, number) names a whole history: the one that led to it. So a host's log is known by the name of
//! its last record.

pub use history::Name;

use machine::{Address, Time};
use space::Epoch;
use std::collections::BTreeMap;
use zone::{Change, Index, Item, Note, Ran, Record, Reign};

/// A record, with everything that led to it.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Who wrote it.
    pub by: Address,
    /// When.
    pub at: Time,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What the game was asked.
    pub ran: Option<Ran>,
}

/// An announcement.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The record's epoch.
    pub epoch: Epoch,
    /// When it was first announced.
    pub time: Time,
    /// Whether whoever announced it was alone.
    pub alone: bool,
}

/// Somebody who is gone.
#[derive(Clone, Copy, Debug)]
pub struct Former {
    /// Who.
    pub host: Address,
    /// The last record they knew.
    pub last: Name,
    /// When they were killed; `None` if they went by themselves.
    pub killed: Option<Time>,
}

/// Everything known about records.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Every record ever written.
    pub records: BTreeMap<Name, Logged>,
    /// The first record of each epoch, and the epoch of the one before it.
    starts: BTreeMap<Epoch, (Index, Epoch)>,
    /// The last record in each living host's memory.
    pub memory: BTreeMap<Address, Name>,
    /// The hosts that died, in order.
    pub former: Vec<Former>,
    /// The last record that each host's disk would give back.
    pub disk: BTreeMap<Address, Name>,
    /// What was announced, by number.
    pub announced: BTreeMap<Index, Told>,
    /// Who reigned when, as the directory has it.
    pub reigns: BTreeMap<Epoch, Reign>,
    /// Events that this zone decided with others.
    pub decided: u64,
    /// Objects that went over to another zone.
    pub departed: u64,
}

impl Ledger {
    /// Takes in what a host says of itself.
    pub fn hear(&mut self, now: Time, host: Address, note: &Note) {
        match note {
            Note::Wrote { record, ran } => self.wrote(now, host, record, ran.as_ref()),
            Note::Stored { epoch, index, .. } | Note::Replaced { epoch, index } => {
                self.memory.insert(host, (*epoch, *index));
            }
            Note::Announces { index, alone, .. } => self.announce(now, host, *index, *alone),
            _ => (),
        }
    }

    fn wrote(&mut self, now: Time, host: Address, bytes: &[u8], ran: Option<&Ran>) {
        let Some(record) = Record::from_bytes(bytes) else { return };
        let name = (record.epoch, record.index);
        let decided = |it: &Change| matches!(it, Change::Posted { item: Item::Decided(_), .. });
        self.decided += u64::from(record.changes.iter().any(decided));
        let departed = |it: &&Change| matches!(it, Change::Departed { .. });
        self.departed += record.changes.iter().filter(departed).count() as u64;
        let before = self.memory.get(&host).map_or(Epoch(0), |it| it.0);
        self.starts.entry(record.epoch).or_insert((record.index, before));
        self.records.entry(name).or_insert_with(|| Logged {
            by: host,
            at: now,
            bytes: bytes.to_vec(),
            ran: ran.cloned(),
        });
        self.memory.insert(host, name);
    }

    /// A host dies, and its memory with it.
    pub fn forget(&mut self, host: Address, killed: Option<Time>) {
        self.former.extend(self.memory.remove(&host).map(|last| Former { host, last, killed }));
    }

    /// The last record that somebody knows, or knew when they died.
    pub fn last_of(&self, host: Address) -> Option<Name> {
        let former = || self.former.iter().rev().find(|it| it.host == host).map(|it| it.last);
        self.memory.get(&host).copied().or_else(former)
    }

    // Disks.

    /// A disk turns out to hold this.
    pub fn disk_is(&mut self, host: Address, last: Option<Name>) {
        match last {
            Some(name) => self.disk.insert(host, name),
            None => self.disk.remove(&host),
        };
    }

    /// Records up to this one are on disk.
    pub fn kept(&mut self, host: Address, last: Name) {
        self.disk.insert(host, last);
    }

    /// A snapshot is on disk. Usually a picture of what the log holds anyway; for a new backup it is all there is.
    pub fn pictured(&mut self, host: Address, name: Name) {
        let held = self.disk.get(&host).is_some_and(|&last| self.holds(last, name));
        if !held {
            self.disk.insert(host, name);
        }
    }

    /// A disk has forgotten the records from this one on.
    pub fn cut(&mut self, host: Address, from: Index) {
        let Some(&last) = self.disk.get(&host) else { return };
        match self.epoch_at(last, from.saturating_sub(1)) {
            Some(epoch) if from <= last.1 => self.disk_is(host, Some((epoch, from - 1))),
            None if from <= 1 => self.disk_is(host, None),
            _ => (),
        }
    }

    // Announcements.

    fn announce(&mut self, now: Time, host: Address, index: Index, alone: bool) {
        let Some(&holder) = self.memory.get(&host) else { return };
        let from = self.announced.last_key_value().map_or(0, |it| *it.0);
        for index in from + 1..=index {
            let Some(epoch) = self.epoch_at(holder, index) else { continue };
            self.announced.insert(index, Told { epoch, time: now, alone });
        }
    }

    /// The epoch of record `index` in the history that `last` names.
    pub fn epoch_at(&self, last: Name, index: Index) -> Option<Epoch> {
        let (mut epoch, head) = last;
        if head < index || index == 0 {
            return None;
        }
        loop {
            let &(start, before) = self.starts.get(&epoch)?;
            if start <= index {
                return Some(epoch);
            }
            epoch = before;
        }
    }

    /// The last announced record.
    pub fn last_announced(&self) -> Option<Name> {
        self.announced.last_key_value().map(|(&index, it)| (it.epoch, index))
    }

    /// Whether a history holds a record.
    pub fn holds(&self, last: Name, name: Name) -> bool {
        self.epoch_at(last, name.1) == Some(name.0)
    }

    /// The first announced record that a history lacks.
    pub fn lost(&self, last: Name) -> Option<(Name, Told)> {
        let (epoch, index) = self.last_announced()?;
        if self.holds(last, (epoch, index)) {
            return None;
        }
        let lacks = |(&index, &told): (&Index, &Told)| {
            let name = (told.epoch, index);
            (!self.holds(last, name)).then_some((name, told))
        };
        self.announced.iter().find_map(lacks)
    }

    /// A full stop undid what was announced from this record on, as its setting allows; this history is left.
    pub fn roll_back(&mut self, last: Name, from: Index) {
        self.announced.split_off(&from);
        self.disk.retain(|_, it| it.1 < from || it.0 <= last.0);
    }

    /// Every record of a history, in order.
    pub fn chain(&self, last: Name) -> Vec<Name> {
        (1..=last.1).filter_map(|index| self.epoch_at(last, index).map(|epoch| (epoch, index))).collect()
    }
}

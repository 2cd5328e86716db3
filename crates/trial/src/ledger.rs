//! What really happened, from the point of view of somebody who sees everything: every record written, what every
//! host holds, what was announced, who reigned.
//!
//! A record's (epoch, number) names a whole history: the one that led to it. So a host's log is known by the name of
//! its last record.

use machine::{Address, Time};
use space::Epoch;
use std::collections::BTreeMap;
use zone::{Index, Note, Ran, Reign};

/// The name of a record.
pub type Name = (Epoch, Index);

/// A record, with everything that led to it.
#[derive(Clone, Debug)]
pub struct Logged {
    /// Who wrote it.
    pub by: Address,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What the game was asked.
    pub ran: Option<Ran>,
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
    /// The last record in the memory of hosts that died, at their deaths.
    pub former: Vec<(Address, Name)>,
    /// The last record that each host's disk would give back.
    pub disk: BTreeMap<Address, Name>,
    /// What was announced, by number, and when first.
    pub announced: BTreeMap<Index, (Epoch, Time)>,
    /// Who reigned when, as the directory has it.
    pub reigns: BTreeMap<Epoch, Reign>,
}

impl Ledger {
    /// Takes in what a host says of itself.
    pub fn hear(&mut self, now: Time, host: Address, note: &Note) {
        match note {
            Note::Wrote { record, ran } => self.wrote(host, record, ran.as_ref()),
            Note::Stored { epoch, index, .. } | Note::Replaced { epoch, index } => {
                self.memory.insert(host, (*epoch, *index));
            }
            Note::Announces { index, .. } => self.announce(now, host, *index),
            _ => (),
        }
    }

    fn wrote(&mut self, host: Address, bytes: &[u8], ran: Option<&Ran>) {
        let Some(record) = zone::Record::from_bytes(bytes) else { return };
        let name = (record.epoch, record.index);
        let before = self.memory.get(&host).map_or(Epoch(0), |it| it.0);
        self.starts.entry(record.epoch).or_insert((record.index, before));
        self.records.entry(name).or_insert_with(|| Logged {
            by: host,
            bytes: bytes.to_vec(),
            ran: ran.cloned(),
        });
        self.memory.insert(host, name);
    }

    /// A host dies, and its memory with it.
    pub fn forget(&mut self, host: Address) {
        self.former.extend(self.memory.remove(&host).map(|last| (host, last)));
    }

    fn announce(&mut self, now: Time, host: Address, index: Index) {
        let Some(&holder) = self.memory.get(&host) else { return };
        let from = self.announced.last_key_value().map_or(0, |it| *it.0);
        for index in from + 1..=index {
            let Some(epoch) = self.epoch_at(holder, index) else { continue };
            self.announced.insert(index, (epoch, now));
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
        self.announced.last_key_value().map(|(&index, it)| (it.0, index))
    }

    /// Whether a history holds a record.
    pub fn holds(&self, last: Name, name: Name) -> bool {
        self.epoch_at(last, name.1) == Some(name.0)
    }

    /// The first announced record that a history lacks.
    pub fn lost(&self, last: Name) -> Option<Name> {
        let (epoch, index) = self.last_announced()?;
        if self.holds(last, (epoch, index)) {
            return None;
        }
        let lacks = |(&index, it): (&Index, &(Epoch, Time))| {
            (!self.holds(last, (it.0, index))).then_some((it.0, index))
        };
        self.announced.iter().find_map(lacks)
    }

    /// A full stop undid what was announced last, as its setting allows. Says from which record on, if it did.
    pub fn roll_back(&mut self, last: Name, allowed_from: Time) -> Option<Index> {
        let (_, index) = self.lost(last)?;
        let told = self.announced.get(&index)?.1;
        if told < allowed_from {
            return None;
        }
        self.announced.split_off(&index);
        Some(index)
    }

    /// Every record of a history, in order.
    pub fn chain(&self, last: Name) -> Vec<Name> {
        (1..=last.1).filter_map(|index| self.epoch_at(last, index).map(|epoch| (epoch, index))).collect()
    }
}

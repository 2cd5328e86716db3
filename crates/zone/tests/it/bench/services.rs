//! Fake disks and a fake directory. Both work by themselves, or wait for the table.

use machine::directory::{self, Entry, Key, Revision};
use machine::disk::{self, Recalled};
use machine::{Address, Ticket, Time};
use std::collections::{BTreeMap, VecDeque};

/// A replica's disk. It outlives the replica.
#[derive(Debug, Default)]
pub struct Disk {
    held: Recalled,
    /// Whether requests wait for the table.
    pub waits: bool,
    waiting: VecDeque<disk::Request>,
}

impl Disk {
    /// Takes a request; the answer, unless the disk waits.
    pub fn ask(&mut self, request: disk::Request) -> Option<disk::Done> {
        if self.waits && !matches!(request, disk::Request::Recall { .. }) {
            self.waiting.push_back(request);
            return None;
        }
        Some(self.serve(request))
    }

    /// Carries out everything that waits.
    pub fn persist(&mut self) -> Vec<disk::Done> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().map(|it| self.serve(it)).collect()
    }

    /// Fails everything that waits.
    pub fn fail(&mut self) -> Vec<disk::Done> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().map(|it| disk::Done::Failed { ticket: ticket(&it) }).collect()
    }

    /// Power is lost: what waits was not written.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    fn serve(&mut self, request: disk::Request) -> disk::Done {
        let ticket = ticket(&request);
        let base = self.held.snapshot.as_ref().map_or(0, |it| it.0);
        match request {
            disk::Request::Append { records, .. } => self.held.records.extend(records),
            disk::Request::Cut { from, .. } => {
                self.held.records.truncate(from.saturating_sub(base + 1) as usize);
            }
            disk::Request::Keep { index, snapshot, .. } => {
                let covered = self.held.records.len().min((index - base) as usize);
                self.held.records.drain(..covered);
                self.held.snapshot = Some((index, snapshot));
            }
            disk::Request::Recall { .. } => {
                let recalled = Recalled { first: base + 1, ..self.held.clone() };
                return disk::Done::Recalled { ticket, recalled };
            }
        }
        disk::Done::Persisted { ticket }
    }
}

fn ticket(request: &disk::Request) -> Ticket {
    match request {
        disk::Request::Append { ticket, .. }
        | disk::Request::Cut { ticket, .. }
        | disk::Request::Keep { ticket, .. }
        | disk::Request::Recall { ticket } => *ticket,
    }
}

/// The directory: linearizable, one entry per key.
#[derive(Debug, Default)]
pub struct Directory {
    entries: BTreeMap<Key, (Revision, Vec<u8>)>,
    revision: u64,
    /// Whether requests wait for the table.
    pub waits: bool,
    waiting: Vec<(Address, directory::Request)>,
}

/// What becomes of a request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is carried out and answered.
    Answered,
    /// It is carried out, and the answer is lost: the replica hears that nothing is known.
    AnswerLost,
    /// It never arrives: the replica hears that nothing is known.
    Lost,
}

impl Directory {
    /// Takes a request; the answer, unless the directory waits. The clock never does.
    pub fn ask(&mut self, now: Time, from: Address, request: directory::Request) -> Option<directory::Done> {
        if self.waits && !matches!(request, directory::Request::Clock { .. }) {
            self.waiting.push((from, request));
            return None;
        }
        Some(self.serve(now, request))
    }

    /// Deals with the requests that wait, all of them or those of one replica.
    pub fn answer(
        &mut self,
        now: Time,
        of: Option<Address>,
        fate: Fate,
    ) -> Vec<(Address, directory::Request, directory::Done)> {
        let is_meant = |it: &(Address, _)| of.is_none_or(|of| of == it.0);
        let (meant, rest) = std::mem::take(&mut self.waiting).into_iter().partition(is_meant);
        self.waiting = rest;
        let meant: Vec<(Address, directory::Request)> = meant;
        let dealt = meant.into_iter().map(|(from, request)| {
            let ticket = request_ticket(&request);
            let done = (fate != Fate::Lost).then(|| self.serve(now, request.clone()));
            let done = done.filter(|_| fate == Fate::Answered);
            (from, request, done.unwrap_or(directory::Done::Unknown { ticket }))
        });
        dealt.collect()
    }

    /// The entry of a key.
    pub fn entry(&self, key: &Key) -> Option<&[u8]> {
        self.entries.get(key).map(|it| it.1.as_slice())
    }

    fn read(&self, key: &Key) -> Entry {
        let (revision, value) = self.entries.get(key).cloned().unwrap_or((Revision(0), Vec::new()));
        Entry { key: key.clone(), revision, value }
    }

    fn serve(&mut self, now: Time, request: directory::Request) -> directory::Done {
        match request {
            directory::Request::Clock { ticket } => directory::Done::Clock { ticket, time: now },
            directory::Request::Read { ticket, keys } => {
                directory::Done::Read { ticket, entries: keys.iter().map(|it| self.read(it)).collect() }
            }
            directory::Request::Swap { ticket, writes } => {
                if writes.iter().any(|it| self.read(&it.key).revision != it.expected) {
                    let entries = writes.iter().map(|it| self.read(&it.key)).collect();
                    return directory::Done::Lost { ticket, entries };
                }
                self.revision += 1;
                let revision = Revision(self.revision);
                for write in writes {
                    self.entries.insert(write.key, (revision, write.value.unwrap_or_default()));
                }
                directory::Done::Won { ticket, revision }
            }
        }
    }
}

const fn request_ticket(request: &directory::Request) -> Ticket {
    match request {
        directory::Request::Read { ticket, .. }
        | directory::Request::Swap { ticket, .. }
        | directory::Request::Clock { ticket } => *ticket,
    }
}

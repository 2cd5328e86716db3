//! Fake disks and a fake directory. Both answer at once, or wait for the table.

use machine::directory::{self, DirectoryEntry, Key, Revision};
use machine::disk::{self, DiskContents};
use machine::{Address, Ticket, Time};
use std::collections::{BTreeMap, VecDeque};

/// A replica's disk. It outlives the replica.
#[derive(Debug, Default)]
pub struct FakeDisk {
    contents: DiskContents,
    /// True if requests wait for the table.
    pub waits: bool,
    waiting: VecDeque<disk::DiskRequest>,
}

impl FakeDisk {
    /// Takes a request. Returns the answer, unless the disk waits.
    pub fn ask(&mut self, request: disk::DiskRequest) -> Option<disk::DiskReply> {
        // A replica that starts gets its log even from a disk that waits.
        if self.waits && !matches!(request, disk::DiskRequest::Recall { .. }) {
            self.waiting.push_back(request);
            return None;
        }
        Some(self.serve(request))
    }

    /// Number of the record that its snapshot stands for.
    pub fn snapshot(&self) -> Option<u64> {
        self.contents.snapshot.as_ref().map(|it| it.0)
    }

    /// Number of records behind its snapshot.
    pub fn records(&self) -> usize {
        self.contents.records.len()
    }

    /// Takes in a snapshot, as if the log had grown long.
    pub fn keep(&mut self, index: u64, snapshot: Vec<u8>) {
        self.serve(disk::DiskRequest::Keep { ticket: Ticket(0), index, snapshot });
    }

    /// Carries out all requests that wait.
    pub fn persist(&mut self) -> Vec<disk::DiskReply> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().map(|it| self.serve(it)).collect()
    }

    /// Fails all requests that wait.
    pub fn fail(&mut self) -> Vec<disk::DiskReply> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().map(|it| disk::DiskReply::Failed { ticket: ticket(&it) }).collect()
    }

    /// The replica dies: requests that wait were not written.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    fn serve(&mut self, request: disk::DiskRequest) -> disk::DiskReply {
        let ticket = ticket(&request);
        let base = self.contents.snapshot.as_ref().map_or(0, |it| it.0);
        match request {
            // As the store refuses them.
            disk::DiskRequest::Cut { from: index, .. } if index <= base => {
                return disk::DiskReply::Failed { ticket };
            }
            disk::DiskRequest::Keep { index, .. } if index < base => {
                return disk::DiskReply::Failed { ticket };
            }
            disk::DiskRequest::Append { records, .. } => self.contents.records.extend(records),
            disk::DiskRequest::Cut { from, .. } => {
                self.contents.records.truncate(from.saturating_sub(base + 1) as usize);
            }
            disk::DiskRequest::Keep { index, snapshot, .. } => {
                let covered = self.contents.records.len().min((index - base) as usize);
                self.contents.records.drain(..covered);
                self.contents.snapshot = Some((index, snapshot));
            }
            disk::DiskRequest::Replace { index, snapshot, .. } => {
                let snapshot = Some((index, snapshot));
                self.contents = DiskContents { snapshot, ..DiskContents::default() };
            }
            disk::DiskRequest::Recall { .. } => {
                let recalled = DiskContents { first: base + 1, ..self.contents.clone() };
                return disk::DiskReply::Recalled { ticket, recalled };
            }
        }
        disk::DiskReply::Persisted { ticket }
    }
}

fn ticket(request: &disk::DiskRequest) -> Ticket {
    match request {
        disk::DiskRequest::Append { ticket, .. }
        | disk::DiskRequest::Cut { ticket, .. }
        | disk::DiskRequest::Keep { ticket, .. }
        | disk::DiskRequest::Replace { ticket, .. }
        | disk::DiskRequest::Recall { ticket } => *ticket,
    }
}

/// A directory in memory: linearizable, one entry per key.
#[derive(Debug, Default)]
pub struct FakeDirectory {
    entries: BTreeMap<Key, (Revision, Vec<u8>)>,
    revision: u64,
    /// True if requests wait for the table.
    pub waits: bool,
    waiting: Vec<(Address, directory::DirectoryRequest)>,
}

/// The fate of a directory request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFate {
    /// The request is carried out and answered.
    Answered,
    /// The request is carried out, and the answer is lost: the replica hears "unknown".
    AnswerLost,
    /// The request never arrives: the replica hears "unknown".
    Lost,
}

impl FakeDirectory {
    /// Takes a request. Returns the answer, unless the directory waits. The clock is always answered.
    pub fn ask(
        &mut self,
        now: Time,
        from: Address,
        request: directory::DirectoryRequest,
    ) -> Option<directory::DirectoryReply> {
        if self.waits && !matches!(request, directory::DirectoryRequest::Clock { .. }) {
            self.waiting.push((from, request));
            return None;
        }
        Some(self.serve(now, request))
    }

    /// Deals with the requests that wait: all of them, or those of one replica.
    pub fn answer(
        &mut self,
        now: Time,
        of: Option<Address>,
        fate: RequestFate,
    ) -> Vec<(Address, directory::DirectoryRequest, directory::DirectoryReply)> {
        let is_meant = |it: &(Address, _)| of.is_none_or(|of| of == it.0);
        let (meant, rest) = std::mem::take(&mut self.waiting).into_iter().partition(is_meant);
        self.waiting = rest;
        let meant: Vec<(Address, directory::DirectoryRequest)> = meant;
        let dealt = meant.into_iter().map(|(from, request)| {
            let ticket = request_ticket(&request);
            let done = (fate != RequestFate::Lost).then(|| self.serve(now, request.clone()));
            let done = done.filter(|_| fate == RequestFate::Answered);
            (from, request, done.unwrap_or(directory::DirectoryReply::Unknown { ticket }))
        });
        dealt.collect()
    }

    /// The entry of a key.
    pub fn entry(&self, key: &Key) -> Option<&[u8]> {
        self.entries.get(key).map(|it| it.1.as_slice())
    }

    /// Replaces the entry of a key, under a new revision.
    pub fn replace(&mut self, key: Key, value: Vec<u8>) {
        self.revision += 1;
        self.entries.insert(key, (Revision(self.revision), value));
    }

    fn read(&self, key: &Key) -> DirectoryEntry {
        let (revision, value) = self.entries.get(key).cloned().unwrap_or((Revision(0), Vec::new()));
        DirectoryEntry { key: key.clone(), revision, value }
    }

    fn serve(&mut self, now: Time, request: directory::DirectoryRequest) -> directory::DirectoryReply {
        match request {
            directory::DirectoryRequest::Clock { ticket } => {
                directory::DirectoryReply::Clock { ticket, time: now }
            }
            directory::DirectoryRequest::Read { ticket, keys } => directory::DirectoryReply::Read {
                ticket,
                entries: keys.iter().map(|it| self.read(it)).collect(),
            },
            directory::DirectoryRequest::Swap { ticket, writes } => {
                if writes.iter().any(|it| self.read(&it.key).revision != it.expected) {
                    let entries = writes.iter().map(|it| self.read(&it.key)).collect();
                    return directory::DirectoryReply::Lost { ticket, entries };
                }
                self.revision += 1;
                let revision = Revision(self.revision);
                for write in writes {
                    self.entries.insert(write.key, (revision, write.value.unwrap_or_default()));
                }
                directory::DirectoryReply::Won { ticket, revision }
            }
        }
    }
}

const fn request_ticket(request: &directory::DirectoryRequest) -> Ticket {
    match request {
        directory::DirectoryRequest::Read { ticket, .. }
        | directory::DirectoryRequest::Swap { ticket, .. }
        | directory::DirectoryRequest::Clock { ticket } => *ticket,
    }
}

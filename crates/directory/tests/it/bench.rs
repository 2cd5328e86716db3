//! One directory over several runs of its process, compared with the simplest model of it: a map and a counter.
//!
//! [`run_all`] checks [directory-01] to [directory-03]. It returns the first mistake instead of panicking,
//! so that planted bugs can prove that it notices them.

use directory::{DirectoryOpenError, DirectorySettings, DurableDirectory};
use machine::directory::{DirectoryEntry, DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
use machine::{Rng, Ticket, Time};
use std::collections::BTreeMap;
use store::config::CHECKPOINT_BYTES;
use store::{LogLimits, Media, MediaError, MemoryDisk, StoreError};

/// Small enough that snapshots and segments are replaced all the time.
pub const SMALL: DirectorySettings = DirectorySettings {
    snapshot_every: 5,
    limits: LogLimits { segment_bytes: 80, checkpoint_bytes: CHECKPOINT_BYTES },
};

const KEYS: [&str; 4] = ["balancer", "map", "zone/1", "zone/2"];

/// One run of the directory's process: from one opening to the next crash.
#[derive(Clone, Debug)]
pub struct DirectoryRun {
    /// The caller's time at the start of this run: anything, as after a reboot.
    pub now: u64,
    pub steps: Vec<DirectoryStep>,
    /// The power fails after so many changes and syncs of the disk, those of the opening among them.
    pub power: Option<u64>,
    pub is_killed: bool,
}

#[derive(Clone, Debug)]
pub enum DirectoryStep {
    /// Key, right or wrong guess of its revision, new value.
    Swap(Vec<(usize, bool, Option<Vec<u8>>)>),
    /// Wait, then ask for the time.
    Clock(u64),
    FailSync,
}

/// The expected contents of the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DirectoryModel {
    revision: u64,
    held: BTreeMap<Key, (u64, Vec<u8>)>,
}

/// Carries out all runs on one disk, and returns the first mistake.
pub fn run_all(runs: &[DirectoryRun], seed: u64, forgets_syncs: bool) -> Result<(), String> {
    let mut rng = Rng::seeded(seed);
    let mut disk = MemoryDisk::new();
    let mut possible = vec![DirectoryModel::default()];
    let mut last_time = Time::ZERO;
    for run in runs {
        if let Some(after) = run.power {
            disk.cut_power_after(after);
        }
        possible = run_one(run, &mut disk, possible, &mut last_time, &mut rng, forgets_syncs)?;
        if !run.is_killed || run.power.is_some() {
            disk.crash(&mut rng);
        }
        disk.heal();
    }
    let quiet = DirectoryRun { now: 0, steps: vec![DirectoryStep::Clock(0)], power: None, is_killed: true };
    run_one(&quiet, &mut disk, possible, &mut last_time, &mut rng, forgets_syncs).map(drop)
}

fn run_one(
    run: &DirectoryRun,
    disk: &mut MemoryDisk,
    possible: Vec<DirectoryModel>,
    last_time: &mut Time,
    rng: &mut Rng,
    forgets_syncs: bool,
) -> Result<Vec<DirectoryModel>, String> {
    let mut now = Time::from_micros(run.now);
    let mut directory = match DurableDirectory::open(SyncSkippingDisk { disk, forgets_syncs }, now, SMALL) {
        Ok(directory) => directory,
        Err(DirectoryOpenError::Store(StoreError::Media(_))) if run.power.is_some() => return Ok(possible),
        Err(error) => return Err(format!("did not open: {error}")),
    };
    let mut model = DirectoryModel::read_from(&mut directory);
    if !possible.contains(&model) {
        return Err(format!("found {model:?}\nwhich is none of {possible:?}"));
    }
    for step in &run.steps {
        let before = model.clone();
        match step {
            DirectoryStep::FailSync => directory.media_mut().disk.fail_next_sync(rng),
            DirectoryStep::Swap(writes) => {
                let writes = model.writes(writes);
                let expected = model.swap(&writes);
                let answer = directory.serve(now, DirectoryRequest::Swap { ticket: Ticket(1), writes });
                if let DirectoryReply::Unknown { .. } = answer {
                    return silent(directory, vec![before, model]);
                }
                same(&answer, &expected)?;
            }
            DirectoryStep::Clock(wait) => {
                now = Time::from_micros(now.as_micros().saturating_add(*wait));
                let answer = directory.serve(now, DirectoryRequest::Clock { ticket: Ticket(1) });
                let DirectoryReply::Clock { time, .. } = answer else {
                    return silent(directory, vec![model]);
                };
                if time < *last_time {
                    return Err(format!("the clock went back from {last_time} to {time}"));
                }
                *last_time = time;
            }
        }
        if directory.failure().is_some() {
            return silent(directory, vec![model]);
        }
        same(&DirectoryModel::read_from(&mut directory), &model)?;
    }
    Ok(vec![model])
}

/// A directory that failed answers every request with `Unknown`.
fn silent(
    mut directory: DurableDirectory<SyncSkippingDisk>,
    possible: Vec<DirectoryModel>,
) -> Result<Vec<DirectoryModel>, String> {
    let ticket = Ticket(9);
    let write = DirectoryWrite { key: Key("map".to_owned()), expected: Revision(0), value: None };
    let requests = [
        DirectoryRequest::Read { ticket, keys: vec![Key("map".to_owned())] },
        DirectoryRequest::Swap { ticket, writes: vec![write] },
        DirectoryRequest::Clock { ticket },
    ];
    for request in requests {
        same(&directory.serve(Time::MAX, request), &DirectoryReply::Unknown { ticket })?;
    }
    if directory.failure().is_none() { Err("unknown, and no failure".to_owned()) } else { Ok(possible) }
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}\nshould be {expected:?}")) }
}

impl DirectoryModel {
    /// The directory's answer to a read of every key.
    fn read_from(directory: &mut DurableDirectory<SyncSkippingDisk>) -> Self {
        let keys: Vec<Key> = KEYS.map(|key| Key(key.to_owned())).to_vec();
        let read = DirectoryRequest::Read { ticket: Ticket(2), keys: keys.clone() };
        let DirectoryReply::Read { entries, .. } = directory.serve(Time::ZERO, read) else {
            panic!("a read went unanswered")
        };
        assert_eq!(
            entries.iter().map(|entry| &entry.key).collect::<Vec<_>>(),
            keys.iter().collect::<Vec<_>>()
        );
        let held = entries.into_iter().filter(|entry| entry.revision != Revision(0));
        let held: BTreeMap<_, _> = held.map(|entry| (entry.key, (entry.revision.0, entry.value))).collect();
        assert_eq!(held.len(), directory.directory().entries().count());
        Self { revision: directory.directory().revision().0, held }
    }

    fn writes(&self, raw: &[(usize, bool, Option<Vec<u8>>)]) -> Vec<DirectoryWrite> {
        let mut writes = BTreeMap::new();
        for (key, is_right, value) in raw {
            let key = Key(KEYS[key % KEYS.len()].to_owned());
            let revision = self.entry(&key).revision.0;
            let expected = Revision(if *is_right { revision } else { revision + 1 });
            writes.insert(key.clone(), DirectoryWrite { key, expected, value: value.clone() });
        }
        writes.into_values().collect()
    }

    fn swap(&mut self, writes: &[DirectoryWrite]) -> DirectoryReply {
        let ticket = Ticket(1);
        if writes.iter().any(|write| self.entry(&write.key).revision != write.expected) {
            return DirectoryReply::Lost {
                ticket,
                entries: writes.iter().map(|write| self.entry(&write.key)).collect(),
            };
        }
        self.revision += u64::from(!writes.is_empty());
        for write in writes {
            match &write.value {
                Some(value) => self.held.insert(write.key.clone(), (self.revision, value.clone())),
                None => self.held.remove(&write.key),
            };
        }
        DirectoryReply::Won { ticket, revision: Revision(self.revision) }
    }

    fn entry(&self, key: &Key) -> DirectoryEntry {
        let (revision, value) = self.held.get(key).cloned().unwrap_or_default();
        DirectoryEntry { key: key.clone(), revision: Revision(revision), value }
    }
}

/// A disk that may leave out every sync: a planted bug.
#[derive(Debug)]
pub struct SyncSkippingDisk<'a> {
    disk: &'a mut MemoryDisk,
    forgets_syncs: bool,
}

impl Media for SyncSkippingDisk<'_> {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        self.disk.list()
    }
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        self.disk.read(name)
    }
    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        self.disk.create(name)
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        self.disk.append(name, bytes)
    }
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        self.disk.truncate(name, length)
    }
    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        if self.forgets_syncs { Ok(()) } else { self.disk.sync(name) }
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        self.disk.rename(from, to)
    }
    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.disk.remove(name)
    }
    fn sync_names(&mut self) -> Result<(), MediaError> {
        self.disk.sync_names()
    }
}

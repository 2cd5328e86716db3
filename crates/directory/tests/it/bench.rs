//! One directory, lived through by the dullest model of it: a map and a counter.
//!
//! [`live`] is the judge of [directory-01] to [directory-03]. It says what is wrong instead of panicking,
//! so that planted bugs can prove that it sees them.

use directory::{Durable, OpenError, Settings};
use machine::directory::{Done, Entry, Key, Request, Revision, Write};
use machine::{Rng, Ticket, Time};
use std::collections::BTreeMap;
use store::{Limits, Media, MediaError, Memory, StoreError};

/// Snapshots and segments change hands all the time.
pub const SMALL: Settings = Settings { snapshot_every: 5, limits: Limits { segment_bytes: 80 } };

const KEYS: [&str; 4] = ["balancer", "map", "zone/1", "zone/2"];

/// From one opening to the next death.
#[derive(Clone, Debug)]
pub struct Life {
    /// Where the caller's clock starts in this life: anywhere, as after a reboot.
    pub now: u64,
    pub steps: Vec<Step>,
    /// The power fails after so many changes and syncs of the disk, those of the opening among them.
    pub power: Option<u64>,
    pub is_killed: bool,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// Key, right or wrong guess of its revision, new value.
    Swap(Vec<(usize, bool, Option<Vec<u8>>)>),
    /// Wait, then ask for the time.
    Clock(u64),
    /// The next sync fails.
    FailSync,
}

/// What the directory should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Model {
    revision: u64,
    held: BTreeMap<Key, (u64, Vec<u8>)>,
}

/// Lives all the lives on one disk, and says what was wrong first.
pub fn live(lives: &[Life], seed: u64, forgets_syncs: bool) -> Result<(), String> {
    let mut rng = Rng::seeded(seed);
    let mut disk = Memory::new();
    let mut possible = vec![Model::default()];
    let mut last_time = Time::ZERO;
    for life in lives {
        if let Some(after) = life.power {
            disk.cut_power_after(after);
        }
        possible = live_one(life, &mut disk, possible, &mut last_time, &mut rng, forgets_syncs)?;
        if !life.is_killed || life.power.is_some() {
            disk.crash(&mut rng);
        }
        disk.heal();
    }
    let calm = Life { now: 0, steps: vec![Step::Clock(0)], power: None, is_killed: true };
    live_one(&calm, &mut disk, possible, &mut last_time, &mut rng, forgets_syncs).map(drop)
}

fn live_one(
    life: &Life,
    disk: &mut Memory,
    possible: Vec<Model>,
    last_time: &mut Time,
    rng: &mut Rng,
    forgets_syncs: bool,
) -> Result<Vec<Model>, String> {
    let mut now = Time::from_micros(life.now);
    let mut directory = match Durable::open(Disk { disk, forgets_syncs }, now, SMALL) {
        Ok(directory) => directory,
        Err(OpenError::Store(StoreError::Media(_))) if life.power.is_some() => return Ok(possible),
        Err(error) => return Err(format!("did not open: {error}")),
    };
    let mut model = Model::read_from(&mut directory);
    if !possible.contains(&model) {
        return Err(format!("found {model:?}\nwhich is none of {possible:?}"));
    }
    for step in &life.steps {
        let before = model.clone();
        match step {
            Step::FailSync => directory.media_mut().disk.fail_next_sync(rng),
            Step::Swap(writes) => {
                let writes = model.writes(writes);
                let expected = model.swap(&writes);
                let answer = directory.serve(now, Request::Swap { ticket: Ticket(1), writes });
                if let Done::Unknown { .. } = answer {
                    return silent(directory, vec![before, model]);
                }
                same(&answer, &expected)?;
            }
            Step::Clock(wait) => {
                now = Time::from_micros(now.as_micros().saturating_add(*wait));
                let answer = directory.serve(now, Request::Clock { ticket: Ticket(1) });
                let Done::Clock { time, .. } = answer else { return silent(directory, vec![model]) };
                if time < *last_time {
                    return Err(format!("the clock went back from {last_time} to {time}"));
                }
                *last_time = time;
            }
        }
        if directory.failure().is_some() {
            return silent(directory, vec![model]);
        }
        same(&Model::read_from(&mut directory), &model)?;
    }
    Ok(vec![model])
}

/// A directory that failed answers nothing any more, whatever it is asked.
fn silent(mut directory: Durable<Disk>, possible: Vec<Model>) -> Result<Vec<Model>, String> {
    let ticket = Ticket(9);
    let write = Write { key: Key("map".to_owned()), expected: Revision(0), value: None };
    let requests = [
        Request::Read { ticket, keys: vec![Key("map".to_owned())] },
        Request::Swap { ticket, writes: vec![write] },
        Request::Clock { ticket },
    ];
    for request in requests {
        same(&directory.serve(Time::MAX, request), &Done::Unknown { ticket })?;
    }
    if directory.failure().is_none() { Err("unknown, and no failure".to_owned()) } else { Ok(possible) }
}

fn same<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}\nshould be {expected:?}")) }
}

impl Model {
    /// What the directory answers when asked for every key.
    fn read_from(directory: &mut Durable<Disk>) -> Self {
        let keys: Vec<Key> = KEYS.map(|key| Key(key.to_owned())).to_vec();
        let read = Request::Read { ticket: Ticket(2), keys: keys.clone() };
        let Done::Read { entries, .. } = directory.serve(Time::ZERO, read) else {
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

    fn writes(&self, raw: &[(usize, bool, Option<Vec<u8>>)]) -> Vec<Write> {
        let mut writes = BTreeMap::new();
        for (key, is_right, value) in raw {
            let key = Key(KEYS[key % KEYS.len()].to_owned());
            let revision = self.entry(&key).revision.0;
            let expected = Revision(if *is_right { revision } else { revision + 1 });
            writes.insert(key.clone(), Write { key, expected, value: value.clone() });
        }
        writes.into_values().collect()
    }

    fn swap(&mut self, writes: &[Write]) -> Done {
        let ticket = Ticket(1);
        if writes.iter().any(|write| self.entry(&write.key).revision != write.expected) {
            return Done::Lost {
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
        Done::Won { ticket, revision: Revision(self.revision) }
    }

    fn entry(&self, key: &Key) -> Entry {
        let (revision, value) = self.held.get(key).cloned().unwrap_or_default();
        Entry { key: key.clone(), revision: Revision(revision), value }
    }
}

/// A disk that may leave out every sync: a planted bug.
#[derive(Debug)]
pub struct Disk<'a> {
    disk: &'a mut Memory,
    forgets_syncs: bool,
}

impl Media for Disk<'_> {
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

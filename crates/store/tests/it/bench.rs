//! One log, lived through by its model: changes, faults, deaths and reopenings.
//!
//! [`live`] is the judge of [store-01] to [store-03]. It says what is wrong instead of panicking, so that
//! planted bugs can prove that it sees them.

use crate::model::{Change, Model};
use machine::Rng;
use store::{Limits, Log, Media, MediaError, Memory, StoreError};

pub const SCHEMA: u64 = 0x5eed;
/// A few records each, so that every story rolls segments.
pub const SMALL: Limits = Limits { segment_bytes: 100 };

/// From one opening to the next death.
#[derive(Clone, Debug)]
pub struct Life {
    pub changes: Vec<Change>,
    pub fault: Fault,
    pub death: Death,
}

/// What goes wrong in a life, if it lasts long enough. Opening is part of it.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    None,
    /// The power fails after so many changes and syncs of the disk.
    Power(u64),
    /// A sync fails: the first one after so many changes of the log.
    Sync(usize),
    /// So many bytes are left on the disk.
    Full(usize),
}

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// The process is killed; the system still has all that was written.
    Kill,
    /// The machine loses its power.
    Crash,
}

/// A disk that leaves out what it was asked for: each kind is a planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgets {
    Nothing,
    Sync,
    SyncOfNames,
    Truncate,
    /// Renames before it has written: the order in which a snapshot must not be made.
    SyncBeforeRename,
}

/// Lives all the lives on one disk, and says what was wrong first.
pub fn live(lives: &[Life], seed: u64, forgets: Forgets) -> Result<Memory, String> {
    let mut rng = Rng::seeded(seed);
    let mut disk = Memory::new();
    let mut possible = vec![Model::default()];
    for life in lives {
        possible = live_one(life, &mut disk, possible, &mut rng, forgets)?;
        let has_power = !matches!(life.fault, Fault::Power(_));
        if life.death == Death::Crash || !has_power {
            disk.crash(&mut rng);
        }
        disk.heal();
        disk.limit(None);
    }
    let calm = Life { changes: Vec::new(), fault: Fault::None, death: Death::Kill };
    live_one(&calm, &mut disk, possible, &mut rng, forgets)?;
    Ok(disk)
}

/// Opens, checks, changes; gives back what may be on the disk at the end.
fn live_one(
    life: &Life,
    disk: &mut Memory,
    possible: Vec<Model>,
    rng: &mut Rng,
    forgets: Forgets,
) -> Result<Vec<Model>, String> {
    inject(life.fault, 0, disk, rng);
    let (mut log, opened) = match Log::open(Forgetful { disk, forgets }, SCHEMA, SMALL) {
        Ok(opened) => opened,
        Err(StoreError::Media(_)) if !matches!(life.fault, Fault::None) => return Ok(possible),
        Err(error) => return Err(format!("did not open: {error}")),
    };
    if opened.recovery.is_damaged() {
        return Err(format!("damage that nobody did: {}", opened.recovery));
    }
    let mut model = Model::from(opened.recalled);
    if !possible.contains(&model) {
        return Err(format!("found {model:?}\nwhich is none of {possible:?}"));
    }
    for (place, change) in life.changes.iter().enumerate() {
        inject_later(life.fault, place, &mut log, rng);
        let outcomes = model.outcomes(change);
        if model.ask(change, &mut log).is_err() {
            expect_poisoned(&mut log)?;
            return Ok(outcomes);
        }
        model = outcomes.last().unwrap().clone();
        if log.recall().map(Model::from).as_ref() != Ok(&model) {
            return Err(format!("recalled {:?}, not {model:?}", log.recall()));
        }
    }
    Ok(vec![model])
}

fn inject(fault: Fault, place: usize, disk: &mut Memory, rng: &mut Rng) {
    match fault {
        Fault::Power(after) => disk.cut_power_after(after),
        Fault::Sync(at) if at == place => disk.fail_next_sync(rng),
        Fault::Full(left) => {
            let names = disk.list().unwrap();
            let used: usize = names.iter().map(|name| disk.read(name).unwrap().len()).sum();
            disk.limit(Some(used + left));
        }
        Fault::Sync(_) | Fault::None => (),
    }
}

/// Place 0 is the opening, so the first change is at 1.
fn inject_later(fault: Fault, place: usize, log: &mut Log<Forgetful>, rng: &mut Rng) {
    if matches!(fault, Fault::Sync(at) if at == place + 1) {
        log.media_mut().disk.fail_next_sync(rng);
    }
}

fn expect_poisoned<M: Media>(log: &mut Log<M>) -> Result<(), String> {
    let answers = [
        log.append(log.next(), &[vec![1]]),
        log.cut(1 << 40),
        log.keep(1 << 40, b""),
        log.recall().map(drop),
    ];
    match answers.into_iter().all(|answer| answer == Err(StoreError::Poisoned)) {
        true => Ok(()),
        false => Err("a log that failed went on".to_owned()),
    }
}

/// See [`Forgets`].
pub struct Forgetful<'a> {
    pub disk: &'a mut Memory,
    pub forgets: Forgets,
}

impl Media for Forgetful<'_> {
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
        if self.forgets == Forgets::Truncate { Ok(()) } else { self.disk.truncate(name, length) }
    }
    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        let is_late = self.forgets == Forgets::SyncBeforeRename && name == "tmp";
        if self.forgets == Forgets::Sync || is_late { Ok(()) } else { self.disk.sync(name) }
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        self.disk.rename(from, to)?;
        if self.forgets == Forgets::SyncBeforeRename { self.disk.sync(to) } else { Ok(()) }
    }
    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.disk.remove(name)
    }
    fn sync_names(&mut self) -> Result<(), MediaError> {
        if self.forgets == Forgets::SyncOfNames { Ok(()) } else { self.disk.sync_names() }
    }
}

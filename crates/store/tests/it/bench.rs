//! One log over several runs of its process, compared with its model: changes, faults, crashes and reopenings.
//!
//! [`run_all`] checks [store-01] to [store-03]. It returns the first mistake instead of panicking, so that
//! planted bugs can prove that it notices them.

use crate::model::{LogChange, LogModel};
use machine::Rng;
use store::{Log, LogLimits, Media, MediaError, MemoryDisk, StoreError};

pub const SCHEMA: u64 = 0x5eed;
/// A few records per segment, so that every run fills several segments, and a few batches per checkpoint.
pub const SMALL: LogLimits = LogLimits { segment_bytes: 100, checkpoint_bytes: 500 };

/// One run of the log's process: from one opening to the next crash.
#[derive(Clone, Debug)]
pub struct StoreRun {
    pub changes: Vec<LogChange>,
    pub fault: DiskFault,
    pub end: RunEnd,
}

/// A fault of the disk during a run, if the run lasts long enough. Opening is part of it.
#[derive(Clone, Copy, Debug)]
pub enum DiskFault {
    None,
    /// The power fails after this many changes and syncs of the disk.
    Power(u64),
    /// A sync fails: the first one after this many changes of the log.
    Sync(usize),
    /// The disk has this many free bytes.
    Full(usize),
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The process is killed; the operating system still has all that was written.
    Kill,
    /// The computer loses its power.
    Crash,
}

/// The operations that a disk leaves out: each kind is a planted bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgets {
    Nothing,
    Sync,
    SyncOfNames,
    Truncate,
    /// Renames before it has written: the wrong order for a snapshot.
    SyncBeforeRename,
}

/// Carries out all runs on one disk, and returns the first mistake.
pub fn run_all(runs: &[StoreRun], seed: u64, forgets: Forgets) -> Result<MemoryDisk, String> {
    let mut rng = Rng::seeded(seed);
    let mut disk = MemoryDisk::new();
    let mut possible = vec![LogModel::default()];
    for run in runs {
        possible = run_one(run, &mut disk, possible, &mut rng, forgets)?;
        let has_power = !matches!(run.fault, DiskFault::Power(_));
        if run.end == RunEnd::Crash || !has_power {
            disk.crash(&mut rng);
        }
        disk.heal();
        disk.limit(None);
    }
    let quiet = StoreRun { changes: Vec::new(), fault: DiskFault::None, end: RunEnd::Kill };
    run_one(&quiet, &mut disk, possible, &mut rng, forgets)?;
    Ok(disk)
}

/// Opens, checks, changes; returns the possible contents of the disk at the end.
fn run_one(
    run: &StoreRun,
    disk: &mut MemoryDisk,
    possible: Vec<LogModel>,
    rng: &mut Rng,
    forgets: Forgets,
) -> Result<Vec<LogModel>, String> {
    inject(run.fault, 0, disk, rng);
    let (mut log, opened) = match Log::open(ForgetfulDisk { disk, forgets }, SCHEMA, SMALL) {
        Ok(opened) => opened,
        Err(StoreError::Media(_)) if !matches!(run.fault, DiskFault::None) => return Ok(possible),
        Err(error) => return Err(format!("did not open: {error}")),
    };
    if opened.recovery.is_damaged() {
        return Err(format!("damage without a cause: {}", opened.recovery));
    }
    let mut model = LogModel::from(opened.recalled);
    if !possible.contains(&model) {
        return Err(format!("found {model:?}\nwhich is none of {possible:?}"));
    }
    for (place, change) in run.changes.iter().enumerate() {
        inject_later(run.fault, place, &mut log, rng);
        let outcomes = model.outcomes(change);
        if model.ask(change, &mut log).is_err() {
            expect_poisoned(&mut log)?;
            return Ok(outcomes);
        }
        model = outcomes.last().unwrap().clone();
        if log.recall().map(LogModel::from).as_ref() != Ok(&model) {
            return Err(format!("recalled {:?}, not {model:?}", log.recall()));
        }
    }
    Ok(vec![model])
}

fn inject(fault: DiskFault, place: usize, disk: &mut MemoryDisk, rng: &mut Rng) {
    match fault {
        DiskFault::Power(after) => disk.cut_power_after(after),
        DiskFault::Sync(at) if at == place => disk.fail_next_sync(rng),
        DiskFault::Full(left) => {
            let names = disk.list().unwrap();
            let used: usize = names.iter().map(|name| disk.read(name).unwrap().len()).sum();
            disk.limit(Some(used + left));
        }
        DiskFault::Sync(_) | DiskFault::None => (),
    }
}

/// Place 0 is the opening, so the first change is at place 1.
fn inject_later(fault: DiskFault, place: usize, log: &mut Log<ForgetfulDisk>, rng: &mut Rng) {
    if matches!(fault, DiskFault::Sync(at) if at == place + 1) {
        log.media_mut().disk.fail_next_sync(rng);
    }
}

fn expect_poisoned<M: Media>(log: &mut Log<M>) -> Result<(), String> {
    let answers = [
        log.append(log.next(), &[vec![1]]),
        log.cut(1 << 40),
        log.keep(1 << 40, b""),
        log.replace(0, b""),
        log.recall().map(drop),
    ];
    match answers.into_iter().all(|answer| answer == Err(StoreError::Poisoned)) {
        true => Ok(()),
        false => Err("a log that failed went on".to_owned()),
    }
}

/// A disk that leaves out the operations of [`Forgets`].
pub struct ForgetfulDisk<'a> {
    pub disk: &'a mut MemoryDisk,
    pub forgets: Forgets,
}

impl Media for ForgetfulDisk<'_> {
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
        let is_late = self.forgets == Forgets::SyncBeforeRename && name.ends_with("tmp");
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

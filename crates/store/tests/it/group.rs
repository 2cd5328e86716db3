//! [store-10]: a group keeps what it acknowledged, whatever log it belongs to and wherever the crash comes.

use crate::bench::{ForgetfulDisk, Forgets, SCHEMA, SMALL};
use crate::model::{LogChange, LogModel};
use machine::disk::{DiskReply, DiskRequest};
use machine::{Rng, Ticket};
use std::cell::RefCell;
use std::rc::Rc;
use store::config::{CHECKPOINT_BYTES, JOURNAL_BYTES_MAX};
use store::{Log, LogGroup, LogLimits, Media, MediaError, MemoryDisk, StoreError};

/// A folder on a disk that several folders share: one power failure hits them all.
#[derive(Clone)]
struct Folder {
    disk: Rc<RefCell<MemoryDisk>>,
    name: String,
    forgets: Forgets,
}

impl Folder {
    fn with<R>(&self, name: &str, run: impl FnOnce(&mut ForgetfulDisk<'_>, &str) -> R) -> R {
        let mut disk = self.disk.borrow_mut();
        run(&mut ForgetfulDisk { disk: &mut disk, forgets: self.forgets }, &format!("{}/{name}", self.name))
    }
}

impl Media for Folder {
    fn list(&self) -> Result<Vec<String>, MediaError> {
        let names = self.disk.borrow().list()?;
        let own = names.iter().filter_map(|it| it.strip_prefix(&self.name)?.strip_prefix('/'));
        Ok(own.map(str::to_owned).collect())
    }
    fn read(&self, name: &str) -> Result<Vec<u8>, MediaError> {
        self.with(name, |disk, name| disk.read(name))
    }
    fn create(&mut self, name: &str) -> Result<(), MediaError> {
        self.with(name, |disk, name| disk.create(name))
    }
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), MediaError> {
        self.with(name, |disk, name| disk.append(name, bytes))
    }
    fn truncate(&mut self, name: &str, length: u64) -> Result<(), MediaError> {
        self.with(name, |disk, name| disk.truncate(name, length))
    }
    fn sync(&mut self, name: &str) -> Result<(), MediaError> {
        self.with(name, |disk, name| disk.sync(name))
    }
    fn rename(&mut self, from: &str, to: &str) -> Result<(), MediaError> {
        let to = format!("{}/{to}", self.name);
        self.with(from, |disk, from| disk.rename(from, &to))
    }
    fn remove(&mut self, name: &str) -> Result<(), MediaError> {
        self.with(name, |disk, name| disk.remove(name))
    }
    fn sync_names(&mut self) -> Result<(), MediaError> {
        self.with("", |disk, _| disk.sync_names())
    }
}

const LOGS: u32 = 3;

/// A group, the disk under it, and for each log the contents that it may have.
struct Bench {
    disk: Rc<RefCell<MemoryDisk>>,
    forgets: Forgets,
    rng: Rng,
    possible: Vec<Vec<LogModel>>,
    is_open: [bool; LOGS as usize],
    /// True if some appends are too long for the journal. They take most of the time of a run.
    has_long: bool,
}

/// A fault of the disk during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The power fails after this many changes and syncs of the disk.
    Power(u64),
    /// Now and then a sync fails.
    Syncs,
    /// The disk has this many free bytes.
    Full(usize),
}

type Checked<T> = Result<T, String>;

impl Bench {
    fn new(seed: u64, forgets: Forgets) -> Self {
        let possible = vec![vec![LogModel::default()]; LOGS as usize];
        let (rng, has_long) = (Rng::seeded(seed), seed.is_multiple_of(4));
        Self { disk: Rc::default(), forgets, rng, possible, is_open: [false; LOGS as usize], has_long }
    }

    fn folder(&self, name: impl Into<String>) -> Folder {
        Folder { disk: self.disk.clone(), name: name.into(), forgets: self.forgets }
    }

    fn any_log(&mut self) -> u32 {
        self.rng.below(u64::from(LOGS)) as u32
    }

    /// Opens the group, without any log. `None` if the disk does not let it.
    fn open_group(&mut self) -> Checked<Option<LogGroup<Folder>>> {
        self.is_open = [false; LOGS as usize];
        match LogGroup::open(self.folder("journal"), SMALL) {
            Ok((_, recovery)) if recovery.is_damaged() => Err(format!("the journal: {recovery}")),
            Ok((group, _)) => Ok(Some(group)),
            Err(StoreError::Media(_)) => Ok(None),
            Err(error) => Err(format!("the group did not open: {error}")),
        }
    }

    /// Opens a log and compares it with what it may hold. If the disk does not let it, the log stays closed.
    fn open_log(&mut self, group: &mut LogGroup<Folder>, log: u32) -> Checked<()> {
        self.is_open[log as usize] = false;
        let opened = match group.open_log(log, self.folder(format!("log-{log}")), SCHEMA) {
            Ok(opened) => opened,
            Err(StoreError::Media(_) | StoreError::Poisoned) => return Ok(()),
            Err(error) => return Err(format!("log {log} did not open: {error}")),
        };
        if opened.recovery.is_damaged() {
            return Err(format!("log {log}: damage without a cause: {}", opened.recovery));
        }
        let (model, possible) = (LogModel::from(opened.recalled), &mut self.possible[log as usize]);
        if !possible.contains(&model) {
            return Err(format!("log {log}: found {model:?}\nwhich is none of {possible:?}"));
        }
        *possible = vec![model];
        self.is_open[log as usize] = true;
        Ok(())
    }

    fn change(&mut self) -> LogChange {
        let (rng, has_long) = (&mut self.rng, self.has_long);
        let bytes = |rng: &mut Rng, most: u64| {
            let length = rng.below(most);
            (0..length).map(|_| rng.next_u64() as u8).collect::<Vec<_>>()
        };
        match rng.below(40) {
            0 if has_long => LogChange::Append(vec![vec![7; JOURNAL_BYTES_MAX + 1]]),
            0..28 => {
                let count = rng.below(4);
                LogChange::Append((0..count).map(|_| bytes(rng, 40)).collect())
            }
            28..34 => LogChange::Cut(rng.below(8)),
            34..38 => {
                let ahead = rng.below(12) as i64 - 8;
                LogChange::Keep(ahead, bytes(rng, 60))
            }
            _ => {
                let ahead = rng.below(24) as i64 - 20;
                LogChange::Replace(ahead, bytes(rng, 60))
            }
        }
    }

    /// One batch of requests to all logs, open or not. Returns false if a request to an open log failed.
    fn batch(&mut self, group: &mut LogGroup<Folder>) -> Checked<bool> {
        // By log: its contents if everything so far has happened.
        let mut whole: Vec<_> = self.possible.iter().map(|it| it.last().unwrap().clone()).collect();
        let (mut requests, mut outcomes) = (Vec::new(), Vec::new());
        for number in 0..self.rng.below(5) {
            let log = self.any_log();
            let model = &mut whole[log as usize];
            let ticket = Ticket(number);
            if self.rng.below(12) == 0 {
                requests.push((log, DiskRequest::Recall { ticket }));
                outcomes.push((log, vec![model.clone()]));
                continue;
            }
            let change = self.change();
            requests.push((log, model.request(&change, ticket)));
            let all = model.outcomes(&change);
            if self.is_open[log as usize] {
                *model = all.last().unwrap().clone();
            }
            outcomes.push((log, all));
        }
        let mut is_whole = true;
        let mut failed = [false; LOGS as usize];
        let replies = group.serve(requests);
        // If it fails, the next requests do.
        drop(group.checkpoint_if_due());
        assert_eq!(replies.len(), outcomes.len(), "a reply for each request");
        for (number, ((log, all), (answered, reply))) in outcomes.into_iter().zip(replies).enumerate() {
            let possible = &mut self.possible[log as usize];
            let is_open = self.is_open[log as usize];
            match reply {
                _ if answered != log => return Err("replies out of order".to_owned()),
                DiskReply::Failed { .. } if !is_open => (),
                _ if !is_open => return Err(format!("log {log} is closed and answered")),
                DiskReply::Failed { ticket } if ticket == Ticket(number as u64) => {
                    (is_whole, failed[log as usize]) = (false, true);
                    possible.extend(all);
                }
                _ if failed[log as usize] => return Err(format!("log {log} went on after a failure")),
                DiskReply::Persisted { ticket } if ticket == Ticket(number as u64) => {
                    *possible = vec![all.last().unwrap().clone()];
                }
                DiskReply::Recalled { ticket, recalled } if ticket == Ticket(number as u64) => {
                    let found = LogModel::from(recalled);
                    if found != all[0] {
                        return Err(format!("log {log}: recalled {found:?}, not {:?}", all[0]));
                    }
                }
                other => return Err(format!("request {number} was answered with {other:?}")),
            }
        }
        Ok(is_whole)
    }

    /// One run of the process. It ends by itself, or by a fault. Logs are opened in any order, late, or never.
    fn run(&mut self, fault: Fault) -> Checked<()> {
        self.disk.borrow_mut().heal();
        self.disk.borrow_mut().limit(None);
        match fault {
            Fault::Power(after) => self.disk.borrow_mut().cut_power_after(after),
            Fault::Full(left) => {
                let mut disk = self.disk.borrow_mut();
                let names = disk.list().unwrap();
                let used: usize = names.iter().map(|it| disk.read(it).unwrap().len()).sum();
                disk.limit(Some(used + left));
            }
            Fault::None | Fault::Syncs => (),
        }
        let Some(mut group) = self.open_group()? else { return Ok(()) };
        for log in 0..LOGS {
            if self.rng.below(4) != 0 {
                self.open_log(&mut group, log)?;
            }
        }
        for _ in 0..self.rng.below(20) {
            match self.rng.below(14) {
                0 => drop(group.checkpoint()),
                1 | 2 => {
                    let log = self.any_log();
                    self.open_log(&mut group, log)?;
                }
                3 => {
                    let log = self.any_log();
                    group.close_log(log);
                    self.is_open[log as usize] = false;
                }
                4 | 5 if fault == Fault::Syncs => self.disk.borrow_mut().fail_next_sync(&mut self.rng),
                _ => {
                    if self.batch(&mut group)? {
                        continue;
                    }
                    if matches!(fault, Fault::Power(_)) {
                        return Ok(());
                    }
                    // One log is broken, or all of them: those are opened again while the others go on.
                    if group.is_poisoned() {
                        drop(group);
                        let Some(again) = self.open_group()? else { return Ok(()) };
                        group = again;
                    }
                    for log in 0..LOGS {
                        self.open_log(&mut group, log)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn crash(&mut self) {
        self.disk.borrow_mut().crash(&mut self.rng);
    }

    /// Opens everything on a disk without faults, and compares it with what it may hold.
    fn check_all(&mut self) -> Checked<()> {
        self.disk.borrow_mut().heal();
        self.disk.borrow_mut().limit(None);
        let mut group = self.open_group()?.ok_or("a sound disk was refused")?;
        (0..LOGS).try_for_each(|log| self.open_log(&mut group, log))?;
        if self.is_open.contains(&false) { Err("a sound log was refused".to_owned()) } else { Ok(()) }
    }
}

fn run_all(seed: u64, forgets: Forgets) -> Checked<()> {
    let mut bench = Bench::new(seed, forgets);
    let runs = |bench: &mut Bench| {
        for _ in 0..6 {
            let fault = match bench.rng.below(4) {
                0 => Fault::None,
                1 => Fault::Power(bench.rng.below(90)),
                2 => Fault::Syncs,
                _ => Fault::Full(bench.rng.below(1_500) as usize),
            };
            bench.run(fault)?;
            if matches!(fault, Fault::Power(_)) || bench.rng.coin() {
                bench.crash();
            }
        }
        bench.check_all()?;
        bench.crash();
        bench.check_all()
    };
    runs(&mut bench).map_err(|why| format!("seed {seed}: {why}"))
}

#[test]
fn a_group_keeps_what_it_acknowledged() {
    for seed in 0..1_000 {
        run_all(seed, Forgets::Nothing).unwrap();
    }
}

/// A run that is killed, so that changes wait in the journal; then one that loses its power after `operations`; then an
/// opening that loses its power, too. Returns the operations of the first two runs.
fn interrupted(seed: u64, operations: u64) -> Checked<u64> {
    let mut bench = Bench::new(seed, Forgets::Nothing);
    bench.has_long = false;
    let runs = |bench: &mut Bench| {
        bench.run(Fault::None)?;
        let before = bench.disk.borrow().operations();
        bench.run(Fault::Power(operations))?;
        let used = bench.disk.borrow().operations() - before;
        bench.crash();
        bench.disk.borrow_mut().cut_power_after(operations % 23);
        if let Some(mut group) = bench.open_group()? {
            (0..LOGS).try_for_each(|log| bench.open_log(&mut group, log))?;
        }
        bench.crash();
        bench.check_all()?;
        Ok(used)
    };
    runs(&mut bench).map_err(|why: String| format!("seed {seed}, power off after {operations}: {why}"))
}

#[test]
fn power_may_fail_at_every_point_of_a_group() {
    for seed in 0..200 {
        let used = interrupted(seed, u64::MAX >> 1).unwrap();
        for operations in 0..used {
            interrupted(seed, operations).unwrap();
        }
    }
}

#[test]
fn the_bench_of_groups_notices_what_a_disk_forgets() {
    for forgets in [Forgets::Sync, Forgets::SyncOfNames, Forgets::Truncate, Forgets::SyncBeforeRename] {
        let noticed = (0..500).any(|seed| {
            std::panic::catch_unwind(|| run_all(seed, forgets)).map_or(true, |result| result.is_err())
        });
        assert!(noticed, "{forgets:?} went unnoticed");
    }
}

/// A run that is killed, then a bit that flips in any file, then openings. What is missing is reported, once; a report
/// harms no other log; and the group goes on. Returns whether anything was reported.
fn flipped(seed: u64) -> Checked<bool> {
    let mut bench = Bench::new(seed, Forgets::Nothing);
    bench.has_long = false;
    bench.run(Fault::None)?;
    let names = bench.disk.borrow().list().unwrap();
    let Some(last) = names.len().checked_sub(1) else { return Ok(false) };
    // Half of the flips in the journal, whose names sort first.
    let journal = names.iter().filter(|it| it.starts_with("journal")).count().saturating_sub(1);
    let last = if bench.rng.coin() { journal } else { last };
    let name = names[bench.rng.below(last as u64 + 1) as usize].clone();
    let bytes = bench.disk.borrow().read(&name).unwrap().len() as u64;
    if bytes <= 8 {
        return Ok(false);
    }
    // Not in the first eight bytes: a file that does not start like ours is refused, and left untouched.
    let bit = 64 + bench.rng.below(8 * bytes - 64);
    assert!(bench.disk.borrow_mut().flip_bit(&name, bit));

    let say = |why: String| format!("{name}, bit {bit}: {why}");
    let (mut group, recovery) =
        LogGroup::open(bench.folder("journal"), SMALL).map_err(|it| say(it.to_string()))?;
    let mut is_reported = !recovery.dropped.is_empty();
    let mut found = Vec::new();
    for log in 0..LOGS {
        let opened = group.open_log(log, bench.folder(format!("log-{log}")), SCHEMA);
        let opened = opened.map_err(|it| say(format!("log {log}: {it}")))?;
        let hit = is_reported || !opened.recovery.dropped.is_empty();
        let model = LogModel::from(opened.recalled);
        if !hit && !bench.possible[log as usize].contains(&model) {
            return Err(say(format!("log {log} lost something and did not say so")));
        }
        let is_other = name.starts_with("log") && !name.starts_with(&format!("log-{log}/"));
        if is_other && hit {
            return Err(say(format!("log {log} reports the damage of another")));
        }
        found.push(vec![model]);
        is_reported |= name.starts_with("journal") && !opened.recovery.dropped.is_empty();
    }
    // From here on nothing may be lost, and nothing comes back.
    bench.possible = found;
    if bench.rng.coin() {
        drop(group);
        bench.crash();
    } else {
        bench.is_open = [true; LOGS as usize];
        while bench.rng.below(4) != 0 {
            bench.batch(&mut group)?;
        }
        bench.crash();
    }
    bench.check_all()?;
    Ok(is_reported)
}

#[test]
fn a_flipped_bit_is_reported_once() {
    let reported =
        (0..3_000).filter(|&seed| flipped(seed).map_err(|it| format!("seed {seed}: {it}")).unwrap());
    assert!(200 < reported.count());
}

/// A replica may be given a snapshot that is older than its own, by a new primary. Records that the journal holds must not
/// come back behind it.
#[test]
fn a_log_may_be_replaced_by_an_older_snapshot() {
    let bench = Bench::new(0, Forgets::Nothing);
    let open = || LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap().0;
    let mut group = open();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    let keep = (0, DiskRequest::Keep { ticket: Ticket(0), index: 10, snapshot: vec![10] });
    group.serve(vec![append(0, 1, vec![vec![1]; 10]), keep, append(0, 11, vec![vec![11]])]);
    let replace = |index| (0, DiskRequest::Replace { ticket: Ticket(0), index, snapshot: vec![2] });
    let replies = group.serve(vec![replace(8)]);
    assert!(matches!(replies[..], [(0, DiskReply::Persisted { .. })]), "{:?}", group.failure(0));
    group.serve(vec![append(0, 9, vec![vec![9]])]);
    let opened = open().open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert!(!opened.recovery.is_damaged());
    assert_eq!(opened.recalled.snapshot, Some((8, vec![2])));
    assert_eq!(opened.recalled.records, [[9]]);
}

fn append(log: u32, first: u64, records: Vec<Vec<u8>>) -> (u32, DiskRequest) {
    (log, DiskRequest::Append { ticket: Ticket(0), first, records })
}

#[test]
fn appends_of_many_logs_share_one_sync() {
    let bench = Bench::new(0, Forgets::Nothing);
    let (mut group, _) = LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap();
    (0..LOGS).for_each(|log| {
        group.open_log(log, bench.folder(format!("log-{log}")), SCHEMA).unwrap();
    });
    group.serve((0..LOGS).map(|log| append(log, 1, vec![vec![1]])).collect());
    let before = bench.disk.borrow().operations();
    group.serve((0..LOGS).map(|log| append(log, 2, vec![vec![2]])).collect());
    assert_eq!(bench.disk.borrow().operations() - before, 2, "one write and one sync");
}

#[test]
fn replies_do_not_wait_for_a_checkpoint() {
    let bench = Bench::new(0, Forgets::Nothing);
    let limits = LogLimits { checkpoint_bytes: 0, ..LogLimits::default() };
    let (mut group, _) = LogGroup::open(bench.folder("journal"), limits).unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    let operations = || bench.disk.borrow().operations();
    group.serve(vec![append(0, 1, vec![vec![1]])]);
    let before = operations();
    group.serve(vec![append(0, 2, vec![vec![2]])]);
    assert_eq!(operations() - before, 2, "one write and one sync");
    group.checkpoint_if_due().unwrap();
    assert!(bench.folder("log-0").list().unwrap().iter().any(|it| it.starts_with("log-")));
    let after = operations();
    group.checkpoint_if_due().unwrap();
    assert_eq!(operations(), after, "the journal is empty");
}

#[test]
fn the_journal_stays_short() {
    let bench = Bench::new(0, Forgets::Nothing);
    let (mut group, _) = LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    let mut longest = 0;
    for first in 0..100u64 {
        let replies = group.serve(vec![append(0, first + 1, vec![vec![1; 200_000]])]);
        assert!(matches!(replies[..], [(0, DiskReply::Persisted { .. })]));
        group.checkpoint_if_due().unwrap();
        let journal = bench.folder("journal");
        let bytes = journal.list().unwrap().iter().map(|it| journal.read(it).unwrap().len()).sum();
        longest = longest.max(bytes);
    }
    assert!(longest < CHECKPOINT_BYTES + 2 * JOURNAL_BYTES_MAX, "{longest} bytes");
    assert!(CHECKPOINT_BYTES / 2 < longest, "{longest} bytes: the journal was hardly used");
}

#[test]
fn a_log_that_was_wiped_is_reported_and_stays_empty() {
    let mut bench = Bench::new(0, Forgets::Nothing);
    let mut group = bench.open_group().unwrap().unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    group.serve(vec![append(0, 1, vec![vec![1]])]);
    group.checkpoint().unwrap();
    group.serve(vec![append(0, 2, vec![vec![2]])]);
    drop(group);
    let mut folder = bench.folder("log-0");
    folder.list().unwrap().iter().for_each(|name| folder.remove(name).unwrap());
    let mut group = bench.open_group().unwrap().unwrap();
    let opened = group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert!(opened.recovery.is_damaged(), "{}", opened.recovery);
    assert_eq!((opened.recalled.first, opened.recalled.records.len()), (1, 0));
    drop(group);
    let mut group = bench.open_group().unwrap().unwrap();
    let opened = group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert!(!opened.recovery.is_damaged() && opened.recalled.records.is_empty());
}

#[test]
fn pending_records_of_another_schema_are_refused() {
    let mut bench = Bench::new(0, Forgets::Nothing);
    let mut group = bench.open_group().unwrap().unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    group.serve(vec![append(0, 1, vec![vec![1]])]);
    drop(group);
    let mut group = bench.open_group().unwrap().unwrap();
    let refused = group.open_log(0, bench.folder("log-0"), SCHEMA + 1);
    assert_eq!(refused.err(), Some(StoreError::Schema { found: SCHEMA, expected: SCHEMA + 1 }));
    assert_eq!(group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap().recalled.records, [[1]]);
}

#[test]
fn a_migrated_log_opens_with_old_changes_in_the_journal() {
    let mut bench = Bench::new(0, Forgets::Nothing);
    let mut group = bench.open_group().unwrap().unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    group.serve(vec![append(0, 1, vec![vec![1], vec![2]])]);
    group.close_log(0);
    drop(group);
    let (mut log, opened) =
        Log::open_to_migrate(bench.folder("log-0"), SCHEMA + 1, LogLimits::default()).unwrap();
    assert_eq!(opened.recalled.records, [[1], [2]]);
    log.keep(2, b"migrated").unwrap();
    let mut group = bench.open_group().unwrap().unwrap();
    let opened = group.open_log(0, bench.folder("log-0"), SCHEMA + 1).unwrap();
    assert_eq!(opened.recalled.snapshot, Some((2, b"migrated".to_vec())));
}

/// A world of the version before there were groups: its logs are whole, and there is no journal.
#[test]
fn logs_without_a_journal_open() {
    let mut bench = Bench::new(0, Forgets::Nothing);
    let (mut log, _) = Log::open(bench.folder("log-0"), SCHEMA, SMALL).unwrap();
    log.append(1, &[vec![1], vec![2], vec![3]]).unwrap();
    log.keep(1, b"one").unwrap();
    drop(log);
    let mut group = bench.open_group().unwrap().unwrap();
    let opened = group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert!(!opened.recovery.is_damaged());
    let cut = (0, DiskRequest::Cut { ticket: Ticket(0), from: 3 });
    group.serve(vec![cut, append(0, 3, vec![vec![4]])]);
    bench.crash();
    let mut group = bench.open_group().unwrap().unwrap();
    let opened = group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert_eq!(opened.recalled.snapshot, Some((1, b"one".to_vec())));
    assert_eq!(opened.recalled.records, [[2], [4]]);
}

/// Its changes are written again by every checkpoint, and never more than once each.
#[test]
fn a_log_that_is_never_opened_again_does_not_make_the_journal_grow() {
    let bench = Bench::new(0, Forgets::Nothing);
    let open = || LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap().0;
    let mut group = open();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    group.serve(vec![append(0, 1, vec![vec![1; 300_000]])]);
    let mut group = open();
    group.open_log(1, bench.folder("log-1"), SCHEMA).unwrap();
    let mut longest = 0;
    for first in 1..=100 {
        group.serve(vec![append(1, first, vec![vec![1; 300_000]])]);
        group.checkpoint_if_due().unwrap();
        let journal = bench.folder("journal");
        longest = longest
            .max(journal.list().unwrap().iter().map(|it| journal.read(it).unwrap().len()).sum::<usize>());
    }
    assert!(longest < CHECKPOINT_BYTES + 2 * JOURNAL_BYTES_MAX, "{longest} bytes");
    let opened = open().open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert_eq!(opened.recalled.records, [vec![1; 300_000]]);
}

#[test]
fn requests_to_a_closed_log_fail_and_harm_no_other() {
    let mut bench = Bench::new(0, Forgets::Nothing);
    let mut group = bench.open_group().unwrap().unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    let replies = group.serve(vec![append(1, 1, vec![vec![1]]), append(0, 1, vec![vec![1]])]);
    assert!(matches!(replies[..], [(1, DiskReply::Failed { .. }), (0, DiskReply::Persisted { .. })]));
    assert_eq!(group.failure(1), Some(&StoreError::Closed));
}

/// A log that is not open has changes only in the journal. A checkpoint that is interrupted anywhere must not lose them.
#[test]
fn an_interrupted_checkpoint_keeps_the_changes_of_closed_logs() {
    let records: Vec<Vec<u8>> = (0..9).map(|byte| vec![byte; 20]).collect();
    for (operations, seed) in (0..12).flat_map(|operations| (0..20).map(move |seed| (operations, seed))) {
        let mut bench = Bench::new(seed, Forgets::Nothing);
        let open = |bench: &Bench| LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap().0;
        let mut group = open(&bench);
        group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
        group.serve(vec![append(0, 1, records.clone())]);
        // The process is killed; the next one has not opened the log yet when it reaches a checkpoint.
        let mut group = open(&bench);
        bench.disk.borrow_mut().cut_power_after(operations);
        drop(group.checkpoint());
        bench.crash();
        let opened = open(&bench).open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
        assert_eq!(opened.recalled.records, records, "power off after {operations}, seed {seed}");
    }
}

/// The rest in the journal's snapshot is gone before its log is written directly.
#[test]
fn changes_of_a_closed_log_are_not_repeated_after_a_long_append() {
    let bench = Bench::new(0, Forgets::Nothing);
    let open = || LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap().0;
    let mut group = open();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    group.serve(vec![append(0, 1, vec![vec![1], vec![2], vec![3]])]);
    group.checkpoint().unwrap();
    let cut = (0, DiskRequest::Cut { ticket: Ticket(0), from: 2 });
    group.serve(vec![cut, append(0, 2, vec![vec![4]])]);
    // The process is killed twice, the first time after a checkpoint without the log.
    open().checkpoint().unwrap();
    open().checkpoint().unwrap();
    let mut group = open();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    let long = vec![5; JOURNAL_BYTES_MAX + 1];
    group.serve(vec![append(0, 3, vec![long.clone()])]);
    let opened = open().open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert_eq!(opened.recalled.records, [vec![1], vec![4], long]);
}

/// Short records take more room in the journal than in their log.
#[test]
fn an_append_of_very_many_records_is_no_more_than_the_journal_takes() {
    let records = vec![Vec::new(); 1_000_000];
    let mut bench = Bench::new(0, Forgets::Nothing);
    let (mut group, _) = LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap();
    group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    let replies = group.serve(vec![append(0, 1, records.clone())]);
    assert!(matches!(replies[..], [(0, DiskReply::Persisted { .. })]), "{:?}", group.failure(0));
    bench.crash();
    let (mut group, _) = LogGroup::open(bench.folder("journal"), LogLimits::default()).unwrap();
    let opened = group.open_log(0, bench.folder("log-0"), SCHEMA).unwrap();
    assert_eq!(opened.recalled.records.len(), records.len());
}

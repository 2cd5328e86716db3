//! [store-01] to [store-03]: after a crash at any point, everything acknowledged is there, nothing is
//! invented, and of unacknowledged changes a first part.

use crate::bench::{DiskFault, Forgets, RunEnd, StoreRun, run_all};
use crate::model::LogChange;
use proptest::prelude::*;

/// Changes of every kind, over several segments.
pub fn sample_changes() -> Vec<LogChange> {
    let record = |byte: u8, length: usize| vec![byte; length];
    vec![
        LogChange::Append(vec![record(1, 10), record(2, 40)]),
        LogChange::Append(vec![record(3, 0)]),
        LogChange::Append(vec![record(4, 60), record(5, 1), record(6, 1)]),
        LogChange::Append(vec![record(7, 5)]),
        LogChange::Cut(2),
        LogChange::Append(vec![record(8, 90)]),
        LogChange::Keep(-2, b"first snapshot".to_vec()),
        LogChange::Append(vec![record(9, 90)]),
        LogChange::Append(vec![record(10, 90)]),
        LogChange::Cut(3),
        LogChange::Append(vec![record(11, 20), record(12, 20)]),
        LogChange::Keep(0, b"second snapshot".to_vec()),
        LogChange::Append(vec![record(13, 7)]),
        LogChange::Keep(10, b"third snapshot, far ahead".to_vec()),
        LogChange::Append(vec![record(14, 100)]),
        LogChange::Keep(-1, b"fourth, in the place of the third".to_vec()),
        LogChange::Replace(-7, b"fifth, older than the fourth".to_vec()),
        LogChange::Append(vec![record(15, 100)]),
    ]
}

/// The changes interrupted after `operations` of the disk, then an interrupted opening, then an undisturbed run.
fn interrupted(operations: u64, seed: u64) -> [StoreRun; 3] {
    let run = |fault| StoreRun { changes: sample_changes(), fault, end: RunEnd::Crash };
    [run(DiskFault::Power(operations)), run(DiskFault::Power(seed % 9)), run(DiskFault::None)]
}

/// Enough operations for all changes; the test below says if not.
const OPERATIONS: u64 = 120;

fn first_mistake(forgets: Forgets) -> Option<String> {
    (0..OPERATIONS)
        .flat_map(|operations| (0..12).map(move |seed| (operations, seed)))
        .find_map(|(operations, seed)| run_all(&interrupted(operations, seed), seed, forgets).err())
}

#[test]
fn power_may_fail_at_every_point() {
    let whole = StoreRun { changes: sample_changes(), fault: DiskFault::None, end: RunEnd::Kill };
    let used = run_all(&[whole], 0, Forgets::Nothing).unwrap().operations();
    assert!(used < OPERATIONS, "the changes take {used} operations: raise OPERATIONS");
    assert_eq!(first_mistake(Forgets::Nothing), None);
}

#[test]
fn the_bench_notices_what_a_disk_forgets() {
    for forgets in [Forgets::Sync, Forgets::SyncOfNames, Forgets::Truncate, Forgets::SyncBeforeRename] {
        assert_ne!(first_mistake(forgets), None, "{forgets:?} went unnoticed");
    }
}

/// Records that a killed process wrote and never synced are recalled by the next one, which acts on them: they must
/// survive from then on.
#[test]
fn recalled_records_survive() {
    for (operations, seed) in (0..OPERATIONS).flat_map(|at| (0..8).map(move |seed| (at, seed))) {
        let changes = sample_changes();
        let failing =
            StoreRun { changes, fault: DiskFault::Sync(operations as usize % 19), end: RunEnd::Kill };
        let reading = StoreRun { changes: vec![], fault: DiskFault::None, end: RunEnd::Crash };
        let runs = [failing.clone(), reading.clone(), failing, reading];
        run_all(&runs, seed ^ operations << 8, Forgets::Nothing).unwrap();
    }
}

fn records() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5)
}

fn change() -> impl Strategy<Value = LogChange> {
    prop_oneof![
        4 => records().prop_map(LogChange::Append),
        2 => (0..8u64).prop_map(LogChange::Cut),
        2 => (-8..4i64, prop::collection::vec(any::<u8>(), 0..60)).prop_map(|(at, bytes)| LogChange::Keep(at, bytes)),
        1 => (-20..4i64, prop::collection::vec(any::<u8>(), 0..60)).prop_map(|(at, bytes)| LogChange::Replace(at, bytes)),
    ]
}

fn fault() -> impl Strategy<Value = DiskFault> {
    prop_oneof![
        Just(DiskFault::None),
        (0..60u64).prop_map(DiskFault::Power),
        (0..12usize).prop_map(DiskFault::Sync),
        (0..800usize).prop_map(DiskFault::Full),
    ]
}

fn run() -> impl Strategy<Value = StoreRun> {
    let end = prop_oneof![Just(RunEnd::Kill), Just(RunEnd::Crash)];
    (prop::collection::vec(change(), 0..12), fault(), end).prop_map(|(changes, fault, end)| StoreRun {
        changes,
        fault,
        end,
    })
}

proptest! {
    #[test]
    fn any_run_keeps_what_it_acknowledged(runs in prop::collection::vec(run(), 1..6), seed: u64) {
        prop_assert_eq!(run_all(&runs, seed, Forgets::Nothing).err(), None);
    }
}

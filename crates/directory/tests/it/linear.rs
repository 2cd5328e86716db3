//! [directory-01] to [directory-03]: the directory behaves like one map, through any crashes of its process and its
//! disk.

use crate::bench::{DirectoryRun, DirectoryStep, run_all};
use proptest::prelude::*;

fn swap() -> impl Strategy<Value = DirectoryStep> {
    let value = prop::option::weighted(0.8, prop::collection::vec(any::<u8>(), 0..12));
    prop::collection::vec((0..4usize, prop::bool::weighted(0.8), value), 0..4).prop_map(DirectoryStep::Swap)
}

fn step() -> impl Strategy<Value = DirectoryStep> {
    prop_oneof![12 => swap(), 6 => (0..900_000u64).prop_map(DirectoryStep::Clock), 1 => Just(DirectoryStep::FailSync)]
}

fn run() -> impl Strategy<Value = DirectoryRun> {
    let now = prop_oneof![Just(0), 0..10_000_000u64, Just(u64::MAX / 2)];
    (now, prop::collection::vec(step(), 0..20), prop::option::of(0..60u64), any::<bool>())
        .prop_map(|(now, steps, power, is_killed)| DirectoryRun { now, steps, power, is_killed })
}

proptest! {
    #[test]
    fn a_map_that_survives_every_crash(runs in prop::collection::vec(run(), 1..6), seed: u64) {
        prop_assert_eq!(run_all(&runs, seed, false).err(), None);
    }
}

/// Swaps and clock readings, interrupted after every operation of the disk in turn.
fn interrupted(operations: u64) -> [DirectoryRun; 3] {
    let value = |byte| Some(vec![byte; 8]);
    let mut steps = Vec::new();
    for byte in 0..8 {
        steps.push(DirectoryStep::Swap(vec![(usize::from(byte), true, value(byte)), (1, true, value(byte))]));
        steps.push(DirectoryStep::Clock(400_000));
        steps.push(DirectoryStep::Swap(vec![(2, true, None)]));
    }
    let run = |power| DirectoryRun { now: 5, steps: steps.clone(), power, is_killed: false };
    [run(Some(operations)), run(Some(operations % 7)), run(None)]
}

fn first_mistake(forgets_syncs: bool) -> Option<String> {
    (0..90)
        .flat_map(|operations| (0..6).map(move |seed| (operations, seed)))
        .find_map(|(operations, seed)| run_all(&interrupted(operations), seed, forgets_syncs).err())
}

#[test]
fn power_may_fail_at_every_point() {
    assert_eq!(first_mistake(false), None);
}

#[test]
fn the_bench_notices_a_disk_that_does_not_sync() {
    assert_ne!(first_mistake(true), None);
}

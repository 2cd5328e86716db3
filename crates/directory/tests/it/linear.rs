//! [directory-01] to [directory-03]: as if there were one map, through any deaths of its process and its
//! disk.

use crate::bench::{Life, Step, live};
use proptest::prelude::*;

fn swap() -> impl Strategy<Value = Step> {
    let value = prop::option::weighted(0.8, prop::collection::vec(any::<u8>(), 0..12));
    prop::collection::vec((0..4usize, prop::bool::weighted(0.8), value), 0..4).prop_map(Step::Swap)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![12 => swap(), 6 => (0..900_000u64).prop_map(Step::Clock), 1 => Just(Step::FailSync)]
}

fn life() -> impl Strategy<Value = Life> {
    let now = prop_oneof![Just(0), 0..10_000_000u64, Just(u64::MAX / 2)];
    (now, prop::collection::vec(step(), 0..20), prop::option::of(0..60u64), any::<bool>())
        .prop_map(|(now, steps, power, is_killed)| Life { now, steps, power, is_killed })
}

proptest! {
    #[test]
    fn a_map_that_outlives_its_deaths(lives in prop::collection::vec(life(), 1..6), seed: u64) {
        prop_assert_eq!(live(&lives, seed, false).err(), None);
    }
}

/// Swaps and clock readings, interrupted after every operation of the disk in turn.
fn interrupted(operations: u64) -> [Life; 3] {
    let value = |byte| Some(vec![byte; 8]);
    let mut steps = Vec::new();
    for byte in 0..8 {
        steps.push(Step::Swap(vec![(usize::from(byte), true, value(byte)), (1, true, value(byte))]));
        steps.push(Step::Clock(400_000));
        steps.push(Step::Swap(vec![(2, true, None)]));
    }
    let life = |power| Life { now: 5, steps: steps.clone(), power, is_killed: false };
    [life(Some(operations)), life(Some(operations % 7)), life(None)]
}

fn first_wrong(forgets_syncs: bool) -> Option<String> {
    (0..90)
        .flat_map(|operations| (0..6).map(move |seed| (operations, seed)))
        .find_map(|(operations, seed)| live(&interrupted(operations), seed, forgets_syncs).err())
}

#[test]
fn power_may_fail_at_every_point() {
    assert_eq!(first_wrong(false), None);
}

#[test]
fn the_bench_sees_a_disk_that_does_not_sync() {
    assert_ne!(first_wrong(true), None);
}

//! [store-01] to [store-03]: after any death at any point, everything acknowledged is there, nothing is
//! invented, and of what was not acknowledged a beginning.

use crate::bench::{Death, Fault, Forgets, Life, live};
use crate::model::Change;
use proptest::prelude::*;

/// A story with every kind of change, over several segments.
pub fn story() -> Vec<Change> {
    let record = |byte: u8, length: usize| vec![byte; length];
    vec![
        Change::Append(vec![record(1, 10), record(2, 40)]),
        Change::Append(vec![record(3, 0)]),
        Change::Append(vec![record(4, 60), record(5, 1), record(6, 1)]),
        Change::Append(vec![record(7, 5)]),
        Change::Cut(2),
        Change::Append(vec![record(8, 90)]),
        Change::Keep(-2, b"first snapshot".to_vec()),
        Change::Append(vec![record(9, 90)]),
        Change::Append(vec![record(10, 90)]),
        Change::Cut(3),
        Change::Append(vec![record(11, 20), record(12, 20)]),
        Change::Keep(0, b"second snapshot".to_vec()),
        Change::Append(vec![record(13, 7)]),
        Change::Keep(10, b"third snapshot, far ahead".to_vec()),
        Change::Append(vec![record(14, 100)]),
        Change::Keep(-1, b"fourth, in the place of the third".to_vec()),
        Change::Append(vec![record(15, 100)]),
    ]
}

/// The story interrupted after `operations` of the disk, then opened, interrupted in that too, then lived on.
fn interrupted(operations: u64, seed: u64) -> [Life; 3] {
    let life = |fault| Life { changes: story(), fault, death: Death::Crash };
    [life(Fault::Power(operations)), life(Fault::Power(seed % 9)), life(Fault::None)]
}

/// Long enough for the whole story; the test below says if not.
const OPERATIONS: u64 = 100;

fn first_wrong(forgets: Forgets) -> Option<String> {
    (0..OPERATIONS)
        .flat_map(|operations| (0..12).map(move |seed| (operations, seed)))
        .find_map(|(operations, seed)| live(&interrupted(operations, seed), seed, forgets).err())
}

#[test]
fn power_may_fail_at_every_point() {
    let whole = Life { changes: story(), fault: Fault::None, death: Death::Kill };
    let used = live(&[whole], 0, Forgets::Nothing).unwrap().operations();
    assert!(used < OPERATIONS, "the story takes {used} operations: raise OPERATIONS");
    assert_eq!(first_wrong(Forgets::Nothing), None);
}

#[test]
fn the_bench_sees_what_a_disk_forgets() {
    for forgets in [Forgets::Sync, Forgets::SyncOfNames, Forgets::Truncate, Forgets::SyncBeforeRename] {
        assert_ne!(first_wrong(forgets), None, "{forgets:?} went unnoticed");
    }
}

/// What a killed process wrote and never synced is read by the next one: whoever was told of it relies on it.
#[test]
fn what_was_recalled_survives() {
    for (operations, seed) in (0..OPERATIONS).flat_map(|at| (0..8).map(move |seed| (at, seed))) {
        let changes = story();
        let failing = Life { changes, fault: Fault::Sync(operations as usize % 18), death: Death::Kill };
        let reading = Life { changes: vec![], fault: Fault::None, death: Death::Crash };
        let lives = [failing.clone(), reading.clone(), failing, reading];
        live(&lives, seed ^ operations << 8, Forgets::Nothing).unwrap();
    }
}

fn records() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => records().prop_map(Change::Append),
        2 => (0..8u64).prop_map(Change::Cut),
        2 => (-8..4i64, prop::collection::vec(any::<u8>(), 0..60)).prop_map(|(at, bytes)| Change::Keep(at, bytes)),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        Just(Fault::None),
        (0..60u64).prop_map(Fault::Power),
        (0..12usize).prop_map(Fault::Sync),
        (0..800usize).prop_map(Fault::Full),
    ]
}

fn life() -> impl Strategy<Value = Life> {
    let death = prop_oneof![Just(Death::Kill), Just(Death::Crash)];
    (prop::collection::vec(change(), 0..12), fault(), death).prop_map(|(changes, fault, death)| Life {
        changes,
        fault,
        death,
    })
}

proptest! {
    #[test]
    fn any_life_keeps_what_it_acknowledged(lives in prop::collection::vec(life(), 1..6), seed: u64) {
        prop_assert_eq!(live(&lives, seed, Forgets::Nothing).err(), None);
    }
}

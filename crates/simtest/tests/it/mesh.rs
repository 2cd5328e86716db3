//! Worlds of several zones.

use crate::survival::survives;
use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use simtest::RunRequest;
use simtest::fault::{FaultKind, FaultKinds};
use zone::Durability;

#[test]
fn nothing_is_lost_whatever_breaks() {
    let outcomes = survives(30_000..if is_full() { 30_100 } else { 30_012 }, &RunRequest::MESH);
    let failovers: u64 = outcomes.iter().map(|it| it.counts.failovers).sum();
    let restarts: u64 = outcomes.iter().map(|it| it.counts.restarts).sum();
    let acked: u64 = outcomes.iter().map(|it| it.counts.actions_acked).sum();
    assert!(20 <= failovers && 40 <= restarts && 5_000 <= acked, "{failovers} {restarts} {acked}");
}

#[test]
fn a_synced_world_comes_back_as_it_was() {
    let kinds = FaultKinds::of([FaultKind::StopAll]);
    let request =
        RunRequest { kinds, all_kinds: true, durability: Some(Durability::Synced), ..RunRequest::MESH };
    let outcomes = survives(1..7, &request);
    assert!(outcomes.iter().all(|it| it.counts.rolled_back == 0 && 0 < it.counts.restarts));
}

/// Zones tell each other only what is on their disks: so they may lose their last moments, but never come back to
/// different ones.
#[test]
fn zones_that_lose_their_last_moments_still_fit_together() {
    let kinds = FaultKinds::of([FaultKind::StopAll, FaultKind::DiskSlow]);
    let request =
        RunRequest { kinds, all_kinds: true, durability: Some(Durability::Batched), ..RunRequest::MESH };
    let outcomes = survives(1..13, &request);
    assert!(0 < outcomes.iter().map(|it| it.counts.rolled_back).sum::<u64>());
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 31_000..if is_full() { 31_010 } else { 31_003 } {
        let run = || simtest::run(KosmosScenario, seed, &RunRequest::MESH);
        let (first, second) = (run(), run());
        assert_eq!((first.history, first.events), (second.history, second.events), "seed {seed}");
    }
}

/// All replicas on a host die together, and sometimes one replica alone.
#[test]
fn hosts_die_with_all_their_replicas() {
    let only = |kind| {
        let kinds = FaultKinds::of([kind]);
        RunRequest { kinds, all_kinds: true, zones: (4, 4), faults: Some(6), ..RunRequest::MESH }
    };
    for outcome in survives(1..4, &only(FaultKind::Crash)) {
        assert_eq!(outcome.counts.restarts % 4, 0, "seed {}", outcome.options.seed);
    }
    let alone = survives(1..4, &only(FaultKind::CrashOne));
    assert!(alone.iter().any(|it| it.counts.restarts % 4 != 0));
}

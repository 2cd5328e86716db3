//! Worlds of several zones.

use crate::survival::survives;
use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use trial::Asked;
use trial::fault::{Kind, Kinds};
use zone::Durability;

#[test]
fn nothing_is_lost_whatever_breaks() {
    let outcomes = survives(30_000..if is_full() { 30_100 } else { 30_012 }, &Asked::MESH);
    let failovers: u64 = outcomes.iter().map(|it| it.tally.failovers).sum();
    let restarts: u64 = outcomes.iter().map(|it| it.tally.restarts).sum();
    let acked: u64 = outcomes.iter().map(|it| it.tally.actions_acked).sum();
    assert!(20 <= failovers && 40 <= restarts && 5_000 <= acked, "{failovers} {restarts} {acked}");
}

#[test]
fn a_synced_world_comes_back_as_it_was() {
    let kinds = Kinds::of([Kind::StopAll]);
    let asked = Asked { kinds, all_kinds: true, durability: Some(Durability::Synced), ..Asked::MESH };
    let outcomes = survives(1..7, &asked);
    assert!(outcomes.iter().all(|it| it.tally.rolled_back == 0 && 0 < it.tally.restarts));
}

/// What zones have told each other is on their disks: so they may lose their last moments, but never come back to
/// different ones.
#[test]
fn zones_that_lose_their_last_moments_still_fit_together() {
    let kinds = Kinds::of([Kind::StopAll, Kind::DiskSlow]);
    let asked = Asked { kinds, all_kinds: true, durability: Some(Durability::Batched), ..Asked::MESH };
    let outcomes = survives(1..13, &asked);
    assert!(0 < outcomes.iter().map(|it| it.tally.rolled_back).sum::<u64>());
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 31_000..if is_full() { 31_010 } else { 31_003 } {
        let run = || trial::run(KosmosScenario, seed, &Asked::MESH);
        let (first, second) = (run(), run());
        assert_eq!((first.history, first.events), (second.history, second.events), "seed {seed}");
    }
}

/// Everything on a host dies together, and sometimes one replica alone.
#[test]
fn hosts_die_with_all_their_replicas() {
    let only = |kind| {
        let kinds = Kinds::of([kind]);
        Asked { kinds, all_kinds: true, zones: (4, 4), faults: Some(6), ..Asked::MESH }
    };
    for outcome in survives(1..4, &only(Kind::Crash)) {
        assert_eq!(outcome.tally.restarts % 4, 0, "seed {}", outcome.options.seed);
    }
    let alone = survives(1..4, &only(Kind::CrashOne));
    assert!(alone.iter().any(|it| it.tally.restarts % 4 != 0));
}

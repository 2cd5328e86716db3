//! Worlds in which everything breaks, and nothing that was announced is lost.

use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use machine::Time;
use simtest::fault::{FaultKind, FaultKinds};
use simtest::{RunOptions, RunRequest, SimulatedWorld, run};
use zone::Durability;

/// Runs these seeds, in none of which there may be a violation.
pub fn survives(seeds: std::ops::Range<u64>, request: &RunRequest) -> Vec<simtest::RunOutcome> {
    let outcomes: Vec<_> = seeds.map(|seed| run(KosmosScenario, seed, request)).collect();
    for outcome in &outcomes {
        assert!(outcome.violations.is_empty(), "{}\n{:?}", outcome.violations[0], outcome.options);
    }
    outcomes
}

#[test]
fn nothing_is_lost_whatever_breaks() {
    let outcomes = survives(10_000..if is_full() { 10_100 } else { 10_020 }, &RunRequest::ZONE);
    // A run in which nothing happens proves nothing.
    let failovers: u64 = outcomes.iter().map(|it| it.counts.failovers).sum();
    let restarts: u64 = outcomes.iter().map(|it| it.counts.restarts).sum();
    let acked: u64 = outcomes.iter().map(|it| it.counts.actions_acked).sum();
    assert!(20 <= failovers && 40 <= restarts && 10_000 <= acked, "{failovers} {restarts} {acked}");
}

/// Budgets of poses are small in some worlds, and unlimited in others.
#[test]
fn poses_have_to_wait_in_some_worlds() {
    let thin = |seed: &u64| {
        let mut world = SimulatedWorld::new(KosmosScenario, RunOptions::draw(*seed, &RunRequest::ZONE));
        world.run_until(Time::from_millis(10_000));
        let hosts = world.layout().replicas().filter_map(|it| world.sim.machine(it).host());
        let (sent, deferred) = hosts.fold((0, 0), |(sent, deferred), it| {
            (sent + it.pose_counts().sent, deferred + it.pose_counts().deferred)
        });
        assert!(0 < sent, "seed {seed}");
        0 < deferred
    };
    let count = (1..=20).filter(thin).count();
    assert!((3..=12).contains(&count), "in {count} of 20 worlds");
}

#[test]
fn a_world_in_which_nothing_breaks_has_no_failover() {
    let request = RunRequest { kinds: FaultKinds::NONE, ..RunRequest::ZONE };
    for outcome in survives(1..6, &request) {
        assert_eq!(
            (outcome.counts.failovers, outcome.counts.restarts),
            (0, 0),
            "seed {}",
            outcome.options.seed
        );
    }
}

/// Full stops at random moments: with both disks synced before anything is announced, nothing is undone.
#[test]
fn a_synced_world_comes_back_as_it_was() {
    let request = stops(Durability::Synced);
    let outcomes = survives(1..13, &request);
    assert!(outcomes.iter().all(|it| it.counts.rolled_back == 0 && 0 < it.counts.restarts));
}

/// With disks written soon after, at most the last 100 ms are undone (the checkers see to that), and never a part of
/// an event.
#[test]
fn a_batched_world_loses_moments_at_most() {
    // Few stops come in the middle of something.
    let outcomes = survives(1..if is_full() { 101 } else { 21 }, &stops(Durability::Batched));
    assert!(
        outcomes.iter().any(|it| 0 < it.counts.rolled_back),
        "a run that never loses anything is too kind"
    );
}

fn stops(durability: Durability) -> RunRequest {
    let kinds = FaultKinds::of([FaultKind::StopAll]);
    RunRequest { kinds, all_kinds: true, durability: Some(durability), ..RunRequest::ZONE }
}

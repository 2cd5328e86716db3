//! Worlds in which everything breaks, and nothing that was announced is lost.

use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use machine::Time;
use trial::fault::{Kind, Kinds};
use trial::{Asked, Options, World, run};
use zone::Durability;

/// Runs these seeds, in none of which anything may be violated.
pub fn survives(seeds: std::ops::Range<u64>, asked: &Asked) -> Vec<trial::Outcome> {
    let outcomes: Vec<_> = seeds.map(|seed| run(KosmosScenario, seed, asked)).collect();
    for outcome in &outcomes {
        assert!(outcome.violations.is_empty(), "{}\n{:?}", outcome.violations[0], outcome.options);
    }
    outcomes
}

#[test]
fn nothing_is_lost_whatever_breaks() {
    let outcomes = survives(10_000..if is_full() { 10_100 } else { 10_020 }, &Asked::EVERYTHING);
    // A trial in which nothing happens proves nothing.
    let failovers: u64 = outcomes.iter().map(|it| it.tally.failovers).sum();
    let restarts: u64 = outcomes.iter().map(|it| it.tally.restarts).sum();
    let acked: u64 = outcomes.iter().map(|it| it.tally.actions_acked).sum();
    assert!(20 <= failovers && 40 <= restarts && 10_000 <= acked, "{failovers} {restarts} {acked}");
}

/// Lines are thin in some worlds, and wide in others.
#[test]
fn poses_have_to_wait_in_some_worlds() {
    let thin = |seed: &u64| {
        let mut world = World::new(KosmosScenario, Options::drawn(*seed, &Asked::EVERYTHING));
        world.run_until(Time::from_millis(10_000));
        let hosts = world.layout().replicas().filter_map(|it| world.sim.machine(it).host());
        let (sent, deferred) = hosts.fold((0, 0), |(sent, deferred), it| {
            (sent + it.carried().sent, deferred + it.carried().deferred)
        });
        assert!(0 < sent, "seed {seed}");
        0 < deferred
    };
    let count = (1..=20).filter(thin).count();
    assert!((3..=12).contains(&count), "in {count} of 20 worlds");
}

#[test]
fn a_world_in_which_nothing_breaks_has_no_failover() {
    let asked = Asked { kinds: Kinds::NONE, ..Asked::EVERYTHING };
    for outcome in survives(1..6, &asked) {
        assert_eq!(
            (outcome.tally.failovers, outcome.tally.restarts),
            (0, 0),
            "seed {}",
            outcome.options.seed
        );
    }
}

/// Everything killed at random moments: with both disks synced before anything is told, nothing is undone.
#[test]
fn a_synced_world_comes_back_as_it_was() {
    let asked = stops(Durability::Synced);
    let outcomes = survives(1..13, &asked);
    assert!(outcomes.iter().all(|it| it.tally.rolled_back == 0 && 0 < it.tally.restarts));
}

/// With disks written soon after, at most the last 100 ms are undone (the checkers see to that), and never a part of
/// an event.
#[test]
fn a_batched_world_loses_moments_at_most() {
    // Few stops come in the middle of something.
    let outcomes = survives(1..if is_full() { 101 } else { 21 }, &stops(Durability::Batched));
    assert!(
        outcomes.iter().any(|it| 0 < it.tally.rolled_back),
        "a trial that never loses anything is too kind"
    );
}

fn stops(durability: Durability) -> Asked {
    let kinds = Kinds::of([Kind::StopAll]);
    Asked { kinds, all_kinds: true, durability: Some(durability), ..Asked::EVERYTHING }
}

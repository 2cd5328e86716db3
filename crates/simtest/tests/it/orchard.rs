//! The tutorial's game, not a line of it changed, in worlds of four zones in which everything breaks.

mod harvest;
mod pickers;

#[path = "../../../game/examples/orchard.rs"]
#[allow(dead_code, reason = "its main is for running the example")]
mod rules;

use harvest::Harvest;
use pickers::Pickers;
use simtest::fault::{FaultKind, FaultKinds};
use simtest::planted_bug::PlantedBug;
use simtest::{RunOptions, RunOutcome, RunRequest, SimulatedWorld, plan, run_in};

const FOUR: RunRequest = RunRequest { zones: (4, 4), ..RunRequest::MESH };

fn played(seed: u64, request: &RunRequest) -> (RunOutcome, SimulatedWorld) {
    let options = RunOptions::draw(seed, request);
    let mut world = SimulatedWorld::new(Pickers, options);
    let outcome = run_in(&mut world, plan::draw(&options));
    (outcome, world)
}

/// Plays a seed in which there may be no violation, no fault of the game, and no apple lost or doubled.
fn survives(seed: u64, request: &RunRequest) -> (RunOutcome, Harvest) {
    let (outcome, world) = played(seed, request);
    assert!(outcome.violations.is_empty(), "{}\n{:?}", outcome.violations[0], outcome.options);
    // The answers to actions that were made to hang are no mistakes of the game.
    let mistake = world.monitor.game_faults.iter().find(|it| !it.contains("did not come back"));
    assert_eq!(mistake, None, "seed {seed}");
    let harvest = Harvest::of(&world);
    assert!(harvest.adds_up(), "seed {seed}: {harvest:?}");
    assert_eq!(harvest.trees, 2, "seed {seed}: planted once, whatever the division");
    (outcome, harvest)
}

#[test]
fn the_tutorial_runs_on_four_zones_whatever_breaks() {
    let outcomes: Vec<_> = (1..=16).map(|seed| survives(seed, &FOUR)).collect();
    // A run in which nothing happens proves nothing.
    let sum = |count: fn(&(RunOutcome, Harvest)) -> u64| outcomes.iter().map(count).sum::<u64>();
    let (failovers, acked) = (sum(|it| it.0.counts.failovers), sum(|it| it.0.counts.actions_acked));
    assert!(20 <= failovers && 2_000 <= acked, "{failovers} {acked}");
    let events = sum(|it| it.0.crossings.cross_zone_events);
    let transfers = sum(|it| it.0.crossings.transfers);
    assert!(100 <= events && 100 <= transfers, "{events} {transfers}");
    let (picked, given, across) = (sum(|it| it.1.picked), sum(|it| it.1.given), sum(|it| it.1.given_across));
    assert!(30 <= picked && 500 <= given && 10 <= across, "{picked} {given} {across}");
}

/// One of two zones does not hear of what was decided: a gift is taken from one and never reaches the other, or the
/// other way round. The checker notices, and so does a test that only counts apples.
#[test]
fn half_a_gift_is_noticed() {
    let planted = PlantedBug::by_name("one-is-forgotten").unwrap();
    let request = RunRequest { zones: FOUR.zones, ..planted.request() };
    let played: Vec<_> = (1..=6).map(|seed| played(seed, &request)).collect();
    assert!(played.iter().any(|it| !it.0.violations.is_empty()));
    assert!(played.iter().any(|it| !Harvest::of(&it.1).adds_up()));
}

/// A host's clock jumps by minutes. If the zones it decides in were ahead of the others, an avatar that crossed a
/// border would be in one zone by one clock and in the other by the other, and would go to and fro.
#[test]
fn zones_stay_together_when_a_clock_leaps() {
    let request = RunRequest { kinds: FaultKinds::of([FaultKind::ClockStep]), all_kinds: true, ..FOUR };
    let (outcome, _) = survives(53, &request);
    assert!(outcome.crossings.transfers < 500, "{:?}", outcome.crossings);
}

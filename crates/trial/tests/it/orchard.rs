//! The tutorial's game, not a line of it changed, in worlds of four zones in which everything breaks.

mod harvest;
mod pickers;

#[path = "../../../game/examples/orchard.rs"]
#[allow(dead_code, reason = "its main is for those who run it")]
mod rules;

use harvest::Harvest;
use pickers::Pickers;
use trial::fault::{Kind, Kinds};
use trial::plants::Planted;
use trial::{Asked, Options, Outcome, World, plan, run_in};

const FOUR: Asked = Asked { zones: (4, 4), ..Asked::MESH };

fn played(seed: u64, asked: &Asked) -> (Outcome, World) {
    let options = Options::drawn(seed, asked);
    let mut world = World::new(Pickers, options);
    let outcome = run_in(&mut world, plan::drawn(&options));
    (outcome, world)
}

/// Plays a seed in which nothing may be violated, no mistake of the game found, no apple lost or doubled.
fn survives(seed: u64, asked: &Asked) -> (Outcome, Harvest) {
    let (outcome, world) = played(seed, asked);
    assert!(outcome.violations.is_empty(), "{}\n{:?}", outcome.violations[0], outcome.options);
    assert_eq!(outcome.game_faults, 0, "seed {seed}: {:?}", world.monitor.faults_of_game.first());
    let harvest = Harvest::of(&world);
    assert!(harvest.adds_up(), "seed {seed}: {harvest:?}");
    assert_eq!(harvest.trees, 2, "seed {seed}: planted once, whatever the division");
    (outcome, harvest)
}

#[test]
fn the_tutorial_runs_on_four_zones_whatever_breaks() {
    let outcomes: Vec<_> = (1..=16).map(|seed| survives(seed, &FOUR)).collect();
    // A trial in which nothing happens proves nothing.
    let sum = |count: fn(&(Outcome, Harvest)) -> u64| outcomes.iter().map(count).sum::<u64>();
    let (failovers, acked) = (sum(|it| it.0.tally.failovers), sum(|it| it.0.tally.actions_acked));
    assert!(20 <= failovers && 2_000 <= acked, "{failovers} {acked}");
    let events = sum(|it| it.0.crossings.cross_zone_events);
    let transfers = sum(|it| it.0.crossings.transfers);
    assert!(100 <= events && 100 <= transfers, "{events} {transfers}");
    let (picked, given, across) = (sum(|it| it.1.picked), sum(|it| it.1.given), sum(|it| it.1.given_across));
    assert!(30 <= picked && 500 <= given && 10 <= across, "{picked} {given} {across}");
}

/// One of two zones does not hear of what was decided: a gift is taken from one and never reaches the other, or the
/// other way round. The judge sees it, and so does whoever only counts apples.
#[test]
fn half_a_gift_is_noticed() {
    let planted = Planted::by_name("one-is-forgotten").unwrap();
    let asked = Asked { zones: FOUR.zones, ..planted.asked() };
    let played: Vec<_> = (1..=6).map(|seed| played(seed, &asked)).collect();
    assert!(played.iter().any(|it| !it.0.violations.is_empty()));
    assert!(played.iter().any(|it| !Harvest::of(&it.1).adds_up()));
}

/// A host's clock jumps by minutes. If the zones it decides in were ahead of the others, whoever crossed a border would
/// be in one zone by one clock and in the other by the other, and would go to and fro.
#[test]
fn zones_stay_together_when_a_clock_leaps() {
    let asked = Asked { kinds: Kinds::of([Kind::ClockStep]), all_kinds: true, ..FOUR };
    let (outcome, _) = survives(53, &asked);
    assert!(outcome.crossings.transfers < 500, "{:?}", outcome.crossings);
}

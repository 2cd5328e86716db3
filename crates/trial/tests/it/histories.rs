//! One seed, one history.

use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use trial::{Asked, Outcome};

fn run(seed: u64) -> Outcome {
    trial::run(KosmosScenario, seed, &Asked::EVERYTHING)
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 20_000..if is_full() { 20_100 } else { 20_012 } {
        let (first, second) = (run(seed), run(seed));
        assert_eq!((first.history, first.events), (second.history, second.events), "seed {seed}");
    }
}

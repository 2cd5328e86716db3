//! The same seed gives the same history.

use crate::tier::is_full;
use kosmos_scenario::KosmosScenario;
use simtest::{RunOutcome, RunRequest};

fn run(seed: u64) -> RunOutcome {
    simtest::run(KosmosScenario, seed, &RunRequest::ZONE)
}

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 20_000..if is_full() { 20_100 } else { 20_012 } {
        let (first, second) = (run(seed), run(seed));
        assert_eq!((first.history, first.events), (second.history, second.events), "seed {seed}");
    }
}

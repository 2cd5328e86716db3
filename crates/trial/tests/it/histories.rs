//! One seed, one history. `ECUMENE_FULL=1` tries more of them.

use trial::{Asked, run};

#[test]
#[expect(clippy::disallowed_methods, reason = "which tier is run is no part of a history")]
fn the_same_seed_gives_the_same_history() {
    let is_full = std::env::var("ECUMENE_FULL").is_ok_and(|it| it == "1");
    for seed in 20_000..if is_full { 20_100 } else { 20_012 } {
        let (first, second) = (run(seed, &Asked::EVERYTHING), run(seed, &Asked::EVERYTHING));
        assert_eq!((first.history, first.events), (second.history, second.events), "seed {seed}");
    }
}

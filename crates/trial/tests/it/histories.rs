//! One seed, one history.

use trial::{Asked, run};

#[test]
fn the_same_seed_gives_the_same_history() {
    for seed in 20_000..20_050 {
        let (first, second) = (run(seed, &Asked::EVERYTHING), run(seed, &Asked::EVERYTHING));
        assert_eq!((first.history, first.events), (second.history, second.events), "seed {seed}");
    }
}

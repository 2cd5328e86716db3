//! Instructions of the interest engine per tick, at constant density: a number that does not wobble.
//!
//! `scripts/instructions.sh` runs it and checks that an observer costs no more in a large crowd.

#![expect(missing_docs, reason = "the macros write items without documentation")]

use benchmarks::interest_crowd::{InterestCrowd, ObserverChoice};
use gungraun::{library_benchmark, library_benchmark_group, main};

fn crowd(avatars: u32) -> InterestCrowd {
    InterestCrowd::new(avatars, ObserverChoice::All, 1)
}

#[library_benchmark]
#[bench::avatars_1000(args = (1_000), setup = crowd)]
#[bench::avatars_16000(args = (16_000), setup = crowd)]
fn tick(mut crowd: InterestCrowd) -> InterestCrowd {
    for _ in 0..4 {
        std::hint::black_box(crowd.tick());
    }
    crowd
}

library_benchmark_group!(name = interest, benchmarks = tick);
main!(library_benchmark_groups = interest);

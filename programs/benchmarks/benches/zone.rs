//! Instructions of a zone for events of its own: primary and backup together, nothing of the players.
//!
//! `scripts/instructions.sh` runs it and compares with `zone.baseline`.

#![expect(missing_docs, reason = "the macros write items without documentation")]

use benchmarks::zone::ahead::{ACTIONS, Ahead};
use gungraun::{library_benchmark, library_benchmark_group, main};

const _: () = assert!(ACTIONS == 8_200, "scripts/instructions.sh divides by it");

#[library_benchmark]
#[bench::counter_alone(args = ("counter, alone"), setup = Ahead::new, teardown = Ahead::check)]
#[bench::counter_crowded(args = ("counter, crowded"), setup = Ahead::new, teardown = Ahead::check)]
#[bench::kosmos(args = ("kosmos"), setup = Ahead::new, teardown = Ahead::check)]
fn local_events(mut ahead: Ahead) -> Ahead {
    ahead.run();
    ahead
}

library_benchmark_group!(name = zone, benchmarks = local_events);
main!(library_benchmark_groups = zone);

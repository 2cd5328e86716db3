//! Instructions of a zone for events of its own: primary and backup together, nothing of the players.
//!
//! `scripts/instructions.sh` runs it and compares with `zone.baseline`.

#![expect(missing_docs, reason = "the macros write items without documentation")]

use benchmarks::zone::prepared_run::{ACTIONS, PreparedRun};
use gungraun::{library_benchmark, library_benchmark_group, main};

const _: () = assert!(ACTIONS == 8_200, "scripts/instructions.sh divides by it");

#[library_benchmark]
#[bench::counter_alone(args = ("counter, alone"), setup = PreparedRun::new, teardown = PreparedRun::check)]
#[bench::counter_crowded(args = ("counter, crowded"), setup = PreparedRun::new, teardown = PreparedRun::check)]
#[bench::kosmos(args = ("kosmos"), setup = PreparedRun::new, teardown = PreparedRun::check)]
fn local_events(mut run: PreparedRun) -> PreparedRun {
    run.run();
    run
}

library_benchmark_group!(name = zone, benchmarks = local_events);
main!(library_benchmark_groups = zone);

//! Instructions of a zone for events of its own: primary and backup together, nothing of the players.
//!
//! `scripts/instructions.sh` runs it and compares with `zone.baseline`.

#![expect(missing_docs, reason = "the macros write items without documentation")]

use benchmarks::zone::prepared_run::{ACTIONS, PreparedRun};
use benchmarks::zone::{ONE_ZONE, ZoneCase};
use gungraun::{library_benchmark, library_benchmark_group, main};
use kosmos_scenario::bargain;

const _: () = assert!(ACTIONS == 8_200, "scripts/instructions.sh divides by it");

const BARGAIN: ZoneCase = ZoneCase {
    name: "kosmos",
    rules: bargain::rules,
    map: bargain::map,
    act: bargain::action,
    price: bargain::PRICE,
    sees: bargain::SEES,
};

fn prepared(row: &str) -> PreparedRun {
    let case = ONE_ZONE.into_iter().chain([BARGAIN]).find(|it| it.name == row);
    PreparedRun::new(&case.expect("the row exists"))
}

#[library_benchmark]
#[bench::counter_alone(args = ("counter, alone"), setup = prepared, teardown = PreparedRun::check)]
#[bench::counter_crowded(args = ("counter, crowded"), setup = prepared, teardown = PreparedRun::check)]
#[bench::kosmos(args = ("kosmos"), setup = prepared, teardown = PreparedRun::check)]
fn local_events(mut run: PreparedRun) -> PreparedRun {
    run.run();
    run
}

library_benchmark_group!(name = zone, benchmarks = local_events);
main!(library_benchmark_groups = zone);

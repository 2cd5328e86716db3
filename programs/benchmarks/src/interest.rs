//! What a tick of the interest engine costs, at constant density and growing size.

use super::crowd::{Crowd, HERTZ, Observers};
use cpu_time::ThreadTime;
use interest::Tally;
use serde::Serialize;

/// The table.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `interest`.
    pub bench: &'static str,
    /// Where chance started.
    pub seed: u64,
    /// One row per size.
    pub rows: Vec<Row>,
}

/// One size.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// How many avatars; all of them observe.
    pub avatars: u32,
    /// How many each finds of interest, on average.
    pub visible: f64,
    /// Pairs whose distance was looked at, per observer and tick.
    pub pairs_per_observer_tick: f64,
    /// CPU time per observer and tick, moving everybody and sorting the grid included.
    pub ns_per_observer_tick: f64,
    /// The same with every pair looked at, by the same code with the same early-outs.
    pub all_pairs_ns_per_observer_tick: Option<f64>,
    /// Updates handed out per simulated second, all observers together.
    pub updates_per_second: f64,
    /// Updates handed out per second of CPU time.
    pub updates_per_cpu_second: f64,
    /// Allocations per tick in the steady state.
    pub allocations_per_tick: f64,
}

/// The sizes of the promise.
pub const SIZES: [u32; 4] = [1_000, 4_000, 16_000, 64_000];

/// Observer-ticks of one measurement; more ticks for small crowds.
const OBSERVER_TICKS: u32 = 160_000;
/// The quickest of so many measurements counts: a shared machine only ever adds to a time.
const MEASUREMENTS: usize = 7;
/// Few enough observers that the engine looks at every pair: see `interest::Engine`.
const ALL_PAIRS_OBSERVERS: usize = 3;
const ALL_PAIRS_TICKS: u32 = 40;

/// Measures `sizes`, one after the other; `done` is called after each.
pub fn measure(sizes: &[u32], seed: u64, done: &dyn Fn()) -> Report {
    let rows = sizes.iter().map(|&avatars| {
        let row = row(avatars, seed);
        done();
        row
    });
    Report { bench: "interest", seed, rows: rows.collect() }
}

/// The report as a table for a terminal.
pub fn table(report: &Report) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_HORIZONTAL_ONLY).set_header([
        "avatars",
        "visible",
        "pairs looked at",
        "ns per observer and tick",
        "ns with all pairs",
        "million updates per CPU second",
        "allocations per tick",
    ]);
    for row in &report.rows {
        let all_pairs = row.all_pairs_ns_per_observer_tick.map_or("-".into(), |it| format!("{it:.0}"));
        table.add_row([
            row.avatars.to_string(),
            format!("{:.1}", row.visible),
            format!("{:.1}", row.pairs_per_observer_tick),
            format!("{:.0}", row.ns_per_observer_tick),
            all_pairs,
            format!("{:.1}", row.updates_per_cpu_second / 1e6),
            format!("{:.2}", row.allocations_per_tick),
        ]);
    }
    format!("A³ at {HERTZ} Hz, seed {}\n{table}\n", report.seed)
}

fn row(avatars: u32, seed: u64) -> Row {
    let ticks = (OBSERVER_TICKS / avatars).max(4);
    let mut crowd = Crowd::new(avatars, Observers::All, seed);
    let (tally, seconds) = timed(&mut crowd, ticks);
    let allocations = allocations(&mut crowd, ticks);
    let observer_ticks = f64::from(avatars) * f64::from(ticks);
    Row {
        avatars,
        visible: crowd.visible(1_000),
        pairs_per_observer_tick: tally.examined as f64 / observer_ticks,
        ns_per_observer_tick: seconds * 1e9 / observer_ticks,
        all_pairs_ns_per_observer_tick: Some(all_pairs(avatars, seed)),
        updates_per_second: tally.sent as f64 / f64::from(ticks) * HERTZ as f64,
        updates_per_cpu_second: tally.sent as f64 / seconds,
        allocations_per_tick: allocations as f64 / f64::from(ticks),
    }
}

/// The cost when every pair is looked at. Moving the crowd is measured apart and taken off: with few
/// observers it would count for too much.
fn all_pairs(avatars: u32, seed: u64) -> f64 {
    let mut watched = Crowd::new(avatars, Observers::First(ALL_PAIRS_OBSERVERS), seed);
    let mut alone = Crowd::new(avatars, Observers::First(0), seed);
    let seconds = timed(&mut watched, ALL_PAIRS_TICKS).1 - timed(&mut alone, ALL_PAIRS_TICKS).1;
    seconds.max(0.0) * 1e9 / (f64::from(ALL_PAIRS_TICKS) * ALL_PAIRS_OBSERVERS as f64)
}

fn allocations(crowd: &mut Crowd, ticks: u32) -> u64 {
    let counted = allocations::counted(|| {
        run(crowd, ticks);
    });
    counted.allocations
}

/// What `ticks` ticks do, and the CPU seconds they take at best.
fn timed(crowd: &mut Crowd, ticks: u32) -> (Tally, f64) {
    let (mut tally, mut best) = (Tally::default(), f64::INFINITY);
    for _ in 0..MEASUREMENTS {
        let start = ThreadTime::now();
        tally = run(crowd, ticks);
        best = best.min(start.elapsed().as_secs_f64());
    }
    (tally, best)
}

fn run(crowd: &mut Crowd, ticks: u32) -> Tally {
    let mut sum = Tally::default();
    for _ in 0..ticks {
        let tally = crowd.tick();
        sum.examined += tally.examined;
        sum.sent += tally.sent;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of the promise, which are the same on every machine; its times are measured, not tested.
    #[test]
    fn a_small_crowd_looks_at_few_and_allocates_nothing() {
        let mut crowd = Crowd::new(1_000, Observers::All, 1);
        let tally = run(&mut crowd, 10);
        let visible = crowd.visible(1_000);
        let pairs = tally.examined as f64 / 10_000.0;
        assert!((18.0..24.0).contains(&visible), "{visible} visible");
        assert!(pairs <= 6.0 * visible, "{pairs} pairs looked at for {visible} visible");
        assert_eq!(allocations(&mut crowd, 10), 0);
    }

    /// What is printed beside it must be what it says.
    #[test]
    fn all_pairs_are_all_pairs() {
        let mut crowd = Crowd::new(500, Observers::First(ALL_PAIRS_OBSERVERS), 1);
        assert_eq!(crowd.tick().examined, 500 * ALL_PAIRS_OBSERVERS as u64);
    }
}

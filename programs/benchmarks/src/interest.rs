//! The cost of a tick of the interest engine, at constant density and growing size.

use super::interest_crowd::{HERTZ, InterestCrowd, ObserverChoice};
use cpu_time::ThreadTime;
use interest::TickCounts;
use serde::Serialize;

/// The result of `ecumene bench interest`.
#[derive(Clone, Debug, Serialize)]
pub struct InterestReport {
    /// Name of the benchmark: always `interest`.
    pub bench: &'static str,
    /// Random seed of the crowd.
    pub seed: u64,
    /// One row per size of crowd.
    pub rows: Vec<InterestRow>,
}

/// The costs at one size of crowd.
#[derive(Clone, Debug, Serialize)]
pub struct InterestRow {
    /// Number of avatars; all of them observe.
    pub avatars: u32,
    /// Mean number of avatars that are relevant to each.
    pub visible: f64,
    /// Pairs whose distance was looked at, per observer and tick.
    pub pairs_per_observer_tick: f64,
    /// CPU time per observer and tick, including the movement of all avatars and sorting the grid.
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

/// The default numbers of avatars.
pub const SIZES: [u32; 4] = [1_000, 4_000, 16_000, 64_000];

/// Observer-ticks of one measurement; more ticks for small crowds.
const OBSERVER_TICKS: u32 = 160_000;
/// The quickest of so many measurements counts: a shared machine only ever adds to a time.
const MEASUREMENTS: usize = 7;
/// Few enough observers that the engine looks at every pair: see `interest::Engine`.
const ALL_PAIRS_OBSERVERS: usize = 3;
const ALL_PAIRS_TICKS: u32 = 40;

/// Measures `sizes`, one after the other; `done` is called after each.
pub fn measure(sizes: &[u32], seed: u64, done: &dyn Fn()) -> InterestReport {
    let rows = sizes.iter().map(|&avatars| {
        let row = row(avatars, seed);
        done();
        row
    });
    InterestReport { bench: "interest", seed, rows: rows.collect() }
}

/// The report as a table for a terminal.
pub fn table(report: &InterestReport) -> String {
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

fn row(avatars: u32, seed: u64) -> InterestRow {
    let ticks = (OBSERVER_TICKS / avatars).max(4);
    let mut crowd = InterestCrowd::new(avatars, ObserverChoice::All, seed);
    let (counts, seconds) = timed(&mut crowd, ticks);
    let allocations = allocations(&mut crowd, ticks);
    let observer_ticks = f64::from(avatars) * f64::from(ticks);
    InterestRow {
        avatars,
        visible: crowd.visible(1_000),
        pairs_per_observer_tick: counts.examined as f64 / observer_ticks,
        ns_per_observer_tick: seconds * 1e9 / observer_ticks,
        all_pairs_ns_per_observer_tick: Some(all_pairs(avatars, seed)),
        updates_per_second: counts.sent as f64 / f64::from(ticks) * HERTZ as f64,
        updates_per_cpu_second: counts.sent as f64 / seconds,
        allocations_per_tick: allocations as f64 / f64::from(ticks),
    }
}

/// The cost when every pair is looked at. Moving the crowd is measured apart and taken off: with few
/// observers it would count for too much.
fn all_pairs(avatars: u32, seed: u64) -> f64 {
    let mut watched = InterestCrowd::new(avatars, ObserverChoice::First(ALL_PAIRS_OBSERVERS), seed);
    let mut alone = InterestCrowd::new(avatars, ObserverChoice::First(0), seed);
    let seconds = timed(&mut watched, ALL_PAIRS_TICKS).1 - timed(&mut alone, ALL_PAIRS_TICKS).1;
    seconds.max(0.0) * 1e9 / (f64::from(ALL_PAIRS_TICKS) * ALL_PAIRS_OBSERVERS as f64)
}

fn allocations(crowd: &mut InterestCrowd, ticks: u32) -> u64 {
    let counted = allocations::counted(|| {
        run(crowd, ticks);
    });
    counted.allocations
}

/// The counts of `ticks` ticks, and the CPU seconds of the quickest measurement.
fn timed(crowd: &mut InterestCrowd, ticks: u32) -> (TickCounts, f64) {
    let (mut counts, mut best) = (TickCounts::default(), f64::INFINITY);
    for _ in 0..MEASUREMENTS {
        let start = ThreadTime::now();
        counts = run(crowd, ticks);
        best = best.min(start.elapsed().as_secs_f64());
    }
    (counts, best)
}

fn run(crowd: &mut InterestCrowd, ticks: u32) -> TickCounts {
    let mut sum = TickCounts::default();
    for _ in 0..ticks {
        let counts = crowd.tick();
        sum.examined += counts.examined;
        sum.sent += counts.sent;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts are the same on every platform and can be tested; times can only be measured.
    #[test]
    fn a_small_crowd_looks_at_few_and_allocates_nothing() {
        let mut crowd = InterestCrowd::new(1_000, ObserverChoice::All, 1);
        let counts = run(&mut crowd, 10);
        let visible = crowd.visible(1_000);
        let pairs = counts.examined as f64 / 10_000.0;
        assert!((18.0..24.0).contains(&visible), "{visible} visible");
        assert!(pairs <= 6.0 * visible, "{pairs} pairs looked at for {visible} visible");
        assert_eq!(allocations(&mut crowd, 10), 0);
    }

    /// The column "all pairs" must really look at all pairs.
    #[test]
    fn all_pairs_are_all_pairs() {
        let mut crowd = InterestCrowd::new(500, ObserverChoice::First(ALL_PAIRS_OBSERVERS), 1);
        assert_eq!(crowd.tick().examined, 500 * ALL_PAIRS_OBSERVERS as u64);
    }
}

//! Runs many seeds on all cores, and adds up their results.

use super::seed_args::WorldKind;
use crate::program::Program;
use crate::progress;
use cpu_time::ThreadTime;
use rayon::iter::{ParallelBridge as _, ParallelIterator as _};
use serde::Serialize;
use simtest::plan::{self, Fault};
use simtest::{Crossings, HistoryCounts, RunOptions, RunOutcome, RunRequest, Scenario, Violation};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time until which new seeds may start.
#[derive(Clone, Copy)]
pub struct TimeBudget(Option<Instant>);

impl TimeBudget {
    /// A budget of so many seconds from now; `None` is unlimited.
    pub fn of(seconds: Option<u64>) -> Self {
        Self(seconds.map(|it| Instant::now() + Duration::from_secs(it)))
    }

    /// True while another seed may start.
    pub fn is_left(self) -> bool {
        self.0.is_none_or(|end| Instant::now() < end)
    }
}

/// The added results of many seeds.
#[derive(Serialize)]
pub struct Sweep {
    /// The name of the command: `zone` or `mesh`.
    pub sim: &'static str,
    /// Number of seeds that were run.
    pub seeds: u64,
    first_seed: u64,
    last_seed: u64,
    simulated_seconds: f64,
    events: u64,
    #[serde(flatten)]
    counts: HistoryCounts,
    /// `None` for worlds of one zone.
    #[serde(flatten)]
    crossings: Option<Crossings>,
    game_faults: u64,
    cpu_seconds: f64,
    /// The hash of all histories, in the order of seeds.
    history: String,
    /// The outcomes of seeds with violations.
    #[serde(skip)]
    pub failed: Vec<RunOutcome>,
}

/// Runs `seeds` on all cores, as long as `budget` lasts.
pub fn sweep(
    program: &Program,
    which: WorldKind,
    asked: &RunRequest,
    seeds: RangeInclusive<u64>,
    budget: TimeBudget,
) -> Sweep {
    let (first_seed, count) = (*seeds.start(), (seeds.end() - seeds.start()).saturating_add(1));
    let scenario = program.scenario();
    let bar = progress::bar(which.name(), count);
    bar.enable_steady_tick(Duration::from_millis(200));
    let runs = seeds.par_bridge().filter(|_| budget.is_left()).map(|seed| {
        let run = SeedRun::of(&scenario, seed, asked);
        bar.inc(1);
        run
    });
    let mut runs: Vec<SeedRun> = runs.collect();
    bar.finish_and_clear();
    // Cores finish in any order; the report and its hash need the order of seeds.
    runs.sort_unstable_by_key(|it| it.seed);
    add_up(which, first_seed, runs)
}

/// The result of one seed. Keeps the whole outcome only if it failed, because sweeps have many seeds.
struct SeedRun {
    seed: u64,
    simulated_micros: u64,
    events: u64,
    history: u64,
    counts: HistoryCounts,
    crossings: Crossings,
    game_faults: u64,
    cpu_seconds: f64,
    failed: Option<RunOutcome>,
}

impl SeedRun {
    fn of(scenario: &Arc<dyn Scenario>, seed: u64, asked: &RunRequest) -> Self {
        let start = ThreadTime::now();
        let options = RunOptions::draw(seed, asked);
        let outcome = run_caught(scenario, options, plan::draw(&options), None);
        Self {
            seed,
            simulated_micros: outcome.simulated.as_micros(),
            events: outcome.events,
            history: outcome.history,
            counts: outcome.counts,
            crossings: outcome.crossings,
            game_faults: outcome.game_faults as u64,
            cpu_seconds: start.elapsed().as_secs_f64(),
            failed: (!outcome.violations.is_empty()).then_some(outcome),
        }
    }
}

/// Runs one simulated world. A panic counts as a violation: the other seeds go on, and this one can be replayed.
pub fn run_caught(
    scenario: &Arc<dyn Scenario>,
    options: RunOptions,
    faults: Vec<Fault>,
    trace: Option<usize>,
) -> RunOutcome {
    let planned = faults.clone();
    // Unwind safe: the world that panicked is dropped, and it shares nothing with other seeds.
    let outcome =
        catch_unwind(AssertUnwindSafe(|| simtest::run_with(Arc::clone(scenario), options, faults, trace)));
    outcome.unwrap_or_else(|payload| {
        let message = payload.downcast_ref::<String>().cloned();
        let message = message.or_else(|| payload.downcast_ref::<&str>().map(|&it| it.to_owned()));
        let detail = message.unwrap_or_else(|| "it panicked".to_owned());
        RunOutcome {
            options,
            faults: planned,
            simulated: Default::default(),
            events: 0,
            history: 0,
            counts: HistoryCounts::default(),
            crossings: Crossings::default(),
            violations: vec![Violation { seed: options.seed, invariant: "panic", detail, millis: 0 }],
            trace: Vec::new(),
            game_faults: 0,
        }
    })
}

fn add_up(which: WorldKind, first_seed: u64, runs: Vec<SeedRun>) -> Sweep {
    let mut sum = Sweep {
        sim: which.name(),
        seeds: runs.len() as u64,
        first_seed,
        last_seed: runs.last().map_or(first_seed, |it| it.seed),
        simulated_seconds: 0.0,
        events: 0,
        counts: HistoryCounts::default(),
        crossings: (which != WorldKind::Zone).then(Crossings::default),
        game_faults: 0,
        cpu_seconds: 0.0,
        history: String::new(),
        failed: Vec::new(),
    };
    let mut histories = Vec::new();
    for run in runs {
        sum.simulated_seconds += run.simulated_micros as f64 / 1e6;
        sum.events += run.events;
        sum.game_faults += run.game_faults;
        sum.cpu_seconds += run.cpu_seconds;
        sum.counts.failovers += run.counts.failovers;
        sum.counts.restarts += run.counts.restarts;
        sum.counts.aborted += run.counts.aborted;
        sum.counts.actions_acked += run.counts.actions_acked;
        sum.counts.rolled_back += run.counts.rolled_back;
        if let Some(crossings) = &mut sum.crossings {
            crossings.cross_zone_events += run.crossings.cross_zone_events;
            crossings.transfers += run.crossings.transfers;
            crossings.splits += run.crossings.splits;
            crossings.merges += run.crossings.merges;
        }
        histories.extend(run.history.to_le_bytes());
        sum.failed.extend(run.failed);
    }
    sum.history = format!("{:016x}", ::zone::hash_of(&histories));
    sum
}

impl Sweep {
    /// All violations, in the order of seeds.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.failed.iter().flat_map(|it| &it.violations)
    }

    /// The sums as text for people.
    pub fn table(&self) -> String {
        let Self { seeds, first_seed, last_seed, events, counts, game_faults, history, .. } = self;
        let mut rows = vec![
            ("seeds", format!("{seeds} ({first_seed} to {last_seed})")),
            ("simulated hours", format!("{:.2}", self.simulated_seconds / 3600.0)),
            ("events", events.to_string()),
            ("failovers", counts.failovers.to_string()),
            ("restarts", counts.restarts.to_string()),
            ("actions acknowledged", counts.actions_acked.to_string()),
            ("actions aborted", counts.aborted.to_string()),
            ("full stops rolled back", counts.rolled_back.to_string()),
            ("mistakes of the game", game_faults.to_string()),
            ("CPU seconds", format!("{:.1}", self.cpu_seconds)),
            ("history", history.clone()),
            ("violations", self.violations().count().to_string()),
        ];
        if let Some(it) = &self.crossings {
            let between = [("events of several zones", it.cross_zone_events), ("transfers", it.transfers)];
            rows.splice(3..3, between.map(|(name, count)| (name, count.to_string())));
        }
        rows.into_iter().map(|(name, value)| format!("{name:<24}{value}\n")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_program::{apples, orchard};
    use simtest::histories::read_files;

    fn swept(program: &Program) -> Sweep {
        let mesh = WorldKind::Mesh(2, 4);
        let asked = RunRequest { zones: (2, 4), ..RunRequest::MESH };
        sweep(program, mesh, &asked, 1..=3, TimeBudget::of(None))
    }

    #[test]
    fn a_game_that_brings_nothing_along_is_played_by_bots_that_walk() {
        let sweep = swept(&orchard());
        assert_eq!(sweep.violations().count(), 0, "{:?}", sweep.violations().next());
        assert!(0 < sweep.crossings.expect("there are zones").transfers, "bots walk from zone to zone");
    }

    #[test]
    fn what_a_game_conserves_is_counted_in_every_run() {
        let honest = swept(&apples(false));
        assert_eq!(honest.violations().count(), 0, "{:?}", honest.violations().next());
        assert!(100 < honest.counts.actions_acked, "bots do the everyday action: {}", honest.table());
        let generous = swept(&apples(true));
        let found: Vec<_> = generous.violations().map(|it| it.invariant).collect();
        assert!(found.contains(&"conservation"), "{found:?}");
        // The same in files, as `check` and `chaos` read those of real processes.
        let (scenario, options) = (apples(true).scenario(), RunOptions::draw(1, &RunRequest::ZONE));
        let (_, files) = simtest::run_recorded(Arc::clone(&scenario), options, plan::draw(&options));
        let report = read_files(files).and_then(|it| it.check(&*scenario)).expect("histories");
        assert!(report.violations.iter().any(|it| it.invariant == "conservation"), "{:?}", report.violations);
    }
}

//! Many seeds on all cores, and what they come to together.

use super::trials::Which;
use crate::progress;
use cpu_time::ThreadTime;
use kosmos_scenario::KosmosScenario;
use rayon::iter::{ParallelBridge as _, ParallelIterator as _};
use serde::Serialize;
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use trial::plan::{self, Fault};
use trial::{Asked, Crossings, Options, Outcome, Tally, Violation};

/// Until when seeds are begun.
#[derive(Clone, Copy)]
pub struct Budget(Option<Instant>);

impl Budget {
    /// So many seconds from now, or for ever.
    pub fn of(seconds: Option<u64>) -> Self {
        Self(seconds.map(|it| Instant::now() + Duration::from_secs(it)))
    }

    /// Whether there is time for another one.
    pub fn is_left(self) -> bool {
        self.0.is_none_or(|end| Instant::now() < end)
    }
}

/// What many seeds came to.
#[derive(Serialize)]
pub struct Sweep {
    /// `zone` or `mesh`.
    pub sim: &'static str,
    /// How many were run.
    pub seeds: u64,
    first_seed: u64,
    last_seed: u64,
    simulated_seconds: f64,
    events: u64,
    #[serde(flatten)]
    tally: Tally,
    /// Only if there were several zones.
    #[serde(flatten)]
    crossings: Option<Crossings>,
    game_faults: u64,
    cpu_seconds: f64,
    /// The hash of all histories, in the order of seeds.
    history: String,
    /// Seeds in which something was violated.
    #[serde(skip)]
    pub failed: Vec<Outcome>,
}

/// Runs these seeds on all cores.
pub fn sweep(which: Which, asked: &Asked, seeds: RangeInclusive<u64>, budget: Budget) -> Sweep {
    let (first_seed, count) = (*seeds.start(), (seeds.end() - seeds.start()).saturating_add(1));
    let bar = progress::bar(which.name(), count);
    bar.enable_steady_tick(Duration::from_millis(200));
    let runs = seeds.par_bridge().filter(|_| budget.is_left()).map(|seed| {
        let run = Run::of(seed, asked);
        bar.inc(1);
        run
    });
    let mut runs: Vec<Run> = runs.collect();
    bar.finish_and_clear();
    // Cores finish in any order; a report has one.
    runs.sort_unstable_by_key(|it| it.seed);
    add_up(which, first_seed, runs)
}

/// One seed, without what only matters if it failed: sweeps are long.
struct Run {
    seed: u64,
    simulated_micros: u64,
    events: u64,
    history: u64,
    tally: Tally,
    crossings: Crossings,
    game_faults: u64,
    cpu_seconds: f64,
    failed: Option<Outcome>,
}

impl Run {
    fn of(seed: u64, asked: &Asked) -> Self {
        let start = ThreadTime::now();
        let options = Options::drawn(seed, asked);
        let outcome = run_caught(options, plan::drawn(&options), None);
        Self {
            seed,
            simulated_micros: outcome.simulated.as_micros(),
            events: outcome.events,
            history: outcome.history,
            tally: outcome.tally,
            crossings: outcome.crossings,
            game_faults: outcome.game_faults as u64,
            cpu_seconds: start.elapsed().as_secs_f64(),
            failed: (!outcome.violations.is_empty()).then_some(outcome),
        }
    }
}

/// Runs a trial. A panic counts as a violation: the other seeds go on, and this one can be replayed.
pub fn run_caught(options: Options, faults: Vec<Fault>, trace: Option<usize>) -> Outcome {
    let planned = faults.clone();
    // The world that panicked is gone, and nothing else was touched.
    let ran = catch_unwind(AssertUnwindSafe(|| trial::run_with(KosmosScenario, options, faults, trace)));
    ran.unwrap_or_else(|payload| {
        let said = payload.downcast_ref::<String>().cloned();
        let said = said.or_else(|| payload.downcast_ref::<&str>().map(|&it| it.to_owned()));
        let detail = said.unwrap_or_else(|| "it panicked".to_owned());
        Outcome {
            options,
            faults: planned,
            simulated: Default::default(),
            events: 0,
            history: 0,
            tally: Tally::default(),
            crossings: Crossings::default(),
            violations: vec![Violation { seed: options.seed, invariant: "panic", detail, millis: 0 }],
            trace: Vec::new(),
            game_faults: 0,
        }
    })
}

fn add_up(which: Which, first_seed: u64, runs: Vec<Run>) -> Sweep {
    let mut sum = Sweep {
        sim: which.name(),
        seeds: runs.len() as u64,
        first_seed,
        last_seed: runs.last().map_or(first_seed, |it| it.seed),
        simulated_seconds: 0.0,
        events: 0,
        tally: Tally::default(),
        crossings: (which != Which::Zone).then(Crossings::default),
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
        sum.tally.failovers += run.tally.failovers;
        sum.tally.restarts += run.tally.restarts;
        sum.tally.aborted += run.tally.aborted;
        sum.tally.actions_acked += run.tally.actions_acked;
        sum.tally.rolled_back += run.tally.rolled_back;
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
    /// Everything that was violated, in the order of seeds.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        self.failed.iter().flat_map(|it| &it.violations)
    }

    /// The sums, for a person.
    pub fn table(&self) -> String {
        let Self { seeds, first_seed, last_seed, events, tally, game_faults, history, .. } = self;
        let mut rows = vec![
            ("seeds", format!("{seeds} ({first_seed} to {last_seed})")),
            ("simulated hours", format!("{:.2}", self.simulated_seconds / 3600.0)),
            ("events", events.to_string()),
            ("failovers", tally.failovers.to_string()),
            ("restarts", tally.restarts.to_string()),
            ("actions acknowledged", tally.actions_acked.to_string()),
            ("actions aborted", tally.aborted.to_string()),
            ("full stops rolled back", tally.rolled_back.to_string()),
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

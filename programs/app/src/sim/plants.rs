//! The search for planted bugs: with a rule of the protocol switched off, some checker must find a violation.

use super::failures::replay;
use super::seeds::{TimeBudget, run_caught};
use crate::program::Program;
use crate::progress;
use comfy_table::{Table, presets};
use cpu_time::ThreadTime;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use simtest::planted_bug::PlantedBug;
use simtest::{RunOptions, RunRequest, Scenario, Violation, plan};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// The search for one planted bug.
pub struct BugHunt {
    pub planted: &'static PlantedBug,
    /// The first violation of the first seed that has one.
    pub found: Option<Violation>,
    /// Number of seeds that were run.
    seeds: u64,
    cpu_seconds: f64,
}

/// Searches for several planted bugs in parallel.
pub fn hunt(
    program: &Program,
    planted: &[&'static PlantedBug],
    seeds: &RangeInclusive<u64>,
    budget: TimeBudget,
    asked: impl Fn(&PlantedBug) -> RunRequest + Sync,
) -> Vec<BugHunt> {
    let scenario = program.scenario();
    let bar = progress::bar("sim --plant", planted.len() as u64);
    bar.enable_steady_tick(Duration::from_millis(200));
    // Each core takes one bug at a time, because searches differ much in length.
    let hunts = planted.par_iter().with_max_len(1).map(|&it| {
        let hunt = hunt_one(&scenario, it, seeds.clone(), budget, &asked(it));
        bar.inc(1);
        hunt
    });
    let hunts = hunts.collect();
    bar.finish_and_clear();
    hunts
}

fn hunt_one(
    scenario: &Arc<dyn Scenario>,
    planted: &'static PlantedBug,
    seeds: RangeInclusive<u64>,
    budget: TimeBudget,
    asked: &RunRequest,
) -> BugHunt {
    let (start, mut run) = (ThreadTime::now(), 0);
    let found = seeds.take_while(|_| budget.is_left()).find_map(|seed| {
        run += 1;
        let options = RunOptions::draw(seed, asked);
        run_caught(scenario, options, plan::draw(&options), None).violations.into_iter().next()
    });
    BugHunt { planted, found, seeds: run, cpu_seconds: start.elapsed().as_secs_f64() }
}

/// The searches as a table for a terminal.
pub fn table(hunts: &[BugHunt]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header([
        "planted bug",
        "seed",
        "found by",
        "CPU seconds",
        "what is wrong",
    ]);
    for BugHunt { planted, found, seeds, cpu_seconds } in hunts {
        let (seed, by) = match found {
            Some(it) => (it.seed.to_string(), it.invariant.to_owned()),
            None => (format!("none of {seeds}"), "NOT FOUND".to_owned()),
        };
        table.add_row([
            planted.name.to_owned(),
            seed,
            by,
            format!("{cpu_seconds:.1}"),
            planted.about.to_owned(),
        ]);
    }
    format!("{table}\n")
}

/// The commands that replay each bug that was found.
pub fn replays(
    program: &Program,
    hunts: &[BugHunt],
    sim: &str,
    given: impl Fn(&PlantedBug) -> String,
) -> String {
    let found = hunts.iter().filter_map(|it| Some((it.planted, it.found.as_ref()?)));
    let lines =
        found.map(|(planted, it)| format!("replay: {}\n", replay(program, sim, it.seed, &given(planted))));
    lines.collect()
}

/// The searches as JSON for programs.
pub fn json(hunts: &[BugHunt], sim: &str) -> serde_json::Value {
    let rows = hunts.iter().map(|BugHunt { planted, found, seeds, cpu_seconds }| {
        serde_json::json!({
            "name": planted.name,
            "about": planted.about,
            "faults": planted.kinds().to_string(),
            "found": found.is_some(),
            "seed": found.as_ref().map(|it| it.seed),
            "invariant": found.as_ref().map(|it| it.invariant),
            "detail": found.as_ref().map(|it| &it.detail),
            "seeds": seeds,
            "cpu_seconds": cpu_seconds,
        })
    });
    serde_json::json!({ "sim": sim, "plants": rows.collect::<Vec<_>>() })
}

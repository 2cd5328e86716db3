//! Planted bugs: each must be found.

use super::failures::replay;
use super::seeds::{Budget, run_caught};
use crate::progress;
use comfy_table::{Table, presets};
use cpu_time::ThreadTime;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use std::ops::RangeInclusive;
use std::time::Duration;
use trial::plants::Planted;
use trial::{Asked, Options, Violation, plan};

/// The hunt for one bug.
pub struct Hunt {
    /// Which.
    pub planted: &'static Planted,
    /// The first violation of the first seed that has one.
    pub found: Option<Violation>,
    /// How many seeds were run.
    seeds: u64,
    cpu_seconds: f64,
}

/// Hunts for bugs, several at a time.
pub fn hunt(
    planted: &[&'static Planted],
    seeds: &RangeInclusive<u64>,
    budget: Budget,
    asked: impl Fn(&Planted) -> Asked + Sync,
) -> Vec<Hunt> {
    let bar = progress::bar("sim --plant", planted.len() as u64);
    bar.enable_steady_tick(Duration::from_millis(200));
    // One at a time per core: hunts differ in length by far.
    let hunts = planted.par_iter().with_max_len(1).map(|&it| {
        let hunt = one(it, seeds.clone(), budget, &asked(it));
        bar.inc(1);
        hunt
    });
    let hunts = hunts.collect();
    bar.finish_and_clear();
    hunts
}

fn one(planted: &'static Planted, seeds: RangeInclusive<u64>, budget: Budget, asked: &Asked) -> Hunt {
    let (start, mut run) = (ThreadTime::now(), 0);
    let found = seeds.take_while(|_| budget.is_left()).find_map(|seed| {
        run += 1;
        let options = Options::drawn(seed, asked);
        run_caught(options, plan::drawn(&options), None).violations.into_iter().next()
    });
    Hunt { planted, found, seeds: run, cpu_seconds: start.elapsed().as_secs_f64() }
}

/// The hunts as a table for a terminal.
pub fn table(hunts: &[Hunt]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header([
        "planted bug",
        "seed",
        "found by",
        "CPU seconds",
        "what is wrong",
    ]);
    for Hunt { planted, found, seeds, cpu_seconds } in hunts {
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

/// How to see each of them again.
pub fn replays(hunts: &[Hunt], sim: &str, given: impl Fn(&Planted) -> String) -> String {
    let found = hunts.iter().filter_map(|it| Some((it.planted, it.found.as_ref()?)));
    let lines = found.map(|(planted, it)| format!("replay: {}\n", replay(sim, it.seed, &given(planted))));
    lines.collect()
}

/// The hunts for programs.
pub fn json(hunts: &[Hunt], sim: &str) -> serde_json::Value {
    let rows = hunts.iter().map(|Hunt { planted, found, seeds, cpu_seconds }| {
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

//! `ecumene sim transfer` and `ecumene sim event`: the time that borders cost.

use super::failover::percentile;
use crate::command::{CommandError, OutputFormat, print};
use crate::program::Program;
use crate::progress;
use clap::Args;
use comfy_table::{Table, presets};
use machine::Span;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use serde_json::json;
use simtest::crossing::{CrossingKind, CrossingSample, HOST_DELAY, sample};
use std::sync::Arc;
use std::time::Duration;

/// Arguments of `ecumene sim transfer` and `ecumene sim event`.
#[derive(Args)]
#[command(after_help = "\
Each world has four zones with backups on three hosts that are 10 ms apart, and 32 bots 20 ms away; there are no
faults. `transfer` measures the time from the record that offers an object until its new owner may announce it: in
between no zone decides about the object. `event` measures the time from an action to its result, without the way
between player and zone. Transfers and events that waited for locks are counted apart. The exit code is 1 if a checker
finds a violation.")]
pub struct CrossingArgs {
    /// Number of simulated worlds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    worlds: u64,
    /// Seed of the first world.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Times of many transfers or events of one kind.
#[derive(Serialize)]
struct CrossingTimes {
    zones: usize,
    contended: bool,
    samples: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// The time that the protocol needs without waiting.
    formula_ms: Option<f64>,
    #[serde(skip)]
    formula: &'static str,
}

fn measured(program: &Program, args: &CrossingArgs, what: &'static str) -> Vec<CrossingSample> {
    let bar = progress::bar(what, args.worlds);
    bar.enable_steady_tick(Duration::from_millis(200));
    let scenario = program.scenario();
    let samples = (0..args.worlds).into_par_iter().map(|number| {
        let taken = sample(Arc::clone(&scenario), args.seed.wrapping_add(number));
        bar.inc(1);
        taken
    });
    let samples = samples.collect();
    bar.finish_and_clear();
    samples
}

fn times(
    all: &[(CrossingKind, Span)],
    kind: CrossingKind,
    (ways, formula): (u32, &'static str),
) -> CrossingTimes {
    let millis = |it: &Span| it.as_micros() as f64 / 1e3;
    let mut sorted: Vec<f64> = all.iter().filter(|it| it.0 == kind).map(|it| millis(&it.1)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    CrossingTimes {
        zones: kind.zones,
        contended: kind.contended,
        samples: sorted.len(),
        p50_ms: percentile(&sorted, 0.50),
        p99_ms: percentile(&sorted, 0.99),
        max_ms: sorted.last().copied().unwrap_or(0.0),
        formula_ms: (!kind.contended).then(|| f64::from(ways) * millis(&HOST_DELAY)),
        formula: if kind.contended { "the same, and as long as others hold the locks" } else { formula },
    }
}

pub fn transfer(program: &Program, args: &CrossingArgs) -> Result<(), CommandError> {
    let samples = measured(program, args, "sim transfer");
    let all: Vec<_> = samples.iter().flat_map(|it| it.transfers.iter().copied()).collect();
    let formula = (5, "5 L: offer acknowledged (2), on its way (1), arrival acknowledged (2)");
    let of = |contended| times(&all, CrossingKind { zones: 2, contended }, formula);
    let (plain, contended) = (of(false), of(true));
    let count = |is: &dyn Fn(&str) -> bool| {
        samples.iter().flat_map(|it| &it.violations).filter(|it| is(it.invariant)).count()
    };
    let lost = count(&|it| matches!(it, "nothing_lost" | "passage"));
    let doubled = count(&|it| matches!(it, "exactly_once" | "names"));
    let json = json!({
        "sim": "transfer", "seed": args.seed, "worlds": args.worlds, "one_way_ms": 10,
        "samples": plain.samples, "p50_ms": plain.p50_ms, "p99_ms": plain.p99_ms, "max_ms": plain.max_ms,
        "formula_ms": plain.formula_ms, "lost": lost, "doubled": doubled, "contended": contended,
    });
    print_results(args, &[plain, contended], &json, &samples)
}

pub fn event(program: &Program, args: &CrossingArgs) -> Result<(), CommandError> {
    let samples = measured(program, args, "sim event");
    let all: Vec<_> = samples.iter().flat_map(|it| it.events.iter().copied()).collect();
    let local = (2, "2 L: acknowledged by the backup");
    let remote = (6, "6 L: asked (1), grant acknowledged (2), told (1), decision acknowledged (2)");
    let mut rows = vec![times(&all, CrossingKind { zones: 1, contended: false }, local)];
    for zones in 2..=4 {
        for contended in [false, true] {
            rows.push(times(&all, CrossingKind { zones, contended }, remote));
        }
    }
    let json = json!({
        "sim": "event", "seed": args.seed, "worlds": args.worlds, "one_way_ms": 10, "rows": rows,
    });
    print_results(args, &rows, &json, &samples)
}

fn print_results(
    args: &CrossingArgs,
    rows: &[CrossingTimes],
    json: &serde_json::Value,
    samples: &[CrossingSample],
) -> Result<(), CommandError> {
    print(&match args.format {
        OutputFormat::Table => table(rows),
        OutputFormat::Json => serde_json::to_string_pretty(json)? + "\n",
    })?;
    match samples.iter().flat_map(|it| &it.violations).next() {
        None => Ok(()),
        Some(first) => Err(anyhow::anyhow!("an invariant was broken: {first}").into()),
    }
}

fn table(rows: &[CrossingTimes]) -> String {
    let mut table = Table::new();
    let header =
        ["zones", "locks", "samples", "p50 ms", "p99 ms", "max ms", "expected ms", "L = 10 ms, one way"];
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    for it in rows {
        let locks = if it.contended { "waited for" } else { "free" };
        let times = [it.p50_ms, it.p99_ms, it.max_ms].map(|it| format!("{it:.0}"));
        let expected = it.formula_ms.map_or_else(String::new, |it| format!("{it:.0}"));
        let cells = [it.zones.to_string(), locks.to_owned(), it.samples.to_string()].into_iter();
        table.add_row(cells.chain(times).chain([expected, it.formula.to_owned()]));
    }
    format!("{table}\n")
}

//! `ecumene sim transfer` and `ecumene sim event`: what borders cost.

use super::Format;
use super::failover::percentile;
use crate::{Failure, print, progress};
use clap::Args as ClapArgs;
use comfy_table::{Table, presets};
use kosmos_scenario::KosmosScenario;
use machine::Span;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;
use trial::crossing::{HOST_DELAY, Kind, Sample, sample};

/// What `ecumene sim transfer` and `ecumene sim event` take.
#[derive(ClapArgs)]
#[command(after_help = "\
Each world has four zones with backups on three hosts that are 10 ms apart, and 32 bots 20 ms away; nothing breaks.
`transfer` takes the time from the record that offers an object to the moment at which its new owner may tell that it has
it: in between nobody acts for it. `event` takes the time from an action to its answer, without the way between player
and zone. What met locks is counted apart. All checkers watch; the exit code is 1 if one of them found anything.")]
pub struct Args {
    /// How many worlds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    worlds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Times of many passages or events of one kind.
#[derive(Serialize)]
struct Times {
    zones: usize,
    contended: bool,
    samples: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// What the protocol needs if nothing is in the way.
    formula_ms: Option<f64>,
    #[serde(skip)]
    formula: &'static str,
}

fn measured(args: &Args, what: &'static str) -> Vec<Sample> {
    let bar = progress::bar(what, args.worlds);
    bar.enable_steady_tick(Duration::from_millis(200));
    let samples = (0..args.worlds).into_par_iter().map(|number| {
        let taken = sample(KosmosScenario, args.seed.wrapping_add(number));
        bar.inc(1);
        taken
    });
    let samples = samples.collect();
    bar.finish_and_clear();
    samples
}

fn times(all: &[(Kind, Span)], kind: Kind, (ways, formula): (u32, &'static str)) -> Times {
    let millis = |it: &Span| it.as_micros() as f64 / 1e3;
    let mut sorted: Vec<f64> = all.iter().filter(|it| it.0 == kind).map(|it| millis(&it.1)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    Times {
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

/// Runs `ecumene sim transfer`.
pub fn transfer(args: &Args) -> Result<(), Failure> {
    let samples = measured(args, "sim transfer");
    let all: Vec<_> = samples.iter().flat_map(|it| it.passages.iter().copied()).collect();
    let formula = (5, "5 L: offer acknowledged (2), on its way (1), arrival acknowledged (2)");
    let of = |contended| times(&all, Kind { zones: 2, contended }, formula);
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
    told(args, &[plain, contended], &json, &samples)
}

/// Runs `ecumene sim event`.
pub fn event(args: &Args) -> Result<(), Failure> {
    let samples = measured(args, "sim event");
    let all: Vec<_> = samples.iter().flat_map(|it| it.events.iter().copied()).collect();
    let here = (2, "2 L: acknowledged by the backup");
    let abroad = (6, "6 L: asked (1), grant acknowledged (2), told (1), decision acknowledged (2)");
    let mut rows = vec![times(&all, Kind { zones: 1, contended: false }, here)];
    for zones in 2..=4 {
        for contended in [false, true] {
            rows.push(times(&all, Kind { zones, contended }, abroad));
        }
    }
    let json = json!({
        "sim": "event", "seed": args.seed, "worlds": args.worlds, "one_way_ms": 10, "rows": rows,
    });
    told(args, &rows, &json, &samples)
}

fn told(args: &Args, rows: &[Times], json: &serde_json::Value, samples: &[Sample]) -> Result<(), Failure> {
    print(&match args.format {
        Format::Table => table(rows),
        Format::Json => serde_json::to_string_pretty(json)? + "\n",
    })?;
    match samples.iter().flat_map(|it| &it.violations).next() {
        None => Ok(()),
        Some(first) => Err(anyhow::anyhow!("an invariant was broken: {first}").into()),
    }
}

fn table(rows: &[Times]) -> String {
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

//! `ecumene sim failover`.

use super::Format;
use crate::{Failure, print, progress};
use clap::Args as ClapArgs;
use comfy_table::{Table, presets};
use kosmos_scenario::KosmosScenario;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use std::time::Duration;
use trial::failover::{Loss, Sample, sample};

/// What `ecumene sim failover` takes.
#[derive(ClapArgs)]
#[command(after_help = "\
Each sample is a world of its own: three hosts 10 ms apart, 20 players 20 ms away who act all the time, default timers.
At a random moment the primary is killed, stopped or cut off in one direction. The time runs until a player hears the
result of an action that was sent after the fault. `lost` and `doubled` count acknowledged actions; all checkers
watch, and the exit code is 1 if one of them found anything or nobody could play again.")]
pub struct Args {
    /// How often a primary is lost, all ways together.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    samples: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Times of many samples.
#[derive(Serialize)]
struct Times {
    fault: &'static str,
    samples: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Acknowledged actions that were lost.
    lost: usize,
    /// Actions that were done twice.
    doubled: usize,
    /// Samples after which nobody could play within ten seconds.
    stuck: usize,
    violations: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Failure> {
    let bar = progress::bar("sim failover", args.samples);
    bar.enable_steady_tick(Duration::from_millis(200));
    let samples: Vec<Sample> = (0..args.samples)
        .into_par_iter()
        .map(|number| {
            let loss = Loss::ALL[number as usize % Loss::ALL.len()];
            let taken = sample(KosmosScenario, args.seed.wrapping_add(number), loss);
            bar.inc(1);
            taken
        })
        .collect();
    bar.finish_and_clear();
    let all = times("all", samples.iter());
    let each: Vec<_> = Loss::ALL
        .iter()
        .map(|&loss| times(loss.name(), samples.iter().filter(|it| it.loss == loss)))
        .collect();
    print(&match args.format {
        Format::Table => table(&all, &each),
        Format::Json => {
            let mut json = serde_json::json!(all);
            json["sim"] = "failover".into();
            json["seed"] = args.seed.into();
            json["faults"] = serde_json::json!(each);
            serde_json::to_string_pretty(&json)? + "\n"
        }
    })?;
    match (all.violations.first(), all.stuck) {
        (None, 0) => Ok(()),
        (Some(first), _) => Err(anyhow::anyhow!("an invariant was broken: {first}").into()),
        (None, stuck) => Err(anyhow::anyhow!("after {stuck} faults nobody could play again").into()),
    }
}

fn times<'a>(fault: &'static str, samples: impl Iterator<Item = &'a Sample>) -> Times {
    let samples: Vec<_> = samples.collect();
    let mut millis: Vec<f64> =
        samples.iter().filter_map(|it| it.until_played).map(|it| it.as_micros() as f64 / 1e3).collect();
    millis.sort_unstable_by(f64::total_cmp);
    let violations: Vec<_> = samples.iter().flat_map(|it| &it.violations).collect();
    let count =
        |is: &dyn Fn(&str, &str) -> bool| violations.iter().filter(|it| is(it.invariant, &it.detail)).count();
    Times {
        fault,
        samples: samples.len(),
        p50_ms: percentile(&millis, 0.50),
        p99_ms: percentile(&millis, 0.99),
        max_ms: millis.last().copied().unwrap_or(0.0),
        lost: count(&|name, detail| {
            name == "nothing_lost" || name == "exactly_once" && detail.contains("told")
        }),
        doubled: count(&|name, detail| name == "exactly_once" && detail.contains("follows")),
        stuck: samples.iter().filter(|it| it.until_played.is_none()).count(),
        violations: violations.iter().map(|it| it.to_string()).collect(),
    }
}

/// The smallest value that at least this share of all values does not exceed.
pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn table(all: &Times, each: &[Times]) -> String {
    let mut table = Table::new();
    let header = ["fault", "samples", "p50 ms", "p99 ms", "max ms", "lost", "doubled", "stuck"];
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    for it in each.iter().chain([all]) {
        let counts = [it.lost, it.doubled, it.stuck].map(|it| it.to_string());
        let times = [it.p50_ms, it.p99_ms, it.max_ms].map(|it| format!("{it:.0}"));
        let cells = [it.fault.to_owned(), it.samples.to_string()].into_iter().chain(times).chain(counts);
        table.add_row(cells);
    }
    format!("{table}\n")
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let sorted: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|it| percentile(&sorted, it)), [100.0, 198.0, 200.0]);
        assert_eq!(percentile(&[], 0.5), 0.0);
        assert_eq!(percentile(&[7.0], 0.01), 7.0);
    }
}

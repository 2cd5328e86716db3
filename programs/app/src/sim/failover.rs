//! `ecumene sim failover`.

use crate::command::{CommandError, OutputFormat, print};
use crate::program::Program;
use crate::progress;
use clap::Args;
use comfy_table::{Table, presets};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use simtest::failover::{FailoverSample, PrimaryLoss, sample};
use std::sync::Arc;
use std::time::Duration;

/// Arguments of `ecumene sim failover`.
#[derive(Args)]
#[command(after_help = "\
Each sample is a world of its own: three hosts 10 ms apart, 20 players 20 ms away who act all the time, default timers.
At a random moment the primary is killed, stopped or cut off in one direction. The time runs until a player receives the
result of an action that was sent after the fault. `lost` and `doubled` count acknowledged actions. The exit code is 1
if a checker finds a violation, or if no player gets a result within ten seconds.")]
pub struct SimFailoverArgs {
    /// Number of lost primaries, all kinds of loss together.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    samples: u64,
    /// Seed of the first sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Times and losses of many samples of one kind of fault.
#[derive(Serialize)]
struct FailoverTimes {
    fault: &'static str,
    samples: usize,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Number of acknowledged actions that were lost.
    lost: usize,
    /// Number of actions that were done twice.
    doubled: usize,
    /// Number of samples without a result for any player within ten seconds.
    stuck: usize,
    violations: Vec<String>,
}

pub fn run(program: &Program, args: &SimFailoverArgs) -> Result<(), CommandError> {
    program.check_everyday_action("sim failover")?;
    let scenario = program.scenario();
    let bar = progress::bar("sim failover", args.samples);
    bar.enable_steady_tick(Duration::from_millis(200));
    let samples: Vec<FailoverSample> = (0..args.samples)
        .into_par_iter()
        .map(|number| {
            let loss = PrimaryLoss::ALL[number as usize % PrimaryLoss::ALL.len()];
            let taken = sample(Arc::clone(&scenario), args.seed.wrapping_add(number), loss);
            bar.inc(1);
            taken
        })
        .collect();
    bar.finish_and_clear();
    let all = times("all", samples.iter());
    let each: Vec<_> = PrimaryLoss::ALL
        .iter()
        .map(|&loss| times(loss.name(), samples.iter().filter(|it| it.loss == loss)))
        .collect();
    print(&match args.format {
        OutputFormat::Table => table(&all, &each),
        OutputFormat::Json => {
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
        (None, stuck) => Err(anyhow::anyhow!("after {stuck} faults no player could play again").into()),
    }
}

fn times<'a>(fault: &'static str, samples: impl Iterator<Item = &'a FailoverSample>) -> FailoverTimes {
    let samples: Vec<_> = samples.collect();
    let mut millis: Vec<f64> =
        samples.iter().filter_map(|it| it.until_played).map(|it| it.as_micros() as f64 / 1e3).collect();
    millis.sort_unstable_by(f64::total_cmp);
    let violations: Vec<_> = samples.iter().flat_map(|it| &it.violations).collect();
    let count =
        |is: &dyn Fn(&str, &str) -> bool| violations.iter().filter(|it| is(it.invariant, &it.detail)).count();
    FailoverTimes {
        fault,
        samples: samples.len(),
        p50_ms: percentile(&millis, 0.50),
        p99_ms: percentile(&millis, 0.99),
        max_ms: millis.last().copied().unwrap_or(0.0),
        // `exactly_once` covers both: its detail says which.
        lost: count(&|name, detail| {
            name == "nothing_lost" || name == "exactly_once" && detail.contains("told")
        }),
        doubled: count(&|name, detail| name == "exactly_once" && detail.contains("follows")),
        stuck: samples.iter().filter(|it| it.until_played.is_none()).count(),
        violations: violations.iter().map(|it| it.to_string()).collect(),
    }
}

/// The nearest-rank percentile: the smallest value that at least `share` of all values do not exceed.
pub(super) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

fn table(all: &FailoverTimes, each: &[FailoverTimes]) -> String {
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

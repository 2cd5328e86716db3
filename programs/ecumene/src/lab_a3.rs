//! `ecumene lab a3`.

use crate::report::LabFormat;
use ecumene::clap::{self, Args, ValueEnum};
use ecumene::command::{CommandError, bar};
use lab::a3::{self, A3Options, A3Results, A3Setting, Candidate, Reading, UpdateSizes, report};
use std::path::{Path, PathBuf};

/// Arguments of `ecumene lab a3`. Lengths are in metres, the paper's units.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  ecumene lab a3                                    the paper's tables, fitted setting
  ecumene lab a3 --setting stated --runs 3          the results of the parameters as the paper prints them
  ecumene lab a3 --sizes wire --out out/a3-wire     the same policies in our own encoding, with a report
  ecumene lab a3 --avatars 400 --angle 90           values that the paper did not try

To add a policy of your own: programs/ecumene/examples/own_policy.rs"
)]
pub struct LabA3Args {
    /// Parameters: as printed in the paper (a square of 750 m), or fitted to the paper's tables.
    #[arg(long, value_enum, default_value_t = SettingArg::Fitted)]
    setting: SettingArg,
    /// Numbers of avatars, one row each, the observer included.
    #[arg(long, value_delimiter = ',', default_values_t = a3::paper::AVATARS)]
    avatars: Vec<u32>,
    /// Simulated minutes per run, to the nearest second.
    #[arg(long, default_value_t = 20.0)]
    minutes: f64,
    /// Runs per avatar count and policy.
    #[arg(long, default_value_t = 10)]
    runs: u32,
    /// Random seed; the same seed gives the same numbers on every computer.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Side of the square world [default: 300 fitted, 750 stated].
    #[arg(long)]
    world: Option<f64>,
    /// View distance of an avatar.
    #[arg(long, default_value_t = a3::paper::VIEW)]
    view: f64,
    /// Critical distance: the radius of A³'s close area.
    #[arg(long, default_value_t = 40.0)]
    critical: f64,
    /// View angle in degrees.
    #[arg(long, default_value_t = 180.0)]
    angle: f64,
    /// Walking speed in metres per second: slowest-fastest, or one number.
    #[arg(long, default_value = "0.5-1", value_parser = speeds)]
    speed: (f64, f64),
    /// Longest pause at a waypoint, in seconds.
    #[arg(long, default_value_t = a3::FITTED_PAUSE)]
    pause: f64,
    /// Interval of the server's check for due updates, in milliseconds.
    #[arg(long, default_value_t = 10)]
    check: u64,
    /// Size of an update: the paper's 100 bytes, or our own encoding.
    #[arg(long, value_enum, default_value_t = A3SizesArg::Paper)]
    sizes: A3SizesArg,
    /// Output format.
    #[arg(long, value_enum, default_value_t = LabFormat::Table)]
    format: LabFormat,
    /// Fail, with exit code 1, if a claim of the paper about averages is not reproduced.
    #[arg(long)]
    strict: bool,
    /// Also write a report into this folder: report.html, figures as SVG, CSV and JSON.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SettingArg {
    Stated,
    Fitted,
}

#[derive(Clone, Copy, ValueEnum)]
enum A3SizesArg {
    Paper,
    Wire,
}

impl LabA3Args {
    fn options(&self) -> A3Options {
        A3Options {
            reading: match self.setting {
                SettingArg::Stated => Reading::Stated,
                SettingArg::Fitted => Reading::Fitted,
            },
            avatars: self.avatars.clone(),
            minutes: self.minutes,
            runs: self.runs,
            seed: self.seed,
            world: self.world,
            view: self.view,
            critical: self.critical,
            angle: self.angle,
            speed: self.speed,
            pause: self.pause,
            check: self.check,
            sizes: match self.sizes {
                A3SizesArg::Paper => UpdateSizes::Paper,
                A3SizesArg::Wire => UpdateSizes::Wire,
            },
        }
    }
}

/// Runs the experiment with the paper's policies and those of `more`.
pub fn run(args: LabA3Args, more: Vec<Candidate>) -> Result<(), CommandError> {
    let setting = A3Setting::new(&args.options()).map_err(|error| CommandError::Usage(error.to_string()))?;
    if args.strict && !setting.is_judged() {
        let why = "--strict judges the paper's claims: leave --view, --critical, --angle, --check and --sizes as they are, \
                   and give --avatars that the paper has (25, 50 … 200)";
        return Err(CommandError::Usage(why.into()));
    }
    crate::report::check_writable(args.out.as_deref())?;
    let mut candidates = Candidate::of_the_paper();
    candidates.extend(more);
    let bar = bar("lab a3", a3::steps(&setting, &candidates));
    let results = a3::measure(&setting, &candidates, &|| bar.inc(1));
    bar.finish_and_clear();
    let results = results.map_err(|error| CommandError::Usage(error.to_string()))?;
    print_results(&args, &setting, &candidates, &results)
}

fn print_results(
    args: &LabA3Args,
    setting: &A3Setting,
    candidates: &[Candidate],
    results: &A3Results,
) -> Result<(), CommandError> {
    let text = match args.format {
        LabFormat::Table => report::tables(results),
        LabFormat::Json => report::json(results),
        LabFormat::Csv => report::rows_csv(results),
    };
    let write = |directory: &Path| report::write(directory, setting, candidates, results);
    crate::report::publish(args.out.as_deref(), write, &text)?;
    if args.strict {
        check_claims(results)?;
    }
    Ok(())
}

fn check_claims(results: &A3Results) -> Result<(), CommandError> {
    let failures = report::failures(results);
    if failures.is_empty() {
        return Ok(());
    }
    let claims: Vec<String> = failures.iter().map(|it| format!("{} is {:.2}", it.claim, it.ours)).collect();
    Err(anyhow::anyhow!("does not come out: {}", claims.join("; ")).into())
}

/// Parses one number, or two with a dash between them.
fn speeds(text: &str) -> Result<(f64, f64), String> {
    let number = |it: &str| it.trim().parse::<f64>().ok();
    let pair = |(slowest, fastest): (&str, &str)| Some((number(slowest)?, number(fastest)?));
    let one = || number(text).map(|it| (it, it));
    // One number first: the dash of `5e-1` belongs to its exponent.
    one()
        .or_else(|| text.split_once('-').and_then(pair))
        .ok_or_else(|| "give the slowest and the fastest in metres per second, such as 1-2".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LabCommand, parsed};

    fn options(more: &[&str]) -> A3Options {
        let LabCommand::A3(args) = parsed(&[&["a3"], more].concat()) else { panic!("that was lab a3") };
        args.options()
    }

    #[test]
    fn without_options_it_is_the_papers_experiment() {
        assert_eq!(options(&[]), A3Options::paper(Reading::Fitted));
        let stated = options(&["--setting", "fitted", "--setting", "stated"]);
        assert_eq!(stated, A3Options::paper(Reading::Stated), "the last of several values counts");
    }

    #[test]
    fn speeds_are_one_number_or_two() {
        assert_eq!(speeds("3-6"), Ok((3.0, 6.0)));
        assert_eq!(speeds("1.5"), Ok((1.5, 1.5)));
        assert_eq!(speeds("5e-1"), Ok((0.5, 0.5)));
        assert!(speeds("3-").is_err() && speeds("").is_err() && speeds("a-b").is_err());
    }
}

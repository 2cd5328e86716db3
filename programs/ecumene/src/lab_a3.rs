//! `ecumene lab a3`.

use crate::{Failure, progress};
use clap::{Args as ClapArgs, ValueEnum};
use lab::a3::{self, Candidate, Options, Reading, Results, Setting, Sizes, report};
use std::path::{Path, PathBuf};

/// What `ecumene lab a3` takes. Lengths are in metres, the paper's units.
#[derive(ClapArgs)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
Examples:
  ecumene lab a3                                    the paper's tables, fitted setting
  ecumene lab a3 --setting stated --runs 3          what the printed parameters really give
  ecumene lab a3 --sizes wire --out out/a3-wire     the same policies in our own encoding, with a report
  ecumene lab a3 --avatars 400 --angle 90           something the paper did not try

To add a policy of your own: programs/ecumene/examples/own_policy.rs"
)]
pub struct Args {
    /// The parameters as printed (a square of 750), or those that the paper's tables fit.
    #[arg(long, value_enum, default_value_t = SettingArg::Fitted)]
    setting: SettingArg,
    /// Avatar counts, the observer included.
    #[arg(long, value_delimiter = ',', default_values_t = a3::paper::AVATARS)]
    avatars: Vec<u32>,
    /// Simulated minutes per run, to the nearest second.
    #[arg(long, default_value_t = 20.0)]
    minutes: f64,
    /// Runs per avatar count and policy.
    #[arg(long, default_value_t = 10)]
    runs: u32,
    /// Where chance starts; the same seed gives the same numbers on every machine.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The side of the square world [default: 300 fitted, 750 stated].
    #[arg(long)]
    world: Option<f64>,
    /// The view distance.
    #[arg(long, default_value_t = a3::paper::VIEW)]
    view: f64,
    /// The critical distance, the radius of A³'s close area.
    #[arg(long, default_value_t = 40.0)]
    critical: f64,
    /// The view angle in degrees.
    #[arg(long, default_value_t = 180.0)]
    angle: f64,
    /// Walking speed in metres per second: slowest and fastest, or one number.
    #[arg(long, default_value = "0.5-1", value_parser = speeds)]
    speed: (f64, f64),
    /// The longest pause at a waypoint, in seconds.
    #[arg(long, default_value_t = a3::FITTED_PAUSE)]
    pause: f64,
    /// How often the server checks what is due, in milliseconds.
    #[arg(long, default_value_t = 10)]
    check: u64,
    /// What an update weighs: the paper's 100 bytes, or our own encoding.
    #[arg(long, value_enum, default_value_t = SizesArg::Paper)]
    sizes: SizesArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// Fail, with exit code 1, if a claim of the paper about averages does not come out.
    #[arg(long)]
    strict: bool,
    /// Also write a report there: report.html, figures as SVG, CSV and JSON.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SettingArg {
    Stated,
    Fitted,
}

#[derive(Clone, Copy, ValueEnum)]
enum SizesArg {
    Paper,
    Wire,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    Table,
    Json,
    Csv,
}

impl Args {
    fn options(&self) -> Options {
        Options {
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
                SizesArg::Paper => Sizes::Paper,
                SizesArg::Wire => Sizes::Wire,
            },
        }
    }
}

/// Runs the experiment with the paper's policies and `more`.
pub fn run(args: Args, more: Vec<Candidate>) -> Result<(), Failure> {
    let setting = Setting::new(&args.options()).map_err(|error| Failure::Asked(error.to_string()))?;
    if args.strict && !setting.is_judged() {
        let why = "--strict judges the paper's claims: leave --view, --critical, --angle, --check and --sizes as they are, \
                   and give --avatars that the paper has (25, 50 … 200)";
        return Err(Failure::Asked(why.into()));
    }
    crate::report::ask_for(args.out.as_deref())?;
    let mut candidates = Candidate::of_the_paper();
    candidates.extend(more);
    let bar = progress::bar("lab a3", a3::steps(&setting, &candidates));
    let results = a3::measure(&setting, &candidates, &|| bar.inc(1));
    bar.finish_and_clear();
    let results = results.map_err(|error| Failure::Asked(error.to_string()))?;
    tell(&args, &setting, &candidates, &results)
}

fn tell(args: &Args, setting: &Setting, candidates: &[Candidate], results: &Results) -> Result<(), Failure> {
    let text = match args.format {
        FormatArg::Table => report::tables(results),
        FormatArg::Json => report::json(results),
        FormatArg::Csv => report::rows_csv(results),
    };
    let write = |directory: &Path| report::write(directory, setting, candidates, results);
    crate::report::publish(args.out.as_deref(), write, &text)?;
    if args.strict {
        check_claims(results)?;
    }
    Ok(())
}

fn check_claims(results: &Results) -> Result<(), Failure> {
    let failures = report::failures(results);
    if failures.is_empty() {
        return Ok(());
    }
    let said: Vec<String> = failures.iter().map(|it| format!("{} is {:.2}", it.claim, it.ours)).collect();
    Err(anyhow::anyhow!("does not come out: {}", said.join("; ")).into())
}

/// One number, or two with a dash between them; a dash may also belong to an exponent.
fn speeds(text: &str) -> Result<(f64, f64), String> {
    let number = |it: &str| it.trim().parse::<f64>().ok();
    let pair = |(slowest, fastest): (&str, &str)| Some((number(slowest)?, number(fastest)?));
    let one = || number(text).map(|it| (it, it));
    one()
        .or_else(|| text.split_once('-').and_then(pair))
        .ok_or_else(|| "give the slowest and the fastest in metres per second, such as 1-2".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command, Experiment};
    use clap::Parser;

    fn asked(more: &[&str]) -> Options {
        let cli = Cli::parse_from([&["ecumene", "lab", "a3"], more].concat());
        let Command::Lab(Experiment::A3(args)) = cli.command else { panic!("that was lab a3") };
        args.options()
    }

    #[test]
    fn without_options_it_is_the_papers_experiment() {
        assert_eq!(asked(&[]), Options::paper(Reading::Fitted));
        let stated = asked(&["--setting", "fitted", "--setting", "stated"]);
        assert_eq!(stated, Options::paper(Reading::Stated), "the last word counts");
    }

    #[test]
    fn speeds_are_one_number_or_two() {
        assert_eq!(speeds("3-6"), Ok((3.0, 6.0)));
        assert_eq!(speeds("1.5"), Ok((1.5, 1.5)));
        assert_eq!(speeds("5e-1"), Ok((0.5, 0.5)));
        assert!(speeds("3-").is_err() && speeds("").is_err() && speeds("a-b").is_err());
    }
}

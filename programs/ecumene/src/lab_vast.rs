//! `ecumene lab vast`.

use crate::{Failure, progress};
use clap::{Args as ClapArgs, ValueEnum};
use lab::vast::{self, Joins, Measured, Options, Part, Plan, Protocol, Sizes, Walk, report};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// What `ecumene lab vast` takes.
#[derive(ClapArgs)]
#[command(after_help = "\
Examples:
  ecumene lab vast --movement random                         the paper's first scenario: it stays together
  ecumene lab vast --movement groups                         the second: it falls apart
  ecumene lab vast --movement groups --set unknown-sender=insert     one rule changed: it does not
  ecumene lab vast --protocol fixed --movement groups --loss 0.05 --churn-minutes 30
  ecumene lab vast --protocol fixed --movement groups --hours 0.2 --sample 5 --fail 25@400
  ecumene lab vast --protocol fixed --movement groups --hours 0.3 --sample 5 --cut 60@400
  ecumene lab vast --runs 10 --hours 1                       ten seeds: means and how far they can be trusted
  ecumene lab vast --parts ablation                          which cure cures what
  ecumene lab vast --parts scaling --protocol fixed          ever larger worlds
  ecumene lab vast --parts run,ablation --movement groups --map 600,21600 --out out/vast     the whole story

Missing and superfluous compare a peer's list with one diagram of everybody: those whose regions touch its own or meet what
it sees. Consistency is the share of pairs within view of each other, both in for more than a second, where the one knows
the other. Components count the parts into which the lists divide all who are in.

Where no value is given, every part has its own: run 6 hours of random walkers, looked at every 5 minutes; ablation half an
hour of groups and scaling a quarter of an hour of groups, looked at every minute. What is given holds for all parts.")]
pub struct Args {
    /// Which parts to run.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [PartArg::Run])]
    parts: Vec<PartArg>,
    /// What peers do; the ablation has both.
    #[arg(long, value_enum, default_value_t = ProtocolArg::Paper)]
    protocol: ProtocolArg,
    /// A switch of the protocol set otherwise; may be given several times.
    #[arg(long = "set", value_name = "SWITCH=VALUE", value_parser = pair)]
    switches: Vec<(String, String)>,
    /// How peers walk [default: random; groups in the ablation and in scaling].
    #[arg(long, value_enum)]
    movement: Option<MovementArg>,
    /// How many peers; scaling has its own.
    #[arg(long, default_value_t = 500)]
    peers: u32,
    /// Numbers of peers for scaling.
    #[arg(long, value_delimiter = ',', default_values_t = [500, 1_000, 2_000, 4_000])]
    scale: Vec<u32>,
    /// Simulated hours [default: 6; 0.5 in the ablation, 0.25 in scaling].
    #[arg(long)]
    hours: Option<f64>,
    /// How many runs, with this seed and those that follow; numbers are then means of all.
    #[arg(long, default_value_t = 1)]
    runs: u32,
    /// The share of messages that is lost.
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    /// How long a peer stays on average; without it nobody leaves.
    #[arg(long)]
    churn_minutes: Option<f64>,
    /// So many per cent of all peers vanish at once, at this second.
    #[arg(long, value_name = "PERCENT@SECOND", value_parser = at)]
    fail: Option<(u64, u64)>,
    /// The network is divided in two for so many seconds, from this second on.
    #[arg(long, value_name = "SECONDS@SECOND", value_parser = at)]
    cut: Option<(u64, u64)>,
    /// Moves per second.
    #[arg(long, default_value_t = 1.5)]
    rate: f64,
    /// How far peers see, in metres.
    #[arg(long, default_value_t = 60.0)]
    aoi: f64,
    /// How fast they walk, in metres per second.
    #[arg(long, default_value_t = 6.0)]
    speed: f64,
    /// The side of the square world in metres [default: as sparse as the paper's, 500 peers in 10 km].
    #[arg(long)]
    world: Option<f64>,
    /// How often the overlay is examined, in seconds [default: 300; 60 in the ablation and in scaling].
    #[arg(long)]
    sample: Option<u64>,
    /// Where chance starts; the same seed gives the same numbers on every machine.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// In which order groups join.
    #[arg(long, value_enum, default_value_t = JoinsArg::Together)]
    joins: JoinsArg,
    /// Seconds between two joins: large worlds are full sooner with less.
    #[arg(long, default_value_t = 0.2)]
    spacing: f64,
    /// What bytes are counted by: OverSim's messages, or our own encoding.
    #[arg(long, value_enum, default_value_t = SizesArg::Paper)]
    sizes: SizesArg,
    /// What to print; csv has the samples of the run, a row for each.
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// Fail, with exit code 1, if a claim does not come out.
    #[arg(long)]
    strict: bool,
    /// Also write a report there: report.html, figures and maps as SVG, JSON. For it, the other protocol and the paper's
    /// with one rule changed are run, too, walking in both of the paper's ways.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// When the report's maps are drawn, in seconds [default: at the end].
    #[arg(long, value_name = "SECONDS", value_delimiter = ',', requires = "out")]
    map: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PartArg {
    /// One protocol, one way of walking.
    Run,
    /// Which cure cures what: the paper's with one change at a time, ours without one thing at a time.
    Ablation,
    /// Ever larger worlds, as sparse as the first.
    Scaling,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProtocolArg {
    /// What the paper describes.
    Paper,
    /// What holds together.
    Fixed,
}

#[derive(Clone, Copy, ValueEnum)]
enum MovementArg {
    /// Each to places of its own.
    Random,
    /// Twelve at a time, together.
    Groups,
    /// Everybody to one square of 60 m.
    Gathering,
    /// Each to places of its own, and a leap every minute.
    Teleport,
}

#[derive(Clone, Copy, ValueEnum)]
enum JoinsArg {
    /// One group after the other.
    Together,
    /// Every group's first, then every group's second: fewer bytes at once, and the paper's overlay falls apart sooner.
    Turns,
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
    fn options(&self, part: Part) -> Options {
        let usual = Options::of(part);
        let hours = self.hours.unwrap_or(usual.hours);
        Options {
            protocol: match self.protocol {
                ProtocolArg::Paper => Protocol::Paper,
                ProtocolArg::Fixed => Protocol::Fixed,
            },
            switches: self.switches.clone(),
            movement: match self.movement {
                Some(MovementArg::Random) => Walk::Random,
                Some(MovementArg::Groups) => Walk::Groups,
                Some(MovementArg::Gathering) => Walk::Gathering,
                Some(MovementArg::Teleport) => Walk::Teleport,
                None => usual.movement,
            },
            peers: self.peers,
            hours,
            loss: self.loss,
            churn_minutes: self.churn_minutes,
            fail: self.fail.map(|(percent, at)| (percent.min(u64::from(u32::MAX)) as u32, at)),
            cut: self.cut,
            rate: self.rate,
            aoi: self.aoi,
            speed: self.speed,
            world: self.world,
            sample: self.sample.unwrap_or(usual.sample),
            seed: self.seed,
            spacing: self.spacing,
            joins: match self.joins {
                JoinsArg::Together => Joins::Together,
                JoinsArg::Turns => Joins::Turns,
            },
            sizes: match self.sizes {
                SizesArg::Paper => Sizes::Paper,
                SizesArg::Wire => Sizes::Wire,
            },
            maps: match (part, &self.out) {
                (Part::Run, Some(_)) if self.map.is_empty() => vec![(hours * 3_600.0) as u64],
                (Part::Run, Some(_)) => self.map.clone(),
                _ => Vec::new(),
            },
        }
    }

    fn plan(&self) -> Plan {
        let asked = |name: PartArg, part: Part| self.parts.contains(&name).then(|| self.options(part));
        Plan {
            run: asked(PartArg::Run, Part::Run),
            with_rivals: self.out.is_some(),
            ablation: asked(PartArg::Ablation, Part::Ablation),
            scaling: asked(PartArg::Scaling, Part::Scaling),
            scale: self.scale.clone(),
            runs: self.runs,
        }
    }

    /// What cannot be printed or written without a run.
    fn check(&self) -> Result<(), Failure> {
        let wants_run = self.out.is_some() || matches!(self.format, FormatArg::Csv);
        if wants_run && !self.parts.contains(&PartArg::Run) {
            return Err(Failure::Asked("--out and --format csv tell of a run: add it to --parts".to_owned()));
        }
        Ok(())
    }
}

/// Runs the experiment.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.check()?;
    let plan = args.plan();
    plan.check().map_err(|error| Failure::Asked(error.to_string()))?;
    crate::report::ask_for(args.out.as_deref())?;
    let bar = progress::bar("lab vast", plan.seconds());
    bar.enable_steady_tick(Duration::from_millis(200));
    let measured = vast::measure(&plan, &|| bar.inc(1));
    bar.finish_and_clear();
    let text = match args.format {
        FormatArg::Table => report::tables(&measured),
        FormatArg::Json => report::json(&measured),
        FormatArg::Csv => report::csv(&measured),
    };
    let write = |directory: &Path| report::write(directory, &command_line(), &measured);
    crate::report::publish(args.out.as_deref(), write, &text)?;
    judge(args, &measured)
}

/// What was typed, for the report: whoever reads it wants to run it.
fn command_line() -> String {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    format!("ecumene {}", words.join(" "))
}

/// Claims count only if somebody insists.
fn judge(args: &Args, measured: &Measured) -> Result<(), Failure> {
    let failures = if args.strict { vast::failures(measured) } else { Vec::new() };
    if failures.is_empty() {
        return Ok(());
    }
    let said: Vec<String> =
        failures.iter().map(|it| format!("{} is {:.3}, not {}", it.claim, it.ours, it.bound)).collect();
    Err(anyhow::anyhow!("does not come out: {}", said.join("; ")).into())
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or("give a switch and its value, such as unknown-sender=insert")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn at(text: &str) -> Result<(u64, u64), String> {
    let number = |it: &str| u64::from_str(it.trim()).ok();
    let both = text.split_once('@').and_then(|(what, when)| Some((number(what)?, number(when)?)));
    both.ok_or_else(|| "give two whole numbers, such as 25@600".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cli, Command, Experiment};
    use clap::Parser;

    #[test]
    fn without_options_it_is_the_papers_first_scenario() {
        let asked = |more: &[&str]| {
            let cli = Cli::parse_from([&["ecumene", "lab", "vast"], more].concat());
            let Command::Lab(Experiment::Vast(args)) = cli.command else { panic!("that was lab vast") };
            args.plan()
        };
        let plan = asked(&[]);
        assert_eq!((plan.run, plan.ablation), (Some(Options::paper(Walk::Random)), None));
        let plan = asked(&["--parts", "ablation,scaling", "--runs", "3"]);
        assert_eq!((plan.run, plan.runs, plan.scale.len()), (None, 3, 4));
        assert_eq!(plan.ablation, Some(Options::of(Part::Ablation)));
        assert_eq!(plan.scaling, Some(Options::of(Part::Scaling)));
        let other = asked(&["--set", "trigger=level", "--fail", "25@600", "--cut", "60@700"]).run.unwrap();
        assert_eq!(other.switches, [("trigger".to_owned(), "level".to_owned())]);
        assert_eq!((other.fail, other.cut), (Some((25, 600)), Some((60, 700))));
        assert!(at("25").is_err() && at("a@b").is_err() && pair("trigger").is_err());
    }
}

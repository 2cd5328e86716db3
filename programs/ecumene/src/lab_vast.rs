//! `ecumene lab vast`.

use crate::report::LabFormat;
use ecumene::clap::{self, Args, ValueEnum};
use ecumene::command::{CommandError, bar};
use lab::vast::{
    self, Joins, MessageSizes, Protocol, VastMeasurements, VastOptions, VastPart, VastPlan, WalkPattern,
    report,
};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Arguments of `ecumene lab vast`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ecumene lab vast --movement random                         the paper's first scenario: the overlay stays connected
  ecumene lab vast --movement groups                         the second: the overlay falls apart
  ecumene lab vast --movement groups --set unknown-sender=insert     one rule changed: it stays connected
  ecumene lab vast --protocol fixed --movement groups --loss 0.05 --churn-minutes 30
  ecumene lab vast --protocol fixed --movement groups --hours 0.2 --sample 5 --fail 25@400
  ecumene lab vast --protocol fixed --movement groups --hours 0.3 --sample 5 --cut 60@400
  ecumene lab vast --runs 10 --hours 1                       ten seeds: means and confidence intervals
  ecumene lab vast --parts ablation                          the effect of each change to the protocol
  ecumene lab vast --parts scaling --protocol fixed          worlds of a growing number of peers
  ecumene lab vast --parts run,ablation --movement groups --map 600,21600 --out out/vast     the full report

Missing and superfluous compare a peer's list with the Voronoi diagram of all peers: the list should name the peers
whose regions touch the peer's own region or its view. Consistency is the share of pairs of peers within view of each
other, both joined for more than a second, in which the one knows the other. Components count the parts into which the
lists divide the peers.

Defaults differ by part: run has 6 hours of random walkers, sampled every 5 minutes; ablation half an hour of groups and
scaling a quarter of an hour of groups, sampled every minute. A given value holds for all parts.")]
pub struct LabVastArgs {
    /// Parts of the experiment to run.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [VastPartArg::Run])]
    parts: Vec<VastPartArg>,
    /// Protocol of the peers; the ablation runs both.
    #[arg(long, value_enum, default_value_t = ProtocolArg::Paper)]
    protocol: ProtocolArg,
    /// Change one switch of the protocol; may be given several times.
    #[arg(long = "set", value_name = "SWITCH=VALUE", value_parser = pair)]
    switches: Vec<(String, String)>,
    /// Movement of the peers [default: random; groups in the ablation and in scaling].
    #[arg(long, value_enum)]
    movement: Option<MovementArg>,
    /// Number of peers; scaling has --scale.
    #[arg(long, default_value_t = 500)]
    peers: u32,
    /// Numbers of peers for scaling.
    #[arg(long, value_delimiter = ',', default_values_t = [500, 1_000, 2_000, 4_000])]
    scale: Vec<u32>,
    /// Simulated hours [default: 6; 0.5 in the ablation, 0.25 in scaling].
    #[arg(long)]
    hours: Option<f64>,
    /// Number of runs, with this seed and the next ones; the numbers are means of all runs.
    #[arg(long, default_value_t = 1)]
    runs: u32,
    /// Share of messages that are lost, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    /// Mean stay of a peer in minutes; without it no peer leaves.
    #[arg(long)]
    churn_minutes: Option<f64>,
    /// Let this percentage of all peers vanish at once, at this second.
    #[arg(long, value_name = "PERCENT@SECOND", value_parser = at)]
    fail: Option<(u64, u64)>,
    /// Divide the network in two for so many seconds, from this second on.
    #[arg(long, value_name = "SECONDS@SECOND", value_parser = at)]
    cut: Option<(u64, u64)>,
    /// Moves per second of each peer.
    #[arg(long, default_value_t = 1.5)]
    rate: f64,
    /// View distance of a peer (area of interest), in metres.
    #[arg(long, default_value_t = 60.0)]
    aoi: f64,
    /// Walking speed in metres per second.
    #[arg(long, default_value_t = 6.0)]
    speed: f64,
    /// Side of the square world in metres [default: the paper's density, 500 peers in a square of 10 km].
    #[arg(long)]
    world: Option<f64>,
    /// Seconds between two samples of the overlay [default: 300; 60 in the ablation and in scaling].
    #[arg(long)]
    sample: Option<u64>,
    /// Random seed; the same seed gives the same numbers on every computer.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Order in which the members of groups join.
    #[arg(long, value_enum, default_value_t = JoinsArg::Together)]
    joins: JoinsArg,
    /// Seconds between two joins; a smaller value fills large worlds sooner.
    #[arg(long, default_value_t = 0.2)]
    spacing: f64,
    /// Sizes of messages: OverSim's, or our own encoding.
    #[arg(long, value_enum, default_value_t = VastSizesArg::Paper)]
    sizes: VastSizesArg,
    /// Output format; csv has one row per sample of the run.
    #[arg(long, value_enum, default_value_t = LabFormat::Table)]
    format: LabFormat,
    /// Fail, with exit code 1, if a claim is not reproduced.
    #[arg(long)]
    strict: bool,
    /// Also write a report into this folder: report.html, figures and maps as SVG, JSON. The report also runs the other
    /// protocol, and the paper's protocol with one rule changed, in both of the paper's movements.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seconds at which the report's maps are drawn [default: at the end].
    #[arg(long, value_name = "SECONDS", value_delimiter = ',', requires = "out")]
    map: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VastPartArg {
    /// One protocol with one movement.
    Run,
    /// The effect of each change: the paper's protocol with one change at a time, ours without one at a time.
    Ablation,
    /// Worlds of a growing number of peers, at the same density.
    Scaling,
}

#[derive(Clone, Copy, ValueEnum)]
enum ProtocolArg {
    /// The protocol as the paper describes it.
    Paper,
    /// The protocol with our changes, which keep the overlay connected.
    Fixed,
}

#[derive(Clone, Copy, ValueEnum)]
enum MovementArg {
    /// Each peer walks to random places of its own.
    Random,
    /// Groups of twelve peers walk together.
    Groups,
    /// All peers walk to one square of 60 m.
    Gathering,
    /// Each peer walks to random places of its own, and jumps to another place every minute.
    Teleport,
}

#[derive(Clone, Copy, ValueEnum)]
enum JoinsArg {
    /// One whole group after the other.
    Together,
    /// The first peer of each group, then the second of each: fewer bytes at once, and the paper's overlay falls apart
    /// sooner.
    Turns,
}

#[derive(Clone, Copy, ValueEnum)]
enum VastSizesArg {
    Paper,
    Wire,
}

impl LabVastArgs {
    fn options(&self, part: VastPart) -> VastOptions {
        let defaults = VastOptions::of(part);
        let hours = self.hours.unwrap_or(defaults.hours);
        VastOptions {
            protocol: match self.protocol {
                ProtocolArg::Paper => Protocol::Paper,
                ProtocolArg::Fixed => Protocol::Fixed,
            },
            switches: self.switches.clone(),
            movement: match self.movement {
                Some(MovementArg::Random) => WalkPattern::Random,
                Some(MovementArg::Groups) => WalkPattern::Groups,
                Some(MovementArg::Gathering) => WalkPattern::Gathering,
                Some(MovementArg::Teleport) => WalkPattern::Teleport,
                None => defaults.movement,
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
            sample: self.sample.unwrap_or(defaults.sample),
            seed: self.seed,
            spacing: self.spacing,
            joins: match self.joins {
                JoinsArg::Together => Joins::Together,
                JoinsArg::Turns => Joins::Turns,
            },
            sizes: match self.sizes {
                VastSizesArg::Paper => MessageSizes::Paper,
                VastSizesArg::Wire => MessageSizes::Wire,
            },
            maps: match (part, &self.out) {
                (VastPart::Run, Some(_)) if self.map.is_empty() => vec![(hours * 3_600.0) as u64],
                (VastPart::Run, Some(_)) => self.map.clone(),
                _ => Vec::new(),
            },
        }
    }

    fn plan(&self) -> VastPlan {
        let asked =
            |name: VastPartArg, part: VastPart| self.parts.contains(&name).then(|| self.options(part));
        VastPlan {
            run: asked(VastPartArg::Run, VastPart::Run),
            with_rivals: self.out.is_some(),
            ablation: asked(VastPartArg::Ablation, VastPart::Ablation),
            scaling: asked(VastPartArg::Scaling, VastPart::Scaling),
            scale: self.scale.clone(),
            runs: self.runs,
        }
    }

    /// Refuses outputs that exist only for the part `run`.
    fn check(&self) -> Result<(), CommandError> {
        let needs_run = self.out.is_some() || matches!(self.format, LabFormat::Csv);
        if needs_run && !self.parts.contains(&VastPartArg::Run) {
            return Err(CommandError::Usage(
                "--out and --format csv tell of a run: add it to --parts".to_owned(),
            ));
        }
        Ok(())
    }
}

pub fn run(args: &LabVastArgs) -> Result<(), CommandError> {
    args.check()?;
    let plan = args.plan();
    plan.check().map_err(|error| CommandError::Usage(error.to_string()))?;
    crate::report::check_writable(args.out.as_deref())?;
    let bar = bar("lab vast", plan.seconds());
    bar.enable_steady_tick(Duration::from_millis(200));
    let measured = vast::measure(&plan, &|| bar.inc(1));
    bar.finish_and_clear();
    let text = match args.format {
        LabFormat::Table => report::tables(&measured),
        LabFormat::Json => report::json(&measured),
        LabFormat::Csv => report::csv(&measured),
    };
    let write = |directory: &Path| report::write(directory, &command_line(), &measured);
    crate::report::publish(args.out.as_deref(), write, &text)?;
    judge(args, &measured)
}

/// The command line as typed, so that a reader of the report can run it again.
fn command_line() -> String {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
    format!("ecumene {}", words.join(" "))
}

/// Fails with `--strict` if a claim is not reproduced.
fn judge(args: &LabVastArgs, measured: &VastMeasurements) -> Result<(), CommandError> {
    let failures = if args.strict { vast::failures(measured) } else { Vec::new() };
    if failures.is_empty() {
        return Ok(());
    }
    let claims: Vec<String> =
        failures.iter().map(|it| format!("{} is {:.3}, not {}", it.claim, it.ours, it.bound)).collect();
    Err(anyhow::anyhow!("does not come out: {}", claims.join("; ")).into())
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
    use crate::{LabCommand, parsed};

    #[test]
    fn without_options_it_is_the_papers_first_scenario() {
        let plan_of = |more: &[&str]| {
            let LabCommand::Vast(args) = parsed(&[&["vast"], more].concat()) else {
                panic!("that was lab vast")
            };
            args.plan()
        };
        let plan = plan_of(&[]);
        assert_eq!((plan.run, plan.ablation), (Some(VastOptions::paper(WalkPattern::Random)), None));
        let plan = plan_of(&["--parts", "ablation,scaling", "--runs", "3"]);
        assert_eq!((plan.run, plan.runs, plan.scale.len()), (None, 3, 4));
        assert_eq!(plan.ablation, Some(VastOptions::of(VastPart::Ablation)));
        assert_eq!(plan.scaling, Some(VastOptions::of(VastPart::Scaling)));
        let other = plan_of(&["--set", "trigger=level", "--fail", "25@600", "--cut", "60@700"]).run.unwrap();
        assert_eq!(other.switches, [("trigger".to_owned(), "level".to_owned())]);
        assert_eq!((other.fail, other.cut), (Some((25, 600)), Some((60, 700))));
        assert!(at("25").is_err() && at("a@b").is_err() && pair("trigger").is_err());
    }
}

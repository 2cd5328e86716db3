//! `ecumene lab vast`.

use crate::{Failure, print, progress, say};
use clap::{Args as ClapArgs, ValueEnum};
use lab::vast::report::{self, Told};
use lab::vast::{self, Case, Options, Protocol, Ran, Results, Sizes, Walk};
use std::path::PathBuf;
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

Missing and superfluous compare a peer's list with one diagram of everybody: those whose regions touch its own or meet what
it sees. Consistency is the share of pairs within view of each other, both in for more than a second, where the one knows
the other. Components count the parts into which the lists divide all who are in.")]
pub struct Args {
    /// What peers do.
    #[arg(long, value_enum, default_value_t = ProtocolArg::Paper)]
    protocol: ProtocolArg,
    /// A switch of the protocol set otherwise; may be given several times.
    #[arg(long = "set", value_name = "SWITCH=VALUE", value_parser = pair)]
    switches: Vec<(String, String)>,
    /// How peers walk.
    #[arg(long, value_enum, default_value_t = MovementArg::Random)]
    movement: MovementArg,
    /// How many peers.
    #[arg(long, default_value_t = 500)]
    peers: u32,
    /// Simulated hours.
    #[arg(long, default_value_t = 6.0)]
    hours: f64,
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
    /// How often the overlay is examined, in seconds.
    #[arg(long, default_value_t = 300)]
    sample: u64,
    /// Where chance starts; the same seed gives the same numbers on every machine.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What bytes are counted by: OverSim's messages, or our own encoding.
    #[arg(long, value_enum, default_value_t = SizesArg::Paper)]
    sizes: SizesArg,
    /// What to print.
    #[arg(long, value_enum, default_value_t = FormatArg::Table)]
    format: FormatArg,
    /// Also run the other protocol, and write a report of both there: report.html, figures and maps as SVG, JSON.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
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
enum SizesArg {
    Paper,
    Wire,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    Table,
    Json,
}

impl Args {
    fn options(&self) -> Options {
        Options {
            protocol: match self.protocol {
                ProtocolArg::Paper => Protocol::Paper,
                ProtocolArg::Fixed => Protocol::Fixed,
            },
            switches: self.switches.clone(),
            movement: match self.movement {
                MovementArg::Random => Walk::Random,
                MovementArg::Groups => Walk::Groups,
                MovementArg::Gathering => Walk::Gathering,
                MovementArg::Teleport => Walk::Teleport,
            },
            peers: self.peers,
            hours: self.hours,
            loss: self.loss,
            churn_minutes: self.churn_minutes,
            fail: self.fail.map(|(percent, at)| (percent.min(u64::from(u32::MAX)) as u32, at)),
            cut: self.cut,
            rate: self.rate,
            aoi: self.aoi,
            speed: self.speed,
            world: self.world,
            sample: self.sample,
            seed: self.seed,
            sizes: match self.sizes {
                SizesArg::Paper => Sizes::Paper,
                SizesArg::Wire => Sizes::Wire,
            },
        }
    }
}

/// Runs the experiment.
pub fn run(args: &Args) -> Result<(), Failure> {
    let options = args.options();
    let case = vast::case(&options).map_err(|error| Failure::Asked(error.to_string()))?;
    if let Some(directory) = &args.out {
        report::prepare(directory)?;
    }
    let other = Options { protocol: options.protocol.other(), switches: Vec::new(), ..options.clone() };
    let bar = progress::bar("lab vast", (options.hours * 3_600.0) as u64);
    bar.enable_steady_tick(Duration::from_millis(200));
    let ((ran, results), beside) = rayon::join(
        || measured(&options, &case, &|second| bar.set_position(second)),
        || args.out.as_ref().map(|_| vast::case(&other).map(|case| measured(&other, &case, &|_| ()))),
    );
    bar.finish_and_clear();
    print(&match args.format {
        FormatArg::Table => vast::tables(&results),
        FormatArg::Json => vast::json(&results),
    })?;
    if let (Some(directory), Some(Ok((other_ran, other_results)))) = (&args.out, &beside) {
        let name = |it: &Options| if it.switches.is_empty() { it.protocol.name() } else { "changed" };
        let told = [
            Told { name: name(&options), results: &results, ran: &ran },
            Told { name: name(&other), results: other_results, ran: other_ran },
        ];
        report::write(directory, &options, &case, &told)?;
        say(&format!("report: {}", directory.join("report.html").display()));
    }
    Ok(())
}

fn measured(options: &Options, case: &Case, progress: &dyn Fn(u64)) -> (Ran, Results) {
    let ran = vast::run(case, progress);
    let results = vast::results(options, &ran);
    (ran, results)
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
            args.options()
        };
        assert_eq!(asked(&[]), Options::paper(Walk::Random));
        let other = asked(&["--set", "trigger=level", "--fail", "25@600", "--cut", "60@700"]);
        assert_eq!(other.switches, [("trigger".to_owned(), "level".to_owned())]);
        assert_eq!((other.fail, other.cut), (Some((25, 600)), Some((60, 700))));
        assert!(at("25").is_err() && at("a@b").is_err() && pair("trigger").is_err());
    }
}

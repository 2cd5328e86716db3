//! `ecumene bench overload`.

use super::{print_report, seconds};
use crate::command::{CommandError, OutputFormat, print_to_stderr};
use crate::play::block_on;
use crate::program::Program;
use benchmarks::claims;
use benchmarks::overload::{self, OverloadOptions, OverloadPart};
use clap::{Args, ValueEnum};

/// Arguments of `ecumene bench overload`.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct OverloadArgs {
    /// Number of bots that the world can serve [default: look for it]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    capacity: Option<u32>,
    /// Bots added at a time while the capacity is looked for
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    step: u32,
    /// The most bots with which the capacity is looked for
    #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    bots_max: u32,
    /// Parts to run
    #[arg(long, value_delimiter = ',', value_enum,
          default_values_t = [PartArg::Load, PartArg::Greed, PartArg::Gather])]
    parts: Vec<PartArg>,
    /// Seconds measured per phase
    #[arg(long, default_value_t = 12.0, value_parser = seconds)]
    seconds: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

const HELP: &str = "\
One world (six zones with backups on three hosts, shipped settings) runs through all phases:
  capacity  bots are added until actions take too long or poses come too rarely
  load      0.5, 1, 1.5, 2 and 3 times the capacity, then 0.5 again, 5 s after the others left
  greed     at capacity, one player in twenty asks for 60 actions per second
  gather    at capacity, all players go to one place and act three times as often
A player who is in stays in and is answered, whatever is offered: each claim is printed with its
verdict, and the exit code is 1 if one does not hold.

How to read it: \"in world\" and \"queued\" say where the offered bots are. Actions per second are
goodput, without those answered busy. Poses are ten if the carrier keeps up and every player has
something to see. If the bots' cores and lateness are large, the bots are the bottleneck, and the
servers are better than the row says.

Examples:
  ecumene bench overload                               look for the capacity, then all parts
  ecumene bench overload --capacity 800 --parts load   offer 400, 800, 1200, 1600, 2400 bots, then 400
  ecumene bench overload --step 20 --seconds 5         on a small machine";

/// A part by its name on the command line.
#[derive(Clone, Copy, ValueEnum)]
enum PartArg {
    /// Parts and multiples of the capacity, then half of it again
    Load,
    /// At capacity, one player in twenty asks for 60 actions per second
    Greed,
    /// At capacity, all players gather in one place and act three times as often
    Gather,
}

impl From<PartArg> for OverloadPart {
    fn from(name: PartArg) -> Self {
        match name {
            PartArg::Load => Self::Load,
            PartArg::Greed => Self::Greed,
            PartArg::Gather => Self::Gather,
        }
    }
}

pub fn run(program: &Program, args: &OverloadArgs) -> Result<(), CommandError> {
    program.check_everyday_action("bench overload")?;
    if args.bots_max < args.step {
        return Err(CommandError::Usage("--bots-max must not be below --step".to_owned()));
    }
    let options = OverloadOptions {
        capacity: args.capacity,
        step: args.step,
        bots_max: args.bots_max,
        parts: args.parts.iter().copied().map(Into::into).collect(),
        seconds: args.seconds,
    };
    let report =
        block_on(async { Ok(overload::measure(&options, program.game(), &print_to_stderr).await?) })?;
    print_report(args.format, &report, overload::table)?;
    match claims::failures(&report.claims) {
        failed if failed.is_empty() => Ok(()),
        failed => Err(anyhow::anyhow!("{} claims do not hold: {}", failed.len(), failed.join("; ")).into()),
    }
}

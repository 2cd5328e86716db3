//! `ecumene chaos`: a world of real processes is broken on purpose while bots play, and the histories are judged.

use super::bots::{Format, table};
use super::{ConfigArgs, block_on, transport};
use crate::kosmos_game::kosmos_game;
use crate::{Failure, print, say};
use clap::{Args, ValueEnum};
use server::config::ZONES_MAX;
use std::path::{Path, PathBuf};
use testbed::chaos::{self, ChaosOptions, ChaosReport};

/// Breaks a world of real processes in every way below while bots play, then judges what everybody wrote down. Exit
/// code 0 means that nothing acknowledged was lost or done twice, and nothing else was violated either.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ecumene chaos                                   everything once, 50 bots
  ecumene chaos --trouble kill,freeze --rounds 5  some of it, five times

It makes a world of its own in DIR, which must not exist or be a world of this command.
More: docs/operating.md")]
pub struct ChaosArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// What to do to it, in this order
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["kill", "freeze", "directory", "leave", "everything"])]
    trouble: Vec<TroubleName>,
    /// How often
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// How many bots play
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    bots: u32,
    /// How many zones the world has
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(ZONES_MAX)))]
    zones: u32,
    /// Bots connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// A trouble, as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TroubleName {
    /// Kill the host that decides in the most zones (kill -9), and start it again.
    Kill,
    /// Freeze the host that decides until another has taken over, then let it go on: it must find out.
    Freeze,
    /// Kill the directory and lobby, let the world go on without, and start them again.
    Directory,
    /// Tell the host that decides to leave, and start it again: it hands over first.
    Leave,
    /// Kill everything at once, and start everything again.
    Everything,
}

impl From<TroubleName> for chaos::Trouble {
    fn from(name: TroubleName) -> Self {
        match name {
            TroubleName::Kill => Self::Kill,
            TroubleName::Freeze => Self::Freeze,
            TroubleName::Directory => Self::Directory,
            TroubleName::Leave => Self::Leave,
            TroubleName::Everything => Self::Everything,
        }
    }
}

/// Runs `ecumene chaos`.
pub fn run(args: &ChaosArgs) -> Result<(), Failure> {
    let options = ChaosOptions {
        data: args.config.data.clone().unwrap_or_else(|| PathBuf::from("out/chaos")),
        config: args.config.config.clone(),
        history: args.config.history.clone(),
        troubles: args.trouble.iter().copied().map(Into::into).collect(),
        rounds: args.rounds,
        bots: args.bots as usize,
        zones: args.zones,
        transport: transport(args.web_socket),
    };
    let begins = |trouble| {
        if args.format == Format::Table {
            say(&format!("{trouble:?} …"));
        }
    };
    let report = block_on(async { Ok(chaos::run(&options, kosmos_game(), begins).await?) })?;
    print_report(&report, args.format)?;
    fail_if_broken(&report, &options.history())
}

fn print_report(report: &ChaosReport, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => print(&format!("{}\n", serde_json::to_string(report)?)),
        Format::Table => print(&format!(
            "{}judged    {} records, {} failovers, {} restarts, {} violations\n",
            table(&report.crowd),
            report.records,
            report.failovers,
            report.restarts,
            report.violations.len()
        )),
    }
}

fn fail_if_broken(report: &ChaosReport, history: &Path) -> Result<(), Failure> {
    if let Some(first) = report.violations.first() {
        let folder = history.display();
        return Err(anyhow::anyhow!("{first}; `ecumene check {folder}` shows what was around it").into());
    }
    match report.crowd.errors {
        0 => Ok(()),
        errors => Err(anyhow::anyhow!("{errors} actions were never answered, or sessions lost").into()),
    }
}

//! `ecumene chaos`: breaks a world of real processes on purpose while bots play, and checks the histories.

use super::bots::table;
use super::{ConfigArgs, block_on, transport};
use crate::command::{CommandError, OutputFormat, print, print_to_stderr};
use crate::program::Program;
use clap::{Args, ValueEnum};
use server::config::ZONES_MAX;
use std::path::{Path, PathBuf};
use testbed::chaos::{self, ChaosOptions, ChaosReport};

/// Breaks a world of real processes in every way below while bots play, then checks the histories of all processes.
/// Exit code 0 means that no acknowledged action was lost or done twice, and no other invariant was violated.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ecumene chaos                                   every trouble once, 50 bots
  ecumene chaos --trouble kill,freeze --rounds 5  some of it, five times

It makes a world of its own in the folder of --data (out/chaos unless given), which must not exist or be a world of
this command.
More: docs/operating.md")]
pub struct ChaosArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Troubles to cause, in this order
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["kill", "freeze", "directory", "leave", "everything"])]
    trouble: Vec<ProcessFaultName>,
    /// Number of times that the whole list is repeated
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// Number of bots that play
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    bots: u32,
    /// Number of zones of the world
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(ZONES_MAX)))]
    zones: u32,
    /// Bots connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: OutputFormat,
}

/// A trouble by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProcessFaultName {
    /// Kill the host with the most primaries (kill -9), and start it again.
    Kill,
    /// Freeze the host with the most primaries until another host has taken over, then let it go on: it must step down.
    Freeze,
    /// Kill the control plane, let the world go on without it, and start it again.
    Directory,
    /// Stop the host with the most primaries in good order (it hands over first), and start it again.
    Leave,
    /// Kill all processes at once, and start all of them again.
    Everything,
}

impl From<ProcessFaultName> for chaos::ProcessFault {
    fn from(name: ProcessFaultName) -> Self {
        match name {
            ProcessFaultName::Kill => Self::Kill,
            ProcessFaultName::Freeze => Self::Freeze,
            ProcessFaultName::Directory => Self::Directory,
            ProcessFaultName::Leave => Self::Leave,
            ProcessFaultName::Everything => Self::Everything,
        }
    }
}

pub fn run(program: &Program, args: &ChaosArgs) -> Result<(), CommandError> {
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
        if args.format == OutputFormat::Table {
            print_to_stderr(&format!("{trouble:?} …"));
        }
    };
    let report = block_on(async { Ok(chaos::run(&options, program.game(), begins).await?) })?;
    print_report(&report, args.format)?;
    fail_if_broken(program, &report, &options.history())
}

fn print_report(report: &ChaosReport, format: OutputFormat) -> Result<(), CommandError> {
    match format {
        OutputFormat::Json => print(&format!("{}\n", serde_json::to_string(report)?)),
        OutputFormat::Table => print(&format!(
            "{}judged    {} records, {} failovers, {} restarts, {} violations\n",
            table(&report.crowd),
            report.records,
            report.failovers,
            report.restarts,
            report.violations.len()
        )),
    }
}

fn fail_if_broken(program: &Program, report: &ChaosReport, history: &Path) -> Result<(), CommandError> {
    if let Some(first) = report.violations.first() {
        let (name, folder) = (&program.name, history.display());
        return Err(anyhow::anyhow!("{first}; `{name} check {folder}` shows what was around it").into());
    }
    match report.crowd.errors {
        0 => Ok(()),
        errors => Err(anyhow::anyhow!("{errors} actions were never answered, or sessions lost").into()),
    }
}

//! `ecumene bench failover`, `server` and `hostile`: benchmarks of real processes.

use super::{Format, bar, print_report, seconds};
use crate::kosmos_game::kosmos_game;
use crate::play::block_on;
use crate::{Failure, print, progress};
use benchmarks::failover::{self, FailoverOptions};
use benchmarks::hostile::{self, HostileOptions};
use benchmarks::server::{self, ServerOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Kills the deciding host (kill -9) again and again, at default timers, and takes the time from the kill to the first
/// action that was wanted after it and done.
#[derive(Args)]
pub struct FailoverArgs {
    /// How often
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    kills: u32,
    /// Where to keep the world meanwhile; it is removed first
    #[arg(long, default_value = "out/bench-failover", value_name = "DIR")]
    data: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// Runs `ecumene bench failover`.
pub fn failover(args: &FailoverArgs) -> Result<(), Failure> {
    let options = FailoverOptions { kills: args.kills, data: args.data.clone() };
    let (bar, game) = (progress::bar("kills", u64::from(args.kills)), kosmos_game());
    let report = block_on(async { Ok(failover::measure(&options, &*game, &|| bar.inc(1)).await?) })?;
    bar.finish_and_clear();
    print(&match args.format {
        Format::Json => format!("{}\n", report.json()),
        Format::Table => failover::table(&report),
    })
}

/// What `ecumene bench server` takes.
#[derive(Args)]
pub struct ServerArgs {
    /// How many clients
    #[arg(long, value_delimiter = ',', default_values_t = [100, 400, 1000],
          value_parser = clap::value_parser!(u32).range(2..=5_000))]
    bots: Vec<u32>,
    /// Who hears of whom
    #[arg(long, value_delimiter = ',', value_enum,
          default_values_t = [PolicyName::Everything, PolicyName::Circle, PolicyName::A3])]
    policies: Vec<PolicyName>,
    /// For how long each is measured
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// How many hosts the world has; a second one is the backup
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    hosts: u32,
    /// How many zones the world is cut into; several, to see side by side what borders cost
    #[arg(long, value_delimiter = ',', default_values_t = [1], value_parser = clap::value_parser!(u32).range(1..=64))]
    zones: Vec<u32>,
    /// Clients connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A policy, as it is asked for.
#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    Everything,
    Circle,
    CircleAttenuated,
    FieldOfView,
    A3,
}

impl From<PolicyName> for server::PolicyName {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Everything => Self::Everything,
            PolicyName::Circle => Self::Circle,
            PolicyName::CircleAttenuated => Self::CircleAttenuated,
            PolicyName::FieldOfView => Self::FieldOfView,
            PolicyName::A3 => Self::A3,
        }
    }
}

/// Runs `ecumene bench server`.
pub fn server(args: &ServerArgs) -> Result<(), Failure> {
    let options = ServerOptions {
        bots: args.bots.clone(),
        policies: args.policies.iter().copied().map(Into::into).collect(),
        seconds: args.seconds,
        hosts: args.hosts,
        zones: args.zones.clone(),
        web_socket: args.web_socket,
    };
    let bar = bar("bench server", options.rows() as u64);
    let report = block_on(async { Ok(server::measure(&options, &|| bar.inc(1)).await?) })?;
    bar.finish_and_clear();
    print_report(args.format, &report, server::table)
}

/// What `ecumene bench hostile` takes.
#[derive(Args)]
pub struct HostileArgs {
    /// Honest bots
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    bots: u32,
    /// At least so many hostile datagrams, frames and requests
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    count: u64,
    /// For at least how long
    #[arg(long, default_value_t = 30.0, value_parser = seconds)]
    seconds: f64,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Runs `ecumene bench hostile`.
pub fn hostile(args: &HostileArgs) -> Result<(), Failure> {
    let &HostileArgs { bots, count, seconds, format } = args;
    let options = HostileOptions { bots, count, seconds };
    let report = block_on(async { Ok(hostile::measure(&options, kosmos_game()).await?) })?;
    print_report(format, &report, hostile::table)?;
    match report.failures.len() {
        0 => Ok(()),
        some => {
            Err(anyhow::anyhow!("{some} things happened that must not: {}", report.failures.join("; "))
                .into())
        }
    }
}

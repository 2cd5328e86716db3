//! `ecumene bench failover`, `disk`, `server`, `world`, `idle` and `hostile`: benchmarks of real processes.

use super::{bar, print_report, seconds};
use crate::command::{CommandError, OutputFormat, print};
use crate::play::block_on;
use crate::program::Program;
use crate::progress;
use benchmarks::disk::{self, DiskOptions};
use benchmarks::failover::{self, FailoverOptions};
use benchmarks::hostile::{self, HostileOptions};
use benchmarks::server::{self, ServerOptions};
use benchmarks::world::{self, IdleOptions, WorldOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Kills the primary's host (kill -9) again and again, with default timers, and measures the time from the kill to the
/// first result "done" of an action that was sent after the kill.
#[derive(Args)]
pub struct FailoverArgs {
    /// Number of kills
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    kills: u32,
    /// Folder of the benchmark's world; an existing one is removed first
    #[arg(long, default_value = "out/bench-failover", value_name = "DIR")]
    data: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: OutputFormat,
}

pub fn failover(program: &Program, args: &FailoverArgs) -> Result<(), CommandError> {
    program.check_everyday_action("bench failover")?;
    let options = FailoverOptions { kills: args.kills, data: args.data.clone() };
    let (bar, game) = (progress::bar("kills", u64::from(args.kills)), program.game());
    let report = block_on(async { Ok(failover::measure(&options, &*game, &|| bar.inc(1)).await?) })?;
    bar.finish_and_clear();
    print(&match args.format {
        OutputFormat::Json => format!("{}\n", report.json()),
        OutputFormat::Table => failover::table(&report),
    })
}

/// Lets players act as fast as the world answers, samples what is on disk and in memory, then kills all processes and
/// measures how long the world takes to come back.
#[derive(Args)]
pub struct DiskArgs {
    /// Number of players; each acts 50 times a second
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    players: u32,
    /// Seconds of play
    #[arg(long, default_value_t = 60.0, value_parser = seconds)]
    seconds: f64,
    /// Seconds between two rows
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    every: f64,
    /// Folder of the benchmark's world; an existing one is removed first
    #[arg(long, default_value = "out/bench-disk", value_name = "DIR")]
    data: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: OutputFormat,
}

pub fn disk(program: &Program, args: &DiskArgs) -> Result<(), CommandError> {
    program.check_everyday_action("bench disk")?;
    let options = DiskOptions {
        players: args.players as usize,
        seconds: args.seconds,
        every: args.every,
        data: args.data.clone(),
    };
    let rows = (args.seconds / args.every).ceil() as u64;
    let (bar, game) = (progress::bar("rows", rows), program.game());
    let report = block_on(async { Ok(disk::measure(&options, &*game, &|| bar.inc(1)).await?) })?;
    bar.finish_and_clear();
    print_report(args.format, &report, disk::table)
}

/// Arguments of `ecumene bench server`.
#[derive(Args)]
pub struct ServerArgs {
    /// Numbers of clients, one row each
    #[arg(long, value_delimiter = ',', default_values_t = [100, 400, 1000],
          value_parser = clap::value_parser!(u32).range(2..=5_000))]
    bots: Vec<u32>,
    /// Interest policies, one row each
    #[arg(long, value_delimiter = ',', value_enum,
          default_values_t = [PolicyArg::Everything, PolicyArg::Circle, PolicyArg::A3])]
    policies: Vec<PolicyArg>,
    /// Seconds measured per row
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Number of hosts; with two or more, zones have backups
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    hosts: u32,
    /// Numbers of zones; several give rows side by side that show the cost of borders
    #[arg(long, value_delimiter = ',', default_values_t = [1], value_parser = clap::value_parser!(u32).range(1..=64))]
    zones: Vec<u32>,
    /// Clients connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// An interest policy by its name on the command line.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyArg {
    Everything,
    Circle,
    CircleAttenuated,
    FieldOfView,
    A3,
    Game,
}

impl From<PolicyArg> for server::MeasuredPolicy {
    fn from(name: PolicyArg) -> Self {
        match name {
            PolicyArg::Everything => Self::Everything,
            PolicyArg::Circle => Self::Circle,
            PolicyArg::CircleAttenuated => Self::CircleAttenuated,
            PolicyArg::FieldOfView => Self::FieldOfView,
            PolicyArg::A3 => Self::A3,
            PolicyArg::Game => Self::Game,
        }
    }
}

pub fn server(program: &Program, args: &ServerArgs) -> Result<(), CommandError> {
    if program.policy.is_none() && args.policies.contains(&PolicyArg::Game) {
        let why = format!("{} brings no policy of its own (App::policy)", program.world_name());
        return Err(CommandError::Usage(why));
    }
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

/// Arguments of `ecumene bench world`.
#[derive(Args)]
pub struct WorldArgs {
    /// Numbers of bots, one row each
    #[arg(long, value_delimiter = ',', default_values_t = [100, 300],
          value_parser = clap::value_parser!(u32).range(1..=5_000))]
    bots: Vec<u32>,
    /// Number of zones
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=64))]
    zones: u32,
    /// Seconds measured per row
    #[arg(long, default_value_t = 15.0, value_parser = seconds)]
    seconds: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

pub fn world(args: &WorldArgs) -> Result<(), CommandError> {
    let options = WorldOptions { bots: args.bots.clone(), zones: args.zones, seconds: args.seconds };
    let bar = bar("bench world", options.bots.len() as u64);
    let report = block_on(async { Ok(world::measure(&options, &|| bar.inc(1)).await?) })?;
    bar.finish_and_clear();
    print_report(args.format, &report, world::table)
}

/// Arguments of `ecumene bench idle`.
#[derive(Args)]
pub struct IdleArgs {
    /// Numbers of zones, one row each
    #[arg(long, value_delimiter = ',', default_values_t = [6, 24],
          value_parser = clap::value_parser!(u32).range(1..=256))]
    zones: Vec<u32>,
    /// Seconds measured per row
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

pub fn idle(args: &IdleArgs) -> Result<(), CommandError> {
    let options = IdleOptions { zones: args.zones.clone(), seconds: args.seconds };
    let bar = bar("bench idle", options.zones.len() as u64);
    let report = block_on(async { Ok(world::measure_idle(&options, &|| bar.inc(1)).await?) })?;
    bar.finish_and_clear();
    print_report(args.format, &report, world::idle_table)
}

/// Arguments of `ecumene bench hostile`.
#[derive(Args)]
pub struct HostileArgs {
    /// Number of honest bots that play meanwhile
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    bots: u32,
    /// Least number of hostile datagrams, frames and requests
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    count: u64,
    /// Least duration of the attack in seconds
    #[arg(long, default_value_t = 30.0, value_parser = seconds)]
    seconds: f64,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

pub fn hostile(program: &Program, args: &HostileArgs) -> Result<(), CommandError> {
    let &HostileArgs { bots, count, seconds, format } = args;
    let options = HostileOptions { bots, count, seconds };
    let report = block_on(async { Ok(hostile::measure(&options, program.game()).await?) })?;
    print_report(format, &report, hostile::table)?;
    match report.all_failures() {
        none if none.is_empty() => Ok(()),
        some => {
            Err(anyhow::anyhow!("{} things happened that must not: {}", some.len(), some.join("; ")).into())
        }
    }
}

//! `ecumene bench`.

mod children;
mod overload;
mod processes;

use crate::command::{CommandError, OutputFormat, print};
use crate::program::Program;
use crate::progress;
use clap::{Args, Subcommand};
use indicatif::ProgressBar;
use serde::Serialize;
use std::time::Duration;

/// The benchmarks of `ecumene bench`, one variant each.
#[derive(Subcommand)]
pub enum BenchCommand {
    /// The interest engine at constant density and growing size, compared with a check of all pairs.
    Interest(InterestArgs),
    /// The simulator: events per CPU second on an echo workload.
    Sim(SimArgs),
    /// A zone's primary and backup together: events per CPU second, bytes per event, memory.
    Zone(ZoneArgs),
    /// A peer of the overlay: the cost of one received move, by number of neighbours.
    Overlay(OverlayArgs),
    /// Real processes: the time from the kill of the primary's host to the first action done.
    Failover(processes::FailoverArgs),
    /// Real processes: CPU and bytes per client on the server, at constant density, compared with plain UDP.
    Server(processes::ServerArgs),
    /// Real processes: the default world with the game's own bots: CPU per client, time until actions are answered.
    World(processes::WorldArgs),
    /// Real processes: the default world with more players than it can serve, with a verdict on each promise.
    Overload(overload::OverloadArgs),
    /// Real processes: the CPU of worlds without players, by number of zones.
    Idle(processes::IdleArgs),
    /// Real processes: what disks hold and how long a restart takes, while players act as fast as disks keep up.
    Disk(processes::DiskArgs),
    /// Real processes under attack by strangers and by players, while honest bots play.
    Hostile(processes::HostileArgs),
    #[command(hide = true)]
    Floor(children::FloorArgs),
    #[command(hide = true)]
    Walkers(children::WalkersArgs),
}

/// Arguments of `ecumene bench interest`.
#[derive(Args)]
pub struct InterestArgs {
    /// Numbers of avatars, one row each.
    #[arg(long, value_delimiter = ',', default_values_t = benchmarks::interest::SIZES,
          value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    avatars: Vec<u32>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Arguments of `ecumene bench sim`.
#[derive(Args)]
pub struct SimArgs {
    /// Pairs of machines that send a message back and forth.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs: u32,
    /// Number of simulator events to run.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000_000))]
    events: u64,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Arguments of `ecumene bench zone`.
#[derive(Args)]
pub struct ZoneArgs {
    /// CPU seconds spent on each measured game.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Arguments of `ecumene bench overlay`.
#[derive(Args)]
pub struct OverlayArgs {
    /// Numbers of neighbours, one row each.
    #[arg(long, value_delimiter = ',', default_values_t = benchmarks::overlay::NEIGHBOURS,
          value_parser = clap::value_parser!(u32).range(3..=500))]
    neighbours: Vec<u32>,
    /// Moves that the peer receives per row.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=100_000_000))]
    moves: u32,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Output format.
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    format: OutputFormat,
}

/// Runs the benchmark that the command line names.
pub fn run(program: &Program, bench: &BenchCommand) -> Result<(), CommandError> {
    match bench {
        BenchCommand::Interest(args) => interest(args),
        BenchCommand::Sim(args) => sim(args),
        BenchCommand::Zone(args) => zone(program, args),
        BenchCommand::Overlay(args) => overlay(args),
        BenchCommand::Server(args) => processes::server(program, args),
        BenchCommand::World(args) => processes::world(args),
        BenchCommand::Overload(args) => overload::run(program, args),
        BenchCommand::Idle(args) => processes::idle(args),
        BenchCommand::Disk(args) => processes::disk(program, args),
        BenchCommand::Hostile(args) => processes::hostile(program, args),
        BenchCommand::Floor(args) => children::floor(args),
        BenchCommand::Walkers(args) => children::walkers(program, args),
        BenchCommand::Failover(args) => processes::failover(program, args),
    }
}

/// A progress bar of `steps` steps. Ticks by itself, because a first step may take minutes.
fn bar(what: &'static str, steps: u64) -> ProgressBar {
    let bar = progress::bar(what, steps);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn print_report<R: Serialize>(
    format: OutputFormat,
    report: &R,
    table: impl Fn(&R) -> String,
) -> Result<(), CommandError> {
    print(&match format {
        OutputFormat::Table => table(report),
        OutputFormat::Json => serde_json::to_string_pretty(report)? + "\n",
    })
}

fn interest(args: &InterestArgs) -> Result<(), CommandError> {
    let bar = bar("bench interest", args.avatars.len() as u64);
    let report = benchmarks::interest::measure(&args.avatars, args.seed, &|| bar.inc(1));
    bar.finish_and_clear();
    print_report(args.format, &report, benchmarks::interest::table)
}

fn overlay(args: &OverlayArgs) -> Result<(), CommandError> {
    let report = benchmarks::overlay::measure(&args.neighbours, args.moves, args.seed);
    print_report(args.format, &report, benchmarks::overlay::table)
}

fn sim(args: &SimArgs) -> Result<(), CommandError> {
    let report = benchmarks::sim::measure(args.pairs, args.events, args.seed);
    print_report(args.format, &report, |report| {
        format!(
            "{} events in {:.2} CPU seconds: {:.2} million per CPU second (seed {}, history {})\n",
            report.events,
            report.cpu_seconds,
            report.events_per_cpu_second / 1e6,
            report.seed,
            report.history,
        )
    })
}

fn zone(program: &Program, args: &ZoneArgs) -> Result<(), CommandError> {
    let cases = &program.zone_cases;
    let bar = bar("bench zone", benchmarks::zone::steps(cases));
    let report = benchmarks::zone::measure(args.seconds, cases, &|| bar.inc(1));
    bar.finish_and_clear();
    print_report(args.format, &report, benchmarks::zone::table)
}

/// Parses a measuring time in seconds: long enough to measure, short enough to wait for.
fn seconds(text: &str) -> Result<f64, String> {
    let in_range = text.parse::<f64>().ok().filter(|it| (0.01..=3_600.0).contains(it));
    in_range.ok_or_else(|| "give seconds between 0.01 and 3600".into())
}

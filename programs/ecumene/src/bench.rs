//! `ecumene bench`.

mod children;
mod processes;

use crate::{Failure, print, progress};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::ProgressBar;
use serde::Serialize;
use std::time::Duration;

/// The benchmarks.
#[derive(Subcommand)]
pub enum Bench {
    /// The interest engine at constant density and growing size, beside looking at all pairs.
    Interest(InterestArgs),
    /// The simulator on an echo workload.
    Sim(SimArgs),
    /// A zone's primary and backup together: events per CPU second, bytes per event, memory.
    Zone(ZoneArgs),
    /// A peer of the overlay: what it costs to hear a move, by how many neighbours it has.
    Overlay(OverlayArgs),
    /// Real processes: from killing the deciding host to the first action done.
    Failover(processes::FailoverArgs),
    /// Real processes: what a client costs the server, at constant density, beside plain UDP.
    Server(processes::ServerArgs),
    /// Real processes under attack: everything that strangers and players can throw at them.
    Hostile(processes::HostileArgs),
    #[command(hide = true)]
    Floor(children::FloorArgs),
    #[command(hide = true)]
    Walkers(children::WalkersArgs),
}

/// What `ecumene bench interest` takes.
#[derive(Args)]
pub struct InterestArgs {
    /// Crowd sizes.
    #[arg(long, value_delimiter = ',', default_values_t = benchmarks::interest::SIZES,
          value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    avatars: Vec<u32>,
    /// Where chance starts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What `ecumene bench sim` takes.
#[derive(Args)]
pub struct SimArgs {
    /// Pairs of machines that throw messages back and forth.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pairs: u32,
    /// Events to run.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1_000..=10_000_000_000))]
    events: u64,
    /// Where chance starts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What `ecumene bench zone` takes.
#[derive(Args)]
pub struct ZoneArgs {
    /// CPU seconds per game.
    #[arg(long, default_value_t = 5.0, value_parser = seconds)]
    seconds: f64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What `ecumene bench overlay` takes.
#[derive(Args)]
pub struct OverlayArgs {
    /// Numbers of neighbours.
    #[arg(long, value_delimiter = ',', default_values_t = benchmarks::overlay::NEIGHBOURS,
          value_parser = clap::value_parser!(u32).range(3..=500))]
    neighbours: Vec<u32>,
    /// Moves heard for each.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=100_000_000))]
    moves: u32,
    /// Where chance starts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    Table,
    Json,
}

/// Runs a benchmark.
pub fn run(bench: &Bench) -> Result<(), Failure> {
    match bench {
        Bench::Interest(args) => interest(args),
        Bench::Sim(args) => sim(args),
        Bench::Zone(args) => zone(args),
        Bench::Overlay(args) => overlay(args),
        Bench::Server(args) => processes::server(args),
        Bench::Hostile(args) => processes::hostile(args),
        Bench::Floor(args) => children::floor(args),
        Bench::Walkers(args) => children::walkers(args),
        Bench::Failover(args) => processes::failover(args),
    }
}

/// A bar for a benchmark of so many steps, which shows at once that something happens.
fn bar(what: &'static str, steps: u64) -> ProgressBar {
    let bar = progress::bar(what, steps);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn print_report<R: Serialize>(
    format: Format,
    report: &R,
    table: impl Fn(&R) -> String,
) -> Result<(), Failure> {
    print(&match format {
        Format::Table => table(report),
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
    })
}

fn interest(args: &InterestArgs) -> Result<(), Failure> {
    let bar = bar("bench interest", args.avatars.len() as u64);
    let report = benchmarks::interest::measure(&args.avatars, args.seed, &|| bar.inc(1));
    bar.finish_and_clear();
    print_report(args.format, &report, benchmarks::interest::table)
}

fn overlay(args: &OverlayArgs) -> Result<(), Failure> {
    let report = benchmarks::overlay::measure(&args.neighbours, args.moves, args.seed);
    print_report(args.format, &report, benchmarks::overlay::table)
}

fn sim(args: &SimArgs) -> Result<(), Failure> {
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

fn zone(args: &ZoneArgs) -> Result<(), Failure> {
    let bar = bar("bench zone", benchmarks::zone::STEPS);
    let report = benchmarks::zone::measure(args.seconds, &|| bar.inc(1));
    bar.finish_and_clear();
    print_report(args.format, &report, benchmarks::zone::table)
}

/// A time that can be measured, and waited for.
fn seconds(text: &str) -> Result<f64, String> {
    let in_range = text.parse::<f64>().ok().filter(|it| (0.01..=3_600.0).contains(it));
    in_range.ok_or_else(|| "give seconds between 0.01 and 3600".into())
}

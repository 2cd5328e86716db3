//! `ecumene bench`.

mod attack;
mod core;
mod failover;
mod floor;
mod hostile;
mod scratch;
mod server;
pub mod walker;
mod walkers;

use crate::{Failure, print, progress};
use benchmarks as bench;
use clap::{Args, Subcommand, ValueEnum};

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
    Failover(failover::FailoverArgs),
    /// Real processes: what a client costs the server, at constant density, beside plain UDP.
    Server(server::ServerArgs),
    /// Real processes under attack: everything that strangers and players can throw at them.
    Hostile(hostile::HostileArgs),
    #[command(hide = true)]
    Floor(floor::FloorArgs),
    #[command(hide = true)]
    Walkers(walkers::WalkersArgs),
}

/// What `ecumene bench interest` takes.
#[derive(Args)]
pub struct InterestArgs {
    /// Crowd sizes.
    #[arg(long, value_delimiter = ',', default_values_t = bench::interest::SIZES,
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
    #[arg(long, value_delimiter = ',', default_values_t = bench::overlay::NEIGHBOURS,
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
        Bench::Server(args) => server::run(args),
        Bench::Hostile(args) => hostile::run(args),
        Bench::Floor(args) => floor::run(args),
        Bench::Walkers(args) => walkers::run(args),
        Bench::Failover(args) => failover::run(args),
    }
}

fn interest(args: &InterestArgs) -> Result<(), Failure> {
    let bar = progress::bar("bench interest", args.avatars.len() as u64);
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let report = bench::interest::measure(&args.avatars, args.seed, &|| bar.inc(1));
    bar.finish_and_clear();
    print(&match args.format {
        Format::Table => bench::interest::table(&report),
        Format::Json => serde_json::to_string_pretty(&report)? + "\n",
    })
}

fn overlay(args: &OverlayArgs) -> Result<(), Failure> {
    let report = bench::overlay::measure(&args.neighbours, args.moves, args.seed);
    print(&match args.format {
        Format::Table => bench::overlay::table(&report),
        Format::Json => serde_json::to_string_pretty(&report)? + "\n",
    })
}

fn sim(args: &SimArgs) -> Result<(), Failure> {
    let report = bench::sim::measure(args.pairs, args.events, args.seed);
    print(&match args.format {
        Format::Table => format!(
            "{} events in {:.2} CPU seconds: {:.2} million per CPU second (seed {}, history {})\n",
            report.events,
            report.cpu_seconds,
            report.events_per_cpu_second / 1e6,
            report.seed,
            report.history,
        ),
        Format::Json => serde_json::to_string_pretty(&report)? + "\n",
    })
}

fn zone(args: &ZoneArgs) -> Result<(), Failure> {
    let bar = progress::bar("bench zone", bench::zone::STEPS);
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    let report = bench::zone::measure(args.seconds, &|| bar.inc(1));
    bar.finish_and_clear();
    print(&match args.format {
        Format::Table => bench::zone::table(&report),
        Format::Json => serde_json::to_string_pretty(&report)? + "\n",
    })
}

/// A time that can be measured, and waited for.
fn seconds(text: &str) -> Result<f64, String> {
    let in_range = text.parse::<f64>().ok().filter(|it| (0.01..=3_600.0).contains(it));
    in_range.ok_or_else(|| "give seconds between 0.01 and 3600".into())
}

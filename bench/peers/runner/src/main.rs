//! Measures one workload on several systems in turn, and prints one table.
//!
//! Each row is a server process on one core and a process with all its clients on another. The runner starts them, reads
//! the server's processor time at the two moments that the clients name, and takes the rest from the clients' report.
//! It knows nothing of what a system sends.

mod ecumene;
mod median;
mod peer;
mod process;
mod report;
mod row;
mod system;
mod table;
mod tcp;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use process::Cores;
use report::Report;
use row::Row;
use std::path::PathBuf;
use system::System;

/// Measures one workload on several systems: server on one core, all clients on another, one row after the other.
#[derive(Parser)]
struct Options {
    /// Numbers of clients; each system is measured in turn with the first number, then with the next
    #[arg(long, value_delimiter = ',', default_values_t = [100, 400, 1000],
          value_parser = clap::value_parser!(u16).range(2..=5_000))]
    clients: Vec<u16>,
    /// Systems to measure
    #[arg(long, value_delimiter = ',', value_enum, default_values_t = System::ALL)]
    systems: Vec<System>,
    /// Seconds measured per row, after a warm-up of three seconds
    #[arg(long, default_value_t = 8.0, value_parser = seconds)]
    seconds: f64,
    /// Number of times that all rows are measured; the table shows medians
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Ticks per second of all servers but Ecumene's
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    hz: u32,
    /// Program of Ecumene, as `cargo build --release` makes it
    #[arg(long, value_name = "PROGRAM")]
    ecumene: Option<PathBuf>,
    /// Folder of the servers and clients on Node
    #[arg(long, default_value = "node", value_name = "DIR")]
    node: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "markdown")]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Markdown,
    Json,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let cores = Cores::of_this_process()?;
    let uses_ecumene = options.systems.iter().any(|it| it.ecumene_policy().is_some());
    ensure!(!uses_ecumene || options.ecumene.is_some(), "rows of Ecumene need --ecumene PROGRAM");
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        for &clients in &options.clients {
            for &system in &options.systems {
                match measure(&options, &cores, system, clients) {
                    Ok(row) => {
                        eprintln!("{}", table::progress(&row));
                        rows.push(row);
                    }
                    Err(error) => {
                        let failure = format!("{}, {clients} clients: {error:#}", system.title());
                        eprintln!("{failure}");
                        failures.push(failure);
                    }
                }
            }
        }
    }
    let report = Report::new(&options, rows, failures);
    match options.format {
        Format::Markdown => print!("{}", table::markdown(&report)),
        Format::Json => println!("{}", serde_json::to_string_pretty(&report)?),
    }
    Ok(())
}

fn measure(options: &Options, cores: &Cores, system: System, clients: u16) -> Result<Row> {
    match system.ecumene_policy() {
        Some(policy) => {
            let program = options.ecumene.as_deref().context("the path of Ecumene's program is missing")?;
            ecumene::measure(program, system, policy, clients, options.seconds)
        }
        None => peer::measure(options, cores, system, clients),
    }
}

/// Parses a duration in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
    if (1.0..=3_600.0).contains(&seconds) { Ok(seconds) } else { Err("from 1 to 3600 seconds".to_owned()) }
}

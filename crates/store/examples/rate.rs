//! Measures how many synced appends per second a disk takes:
//! `cargo run --release -p ecumene-store --example rate -- FOLDER`.
//!
//! 200-byte records in batches of 1, 16 and 128, three seconds each, in a folder that is left empty.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark reads the clock and prints"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use store::{Files, Log, LogLimits, StoreError};

const LASTS: Duration = Duration::from_secs(3);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("name a folder to write to: its disk is measured")?;
    for batch in [1, 16, 128] {
        let folder = PathBuf::from(&folder).join(format!("rate-{batch}"));
        let rate = measure(&folder, batch)?;
        std::fs::remove_dir_all(&folder)?;
        println!("batch {batch:3}: {rate:6.0} synced appends/s, {:8.0} records/s", rate * batch as f64);
    }
    Ok(())
}

fn measure(folder: &Path, batch: usize) -> Result<f64, StoreError> {
    let (mut log, _) = Log::open(Files::open(folder)?, 0, LogLimits::default())?;
    let records = vec![vec![7; 200]; batch];
    let start = Instant::now();
    let mut appends = 0;
    while start.elapsed() < LASTS {
        log.append(log.next(), &records)?;
        appends += 1;
    }
    Ok(f64::from(appends) / start.elapsed().as_secs_f64())
}

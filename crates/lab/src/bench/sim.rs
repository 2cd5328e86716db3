//! How many events the simulator gets through.

use cpu_time::ThreadTime;
use serde::Serialize;

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `sim`.
    pub bench: &'static str,
    /// Where chance started.
    pub seed: u64,
    /// Events that reached a machine.
    pub events: u64,
    /// CPU time they took.
    pub cpu_seconds: f64,
    /// Events per second of CPU time.
    pub events_per_cpu_second: f64,
    /// The history's hash: the same for the same seed, whatever the machine.
    pub history: String,
}

const PAIRS: u32 = 500;

/// Runs the echo workload for `events` events.
pub fn measure(events: u64, seed: u64) -> Report {
    let start = ThreadTime::now();
    let report = sim::echo::run(seed, PAIRS, events);
    let cpu_seconds = start.elapsed().as_secs_f64();
    Report {
        bench: "sim",
        seed,
        events: report.events,
        cpu_seconds,
        events_per_cpu_second: report.events as f64 / cpu_seconds,
        history: format!("{:016x}", report.history),
    }
}

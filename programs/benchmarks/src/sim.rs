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
    /// Pairs of machines.
    pub pairs: u32,
    /// Events that reached a machine.
    pub events: u64,
    /// CPU time they took.
    pub cpu_seconds: f64,
    /// Events per second of CPU time.
    pub events_per_cpu_second: f64,
    /// The history's hash: the same for the same seed, whatever the machine.
    pub history: String,
}

/// Runs the echo workload of `pairs` pairs for `events` events.
pub fn measure(pairs: u32, events: u64, seed: u64) -> Report {
    let start = ThreadTime::now();
    let report = sim::echo::run(seed, pairs, events);
    let cpu_seconds = start.elapsed().as_secs_f64();
    Report {
        bench: "sim",
        seed,
        pairs,
        events: report.events,
        cpu_seconds,
        events_per_cpu_second: report.events as f64 / cpu_seconds,
        history: format!("{:016x}", report.history),
    }
}

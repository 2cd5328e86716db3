//! The throughput of the simulator in events per CPU second.

use cpu_time::ThreadTime;
use serde::Serialize;

/// The result of `ecumene bench sim`.
#[derive(Clone, Debug, Serialize)]
pub struct SimReport {
    /// Name of the benchmark: always `sim`.
    pub bench: &'static str,
    /// Random seed of the links.
    pub seed: u64,
    /// Number of pairs of machines.
    pub pairs: u32,
    /// Number of inputs that reached a machine.
    pub events: u64,
    /// CPU time of all inputs.
    pub cpu_seconds: f64,
    /// Events per second of CPU time.
    pub events_per_cpu_second: f64,
    /// The history hash: the same for the same seed on every platform.
    pub history: String,
}

/// Runs the echo workload of `pairs` pairs for `events` events.
pub fn measure(pairs: u32, events: u64, seed: u64) -> SimReport {
    let start = ThreadTime::now();
    let report = sim::echo::run(seed, pairs, events);
    let cpu_seconds = start.elapsed().as_secs_f64();
    SimReport {
        bench: "sim",
        seed,
        pairs,
        events: report.events,
        cpu_seconds,
        events_per_cpu_second: report.events as f64 / cpu_seconds,
        history: format!("{:016x}", report.history),
    }
}

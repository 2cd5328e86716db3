//! The results of a run, in the paper's terms.

use super::checkers::OverlayViolation;
use super::oracle::OverlaySample;
use super::setting::{MessageSizes, VastOptions};
use super::world::VastOutcome;
use machine::{Span, Time};
use overlay::OverlayMsg;
use serde::Serialize;

/// Time after the last join from which on the overlay is expected to be in one piece.
const SETTLING: Span = Span::from_secs(5);

/// The results of one run; their fields are the JSON of the report.
#[derive(Clone, Debug, Serialize)]
pub struct VastResults {
    /// Name of the experiment, always `vast`.
    pub experiment: &'static str,
    /// The options of the run.
    #[serde(flatten)]
    pub options: VastOptions,
    /// The overlay at regular moments.
    pub samples: Vec<OverlaySample>,
    /// The run in a few numbers.
    pub summary: Summary,
    /// Bytes that a peer sent per second, by kind of message.
    pub by_kind: Vec<(&'static str, f64)>,
    /// Violations that the checkers found.
    pub violations: Vec<OverlayViolation>,
    /// The history hash, in hexadecimal digits.
    pub history: String,
    /// Time in seconds from which on all peers had joined and the overlay was expected to be in one piece.
    #[serde(skip)]
    pub settled_at: f64,
    /// Cost of the simulation. Not the same on every computer, so not part of the JSON.
    #[serde(skip)]
    pub cost: Cost,
}

/// Cost of simulating a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Processor time of the run, in seconds.
    pub cpu_seconds: f64,
    /// Number of inputs that machines took.
    pub inputs: u64,
}

/// A run in a few numbers; those about the overlay are over all samples after all peers have joined.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// Bytes that a peer sent per second, on average.
    pub average_bytes_per_second: f64,
    /// The most bytes that a peer sent in one second, by the paper's sizes.
    pub maximum_bytes_per_second: f64,
    /// Time of that second, in seconds.
    pub maximum_at_seconds: f64,
    /// Bytes that reached a peer per second, on average, by the paper's sizes.
    pub received_bytes_per_second: f64,
    /// The most bytes that reached a peer in one second, by the paper's sizes.
    pub maximum_received_bytes_per_second: f64,
    /// Bytes that a peer sent per second in our encoding, with the headers of all packets.
    pub packet_bytes_per_second: f64,
    /// The most of those bytes in one second.
    pub maximum_packet_bytes_per_second: f64,
    /// Messages that a peer held back per second, because its budget was spent.
    pub held_per_second: f64,
    /// Average bytes per peer in the list.
    pub bytes_per_entry: f64,
    /// Share of the bytes that are not moves, in per cent.
    pub overhead_percent: f64,
    /// Mean number of neighbours in a list.
    pub neighbours: f64,
    /// Mean number of missing neighbours per peer.
    pub missing: f64,
    /// Mean number of superfluous neighbours per peer.
    pub superfluous: f64,
    /// Per cent of peers with no neighbour missing.
    pub error_free_percent: f64,
    /// Per cent of pairs in view that knew each other.
    pub consistency_mean: f64,
    /// The same in the worst sample.
    pub consistency_worst: f64,
    /// Mean number of parts of the overlay.
    pub components_mean: f64,
    /// The most parts of the overlay in any sample.
    pub components_max: usize,
    /// Per cent of peers in the largest part, in the worst sample.
    pub largest_worst: f64,
    /// Mean error of known positions, in metres.
    pub drift_mean: f64,
    /// 99th percentile of that error: the mean of all samples.
    pub drift_p99: f64,
    /// Per cent of each peer's eight nearest neighbours whose every step arrived.
    pub near_percent: f64,
    /// Mean time from a step to its arrival, in milliseconds.
    pub delay_mean_ms: f64,
    /// 99th percentile of that time.
    pub delay_p99_ms: f64,
    /// New neighbours that a peer heard per second.
    pub new_links_per_second: f64,
    /// Time for which a peer lacked a peer in view, in seconds; 99th percentile.
    pub recovery_p99_seconds: f64,
    /// Time until a peer in view was heard, in milliseconds; 99th percentile.
    pub discovery_p99_ms: f64,
    /// Seconds at rest until every list was exactly right; null if that took more than five.
    pub exact_after_seconds: Option<f64>,
}

/// The results of a run, from its outcome.
pub fn results(options: &VastOptions, outcome: &VastOutcome, cpu_seconds: f64) -> VastResults {
    let bytes = bytes(options, outcome);
    let by_kind =
        OverlayMsg::KINDS.iter().zip(bytes).map(|(kind, it)| (*kind, *it as f64 / outcome.presence.max(1.0)));
    VastResults {
        experiment: "vast",
        options: options.clone(),
        samples: outcome.samples.clone(),
        summary: summary(options, outcome),
        by_kind: by_kind.collect(),
        violations: outcome.violations.clone(),
        history: format!("{:016x}", outcome.history),
        settled_at: settled_at(outcome),
        cost: Cost { cpu_seconds, inputs: outcome.events },
    }
}

fn settled_at(outcome: &VastOutcome) -> f64 {
    (outcome.joined + SETTLING).since(Time::ZERO).as_secs_f64()
}

const fn bytes<'a>(options: &VastOptions, outcome: &'a VastOutcome) -> &'a [u64; OverlayMsg::KINDS.len()] {
    match options.sizes {
        MessageSizes::Paper => &outcome.sent.paper,
        MessageSizes::Wire => &outcome.sent.wire,
    }
}

fn summary(options: &VastOptions, outcome: &VastOutcome) -> Summary {
    let bytes = bytes(options, outcome);
    let sent = bytes.iter().sum::<u64>();
    // At least one second, so that a run without peers gives zeros.
    let per_second = |count: u64| count as f64 / outcome.presence.max(1.0);
    let moves: u64 = OverlayMsg::KINDS.iter().zip(bytes).filter(|it| *it.0 == "move").map(|it| *it.1).sum();
    let settled: Vec<&OverlaySample> =
        outcome.samples.iter().filter(|it| settled_at(outcome) <= it.t).collect();
    let mean = |of: fn(&OverlaySample) -> f64| {
        settled.iter().map(|it| of(it)).sum::<f64>() / settled.len().max(1) as f64
    };
    let worst = |of: fn(&OverlaySample) -> f64| settled.iter().map(|it| of(it)).fold(100.0, f64::min);
    let neighbours = mean(|it| it.neighbours);
    let most = match options.sizes {
        MessageSizes::Paper => outcome.busiest.paper,
        MessageSizes::Wire => outcome.busiest.wire,
    };
    Summary {
        average_bytes_per_second: per_second(sent),
        maximum_bytes_per_second: most.bytes as f64,
        maximum_at_seconds: most.at.since(Time::ZERO).as_secs_f64(),
        received_bytes_per_second: per_second(outcome.received),
        maximum_received_bytes_per_second: outcome.busiest.received.bytes as f64,
        packet_bytes_per_second: per_second(outcome.sent.bytes_with_headers()),
        maximum_packet_bytes_per_second: outcome.busiest.line.bytes as f64,
        held_per_second: per_second(outcome.sent.held_back),
        bytes_per_entry: per_second(sent) / neighbours.max(1e-9),
        overhead_percent: 100.0 * (sent - moves) as f64 / sent.max(1) as f64,
        neighbours,
        missing: mean(|it| it.missing),
        superfluous: mean(|it| it.superfluous),
        error_free_percent: mean(|it| it.error_free),
        consistency_mean: mean(|it| it.consistency),
        consistency_worst: worst(|it| it.consistency),
        components_mean: mean(|it| it.components as f64),
        components_max: settled.iter().map(|it| it.components).max().unwrap_or(0),
        largest_worst: worst(|it| it.largest),
        drift_mean: mean(|it| it.drift),
        drift_p99: mean(|it| it.drift_p99),
        near_percent: mean(|it| it.near),
        delay_mean_ms: outcome.delay_ms.0,
        delay_p99_ms: outcome.delay_ms.1,
        new_links_per_second: per_second(outcome.new_links),
        recovery_p99_seconds: outcome.recovery_p99_seconds,
        discovery_p99_ms: outcome.discovery_p99_ms,
        exact_after_seconds: outcome.exact_after.map(Span::as_secs_f64),
    }
}

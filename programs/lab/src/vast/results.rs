//! What came of a run, in the paper's terms.

use super::checkers::Violation;
use super::oracle::Sample;
use super::setting::{Options, Sizes};
use super::world::Ran;
use machine::{Span, Time};
use overlay::Msg;
use serde::Serialize;

/// So long after the last join the overlay is expected to be whole.
const SETTLING: Span = Span::from_secs(5);

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Always `vast`.
    pub experiment: &'static str,
    /// What was asked for.
    #[serde(flatten)]
    pub options: Options,
    /// The overlay, now and then.
    pub samples: Vec<Sample>,
    /// All of it.
    pub summary: Summary,
    /// Bytes that a peer sent per second, by kind of message.
    pub by_kind: Vec<(&'static str, f64)>,
    /// What the checkers found wrong.
    pub violations: Vec<Violation>,
    /// The hash of the history.
    pub history: String,
    /// From when on everybody had joined and the overlay was expected to be whole, in seconds.
    #[serde(skip)]
    pub settled_at: f64,
    /// What it cost to find out. Not the same on every machine, so no part of the results.
    #[serde(skip)]
    pub cost: Cost,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Seconds of a processor.
    pub cpu_seconds: f64,
    /// Inputs that machines took.
    pub inputs: u64,
}

/// A run in a few numbers; those about the overlay are over all samples after everybody has joined.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// Bytes that a peer sent per second, on average.
    pub average_bytes_per_second: f64,
    /// The most bytes that a peer sent in one second, by the paper's sizes.
    pub maximum_bytes_per_second: f64,
    /// When that was, in seconds.
    pub maximum_at_seconds: f64,
    /// Bytes that reached a peer per second, on average, by the paper's sizes.
    pub received_bytes_per_second: f64,
    /// The most bytes that reached a peer in one second, by the paper's sizes.
    pub maximum_received_bytes_per_second: f64,
    /// Bytes that a peer sent per second in our encoding, with the headers of all packets.
    pub packet_bytes_per_second: f64,
    /// The most of that in one second.
    pub maximum_packet_bytes_per_second: f64,
    /// How many messages a peer held back per second, because it had sent too much.
    pub held_per_second: f64,
    /// Average bytes per peer in the list.
    pub bytes_per_entry: f64,
    /// The bytes that are not moves, in per cent.
    pub overhead_percent: f64,
    /// How long lists were.
    pub neighbours: f64,
    /// Those missing, per peer.
    pub missing: f64,
    /// Those too many, per peer.
    pub superfluous: f64,
    /// Per cent of peers with nobody missing.
    pub error_free_percent: f64,
    /// Per cent of pairs in view that knew each other.
    pub consistency_mean: f64,
    /// The worst sample.
    pub consistency_worst: f64,
    /// In how many parts the overlay was, on average.
    pub components_mean: f64,
    /// The most parts the overlay was in.
    pub components_max: usize,
    /// Per cent of peers in the largest part, in the worst sample.
    pub largest_worst: f64,
    /// How far places were from the truth, in metres.
    pub drift_mean: f64,
    /// The same, what 99 of 100 were below: the mean of all samples.
    pub drift_p99: f64,
    /// Per cent of everybody's eight nearest whose every step was heard.
    pub near_percent: f64,
    /// From a step to the hearing of it, in milliseconds.
    pub delay_mean_ms: f64,
    /// The same; 99 of 100 times less.
    pub delay_p99_ms: f64,
    /// How often a peer heard somebody new, per second.
    pub new_links_per_second: f64,
    /// How long a peer lacked somebody in view, in seconds; 99 of 100 times less.
    pub recovery_p99_seconds: f64,
    /// How long it took until somebody in view was heard, in milliseconds; 99 of 100 times less.
    pub discovery_p99_ms: f64,
    /// After everything had come to rest, the seconds until every list was exactly right; null if that took more than five.
    pub exact_after_seconds: Option<f64>,
}

/// Puts a run into the paper's terms.
pub fn results(options: &Options, ran: &Ran, cpu_seconds: f64) -> Results {
    let bytes = bytes(options, ran);
    let by_kind = Msg::KINDS.iter().zip(bytes).map(|(kind, it)| (*kind, *it as f64 / ran.presence.max(1.0)));
    Results {
        experiment: "vast",
        options: options.clone(),
        samples: ran.samples.clone(),
        summary: summary(options, ran),
        by_kind: by_kind.collect(),
        violations: ran.violations.clone(),
        history: format!("{:016x}", ran.history),
        settled_at: settled_at(ran),
        cost: Cost { cpu_seconds, inputs: ran.events },
    }
}

fn settled_at(ran: &Ran) -> f64 {
    (ran.joined + SETTLING).since(Time::ZERO).as_secs_f64()
}

const fn bytes<'a>(options: &Options, ran: &'a Ran) -> &'a [u64; Msg::KINDS.len()] {
    match options.sizes {
        Sizes::Paper => &ran.sent.paper,
        Sizes::Wire => &ran.sent.wire,
    }
}

fn summary(options: &Options, ran: &Ran) -> Summary {
    let bytes = bytes(options, ran);
    let sent = bytes.iter().sum::<u64>();
    let per_second = |count: u64| count as f64 / ran.presence.max(1.0);
    let moves: u64 = Msg::KINDS.iter().zip(bytes).filter(|it| *it.0 == "move").map(|it| *it.1).sum();
    let settled: Vec<&Sample> = ran.samples.iter().filter(|it| settled_at(ran) <= it.t).collect();
    let mean =
        |of: fn(&Sample) -> f64| settled.iter().map(|it| of(it)).sum::<f64>() / settled.len().max(1) as f64;
    let worst = |of: fn(&Sample) -> f64| settled.iter().map(|it| of(it)).fold(100.0, f64::min);
    let neighbours = mean(|it| it.neighbours);
    let most = match options.sizes {
        Sizes::Paper => ran.busiest.paper,
        Sizes::Wire => ran.busiest.wire,
    };
    Summary {
        average_bytes_per_second: per_second(sent),
        maximum_bytes_per_second: most.bytes as f64,
        maximum_at_seconds: most.at.since(Time::ZERO).as_secs_f64(),
        received_bytes_per_second: per_second(ran.received),
        maximum_received_bytes_per_second: ran.busiest.received.bytes as f64,
        packet_bytes_per_second: per_second(ran.sent.line()),
        maximum_packet_bytes_per_second: ran.busiest.line.bytes as f64,
        held_per_second: per_second(ran.sent.held),
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
        delay_mean_ms: ran.delay_ms.0,
        delay_p99_ms: ran.delay_ms.1,
        new_links_per_second: per_second(ran.new_links),
        recovery_p99_seconds: ran.recovery_p99_seconds,
        discovery_p99_ms: ran.discovery_p99_ms,
        exact_after_seconds: ran.exact_after.map(Span::as_secs_f64),
    }
}

//! What came of a run, in the paper's terms.

use super::checkers::Violation;
use super::oracle::Sample;
use super::setting::{Options, Protocol, Sizes, Walk, paper_tables};
use super::world::Ran;
use comfy_table::{CellAlignment, Table, presets};
use machine::Span;
use overlay::Msg;
use serde::Serialize;

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// Always `vast`.
    pub experiment: &'static str,
    /// Which protocol.
    pub protocol: Protocol,
    /// How peers walked.
    pub movement: Walk,
    /// How many there were.
    pub peers: u32,
    /// Where chance started.
    pub seed: u64,
    /// What bytes are counted by.
    pub sizes: Sizes,
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
}

/// A run in a few numbers; consistency, missing and the like over all samples after everybody has joined.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// Bytes that a peer sent per second, on average.
    pub average_bytes_per_second: f64,
    /// The most bytes that a peer sent in one second, by the paper's sizes.
    pub maximum_bytes_per_second: f64,
    /// The same per peer in the list, on average.
    pub bytes_per_entry: f64,
    /// How long lists were.
    pub neighbours: f64,
    /// Those missing, per peer.
    pub missing: f64,
    /// Those too many, per peer.
    pub superfluous: f64,
    /// Per cent of pairs in view that knew each other.
    pub consistency_mean: f64,
    /// The worst sample.
    pub consistency_worst: f64,
    /// The most parts the overlay was in.
    pub components_max: usize,
    /// How far places were from the truth, in metres.
    pub drift_mean: f64,
    /// How long a peer lacked somebody in view, in seconds; 99 of 100 times less.
    pub recovery_p99_seconds: f64,
    /// How long it took until somebody in view was heard, in milliseconds; 99 of 100 times less.
    pub discovery_p99_ms: f64,
    /// After everything had come to rest, the seconds until every list was exactly right; null if that took more than five.
    pub exact_after_seconds: Option<f64>,
}

/// Puts a run into the paper's terms.
pub fn results(options: &Options, ran: &Ran) -> Results {
    let bytes = match options.sizes {
        Sizes::Paper => &ran.sent.paper,
        Sizes::Wire => &ran.sent.wire,
    };
    let average = bytes.iter().sum::<u64>() as f64 / ran.presence.max(1.0);
    let joined = |it: &&Sample| options.peers as f64 * 0.2 + 5.0 <= it.t;
    let settled: Vec<&Sample> = ran.samples.iter().filter(joined).collect();
    let mean =
        |of: fn(&Sample) -> f64| settled.iter().map(|it| of(it)).sum::<f64>() / settled.len().max(1) as f64;
    let neighbours = mean(|it| it.neighbours);
    let summary = Summary {
        average_bytes_per_second: average,
        maximum_bytes_per_second: ran.most_bytes as f64,
        bytes_per_entry: average / neighbours.max(1e-9),
        neighbours,
        missing: mean(|it| it.missing),
        superfluous: mean(|it| it.superfluous),
        consistency_mean: mean(|it| it.consistency),
        consistency_worst: settled.iter().map(|it| it.consistency).fold(100.0, f64::min),
        components_max: settled.iter().map(|it| it.components).max().unwrap_or(0),
        drift_mean: mean(|it| it.drift),
        recovery_p99_seconds: ran.recovery_p99_seconds,
        discovery_p99_ms: ran.discovery_p99_ms,
        exact_after_seconds: ran.exact_after.map(Span::as_secs_f64),
    };
    let by_kind = Msg::KINDS.iter().zip(bytes).map(|(kind, it)| (*kind, *it as f64 / ran.presence.max(1.0)));
    Results {
        experiment: "vast",
        protocol: options.protocol,
        movement: options.movement,
        peers: options.peers,
        seed: options.seed,
        sizes: options.sizes,
        samples: ran.samples.clone(),
        summary,
        by_kind: by_kind.collect(),
        violations: ran.violations.clone(),
        history: format!("{:016x}", ran.history),
    }
}

/// The results as JSON, ending in a line break.
pub fn json(results: &Results) -> String {
    serde_json::to_string_pretty(results).expect("results are plain data") + "\n"
}

/// The results for a terminal.
pub fn tables(results: &Results) -> String {
    let it = &results.summary;
    let (paper, beside) = (paper_tables(results.movement), results.protocol == Protocol::Paper);
    let printed = |of: fn((f64, f64, f64)) -> f64| match paper.filter(|_| beside) {
        Some(row) => format!("{:.2}", of(row)),
        None => "–".to_owned(),
    };
    let mut summary = table(&["", "ours", "the paper"]);
    let mut add = |name: &str, ours: String, paper: String| {
        summary.add_row([name.to_owned(), ours, paper]);
    };
    let kilobytes = |bytes: f64| format!("{:.3}", bytes / 1e3);
    add("average, kB/s per peer (table 1)", kilobytes(it.average_bytes_per_second), printed(|it| it.0));
    add("maximum, kB/s (table 1)", kilobytes(it.maximum_bytes_per_second), printed(|it| it.1));
    add("neighbours (table 2)", format!("{:.2}", it.neighbours), printed(|it| it.2));
    let none = || "–".to_owned();
    add("bytes per second and neighbour", format!("{:.1}", it.bytes_per_entry), none());
    add("missing per peer", format!("{:.3}", it.missing), none());
    add("superfluous per peer", format!("{:.3}", it.superfluous), none());
    add("consistency, %", format!("{:.3}", it.consistency_mean), none());
    add("consistency, worst sample, %", format!("{:.3}", it.consistency_worst), none());
    add("components, at most", it.components_max.to_string(), none());
    add("drift, m", format!("{:.2}", it.drift_mean), none());
    add("until somebody in view is heard, p99, ms", format!("{:.0}", it.discovery_p99_ms), none());
    add("until nobody in view is missing, p99, s", format!("{:.2}", it.recovery_p99_seconds), none());
    let exact = it.exact_after_seconds.map_or_else(|| "never".to_owned(), |it| format!("{it:.2} s"));
    add("at rest, every list is right after", exact, none());
    add("checkers", spoken(&results.violations), none());
    let mut samples = table(&[
        "t, s",
        "peers",
        "neighbours",
        "missing",
        "superfluous",
        "consistency, %",
        "components",
        "largest, %",
    ]);
    for it in &results.samples {
        samples.add_row([
            format!("{:.0}", it.t),
            it.peers.to_string(),
            format!("{:.2}", it.neighbours),
            format!("{:.3}", it.missing),
            format!("{:.3}", it.superfluous),
            format!("{:.3}", it.consistency),
            it.components.to_string(),
            format!("{:.1}", it.largest),
        ]);
    }
    format!("{samples}\n\n{summary}\n")
}

/// What the checkers say.
fn spoken(violations: &[Violation]) -> String {
    if violations.is_empty() {
        return "all quiet".to_owned();
    }
    let lines = violations.iter().map(|it| format!("{} {}", it.checker, it.count));
    lines.collect::<Vec<_>>().join(", ")
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    table.column_iter_mut().for_each(|it| it.set_cell_alignment(CellAlignment::Right));
    table
}

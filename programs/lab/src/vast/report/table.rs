//! The results as tables, for a terminal and for the page.

use crate::report::{Section, verdicts};
use crate::vast::claims::{NOTE, claims};
use crate::vast::part::VastMeasurements;
use crate::vast::results::VastResults;
use crate::vast::series::{Series, SummaryNumbers};
use crate::vast::setting::{Protocol, paper_tables};
use std::collections::BTreeMap;

/// A line of the summary: its label, the name of the number, its factor, and its digits after the point.
pub(super) struct SummaryLine {
    pub(super) label: &'static str,
    pub(super) name: &'static str,
    factor: f64,
    digits: usize,
}

const fn line(label: &'static str, name: &'static str, factor: f64, digits: usize) -> SummaryLine {
    SummaryLine { label, name, factor, digits }
}

/// All lines of the summary, in order.
pub(super) const LINES: [SummaryLine; 28] = [
    line("sent, mean, kB/s per peer (table 1)", "average_bytes_per_second", 1e-3, 3),
    line("sent, most in one second, kB (table 1)", "maximum_bytes_per_second", 1e-3, 2),
    line("the busiest second of any peer, s after the start", "maximum_at_seconds", 1.0, 0),
    line("received, mean, kB/s per peer", "received_bytes_per_second", 1e-3, 3),
    line("received, most in one second, kB", "maximum_received_bytes_per_second", 1e-3, 2),
    line("sent in our encoding with packet headers, kB/s", "packet_bytes_per_second", 1e-3, 3),
    line("the same, most in one second, kB", "maximum_packet_bytes_per_second", 1e-3, 2),
    line("messages held back per peer and second", "held_per_second", 1.0, 2),
    line("sent per second and neighbour, bytes", "bytes_per_entry", 1.0, 1),
    line("sent that is not moves, %", "overhead_percent", 1.0, 1),
    line("neighbours (table 2)", "neighbours", 1.0, 2),
    line("missing per peer", "missing", 1.0, 3),
    line("superfluous per peer", "superfluous", 1.0, 3),
    line("peers with no neighbour missing, %", "error_free_percent", 1.0, 2),
    line("consistency, mean, %", "consistency_mean", 1.0, 3),
    line("consistency, worst sample, %", "consistency_worst", 1.0, 3),
    line("components, mean", "components_mean", 1.0, 1),
    line("components, most", "components_max", 1.0, 0),
    line("largest component, worst sample, %", "largest_worst", 1.0, 1),
    line("drift, mean, m", "drift_mean", 1.0, 2),
    line("drift, p99, m", "drift_p99", 1.0, 2),
    line("the eight nearest whose every step is heard, %", "near_percent", 1.0, 2),
    line("from a step until it is heard, mean, ms", "delay_mean_ms", 1.0, 1),
    line("the same, p99, ms", "delay_p99_ms", 1.0, 1),
    line("new neighbours heard per peer and second", "new_links_per_second", 1.0, 3),
    line("until a peer in view is heard, p99, ms", "discovery_p99_ms", 1.0, 0),
    line("until no peer in view is missing, p99, s", "recovery_p99_seconds", 1.0, 2),
    line("at rest, seconds until every list is right", "exact_after_seconds", 1.0, 2),
];

impl SummaryLine {
    /// The number as text; `never` if there is none.
    pub(super) fn value(&self, numbers: &SummaryNumbers) -> String {
        let number = numbers.at(self.name);
        number.map_or_else(|| "never".to_owned(), |it| format!("{:.*}", self.digits, it * self.factor))
    }

    /// The number with its 95 % interval, if there is more than one run.
    pub(super) fn with_interval(&self, series: &Series) -> String {
        let value = self.value(&series.mean());
        match series.spread().at(self.name) {
            Some(spread) if 1 < series.runs.len() => {
                format!("{value} ± {:.*}", self.digits, spread * self.factor)
            }
            _ => value,
        }
    }

    /// The number that the paper prints, if it prints one.
    pub(super) fn printed(&self, series: &Series) -> Option<String> {
        let (average, maximum, neighbours) = paper_tables(series.options().movement)?;
        match self.name {
            "average_bytes_per_second" => Some(format!("{average}")),
            "maximum_bytes_per_second" => Some(format!("{maximum}")),
            "neighbours" => Some(format!("{neighbours}")),
            _ => None,
        }
    }
}

/// All tables as text, for a terminal.
pub fn tables(measured: &VastMeasurements) -> String {
    let mut parts = Vec::new();
    if let Some(run) = measured.run.first() {
        parts.push(samples(run).text());
        parts.push(summary(run).text());
    }
    let sections = [ablation(&measured.ablation), scaling(&measured.scaling)];
    parts.extend(sections.iter().filter(|it| !it.rows.is_empty()).map(Section::text));
    let verdicts = verdicts(claims(measured), NOTE.to_owned(), 3);
    parts.push(if verdicts.rows.is_empty() { NOTE.to_owned() } else { verdicts.text() });
    parts.join("\n\n") + "\n"
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).into()
}

/// The overlay over time, in the first run.
fn samples(series: &Series) -> Section {
    let header = [
        "t, s",
        "peers",
        "neighbours",
        "missing",
        "superfluous",
        "error-free, %",
        "consistency, %",
        "components",
        "largest, %",
    ];
    let it = series.options();
    let title = format!("{}, {}: {} peers, seed {}", series.name, it.movement.name(), it.peers, it.seed);
    let rows = series.runs[0].samples.iter().map(|it| {
        vec![
            format!("{:.0}", it.t),
            it.peers.to_string(),
            format!("{:.2}", it.neighbours),
            format!("{:.3}", it.missing),
            format!("{:.3}", it.superfluous),
            format!("{:.2}", it.error_free),
            format!("{:.3}", it.consistency),
            it.components.to_string(),
            format!("{:.1}", it.largest),
        ]
    });
    Section { title, note: String::new(), header: strings(header), rows: rows.collect() }
}

fn summary(series: &Series) -> Section {
    let beside = series.options().protocol == Protocol::Paper;
    let rows = LINES.iter().map(|line| {
        let printed = line.printed(series).filter(|_| beside).unwrap_or_default();
        vec![line.label.to_owned(), line.with_interval(series), printed]
    });
    let checkers = vec!["what the checkers found wrong".to_owned(), checker_counts(series), String::new()];
    let rows = rows.chain([checkers]);
    let title = match series.runs.len() {
        1 => "Summary".to_owned(),
        runs => format!("Summary of {runs} runs: means and their 95 % intervals"),
    };
    let header = strings(["", "ours", "the paper"]);
    Section { title, note: String::new(), header, rows: rows.collect() }
}

/// The number of violations per checker in all runs.
fn checker_counts(series: &Series) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for it in series.runs.iter().flat_map(|it| &it.violations) {
        *counts.entry(it.checker).or_default() += it.count;
    }
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    counts.into_iter().map(|(checker, count)| format!("{checker} {count}")).collect::<Vec<_>>().join(", ")
}

/// The table of the ablation.
pub(super) fn ablation(rows: &[Series]) -> Section {
    let names = [
        ("missing", 3),
        ("superfluous", 2),
        ("consistency_mean", 3),
        ("components_mean", 1),
        ("components_max", 0),
        ("neighbours", 2),
        ("average_bytes_per_second", 0),
        ("bytes_per_entry", 1),
    ];
    let header = [
        "",
        "missing",
        "superfluous",
        "consistency, %",
        "components, mean",
        "most",
        "neighbours",
        "bytes/s per peer",
        "per neighbour",
    ];
    let rows = rows.iter().map(|it| {
        let mean = it.mean();
        let cell = |(name, digits): (&str, usize)| format!("{:.digits$}", mean.at(name).unwrap_or(f64::NAN));
        [it.name.clone()].into_iter().chain(names.map(cell)).collect()
    });
    let note =
        "The paper's protocol with one change at a time, then ours with one feature removed at a time.";
    let title = "Which change cures what".to_owned();
    Section { title, note: note.to_owned(), header: strings(header), rows: rows.collect() }
}

/// The table of ever larger worlds.
pub(super) fn scaling(rows: &[Series]) -> Section {
    let header = [
        "peers",
        "bytes/s per peer",
        "consistency, %",
        "neighbours",
        "missing",
        "components, most",
        "inputs/s per peer",
        "µs of a processor per peer and second",
    ];
    let rows = rows.iter().map(|it| {
        let (mean, first) = (it.mean(), rows[0].mean());
        let number = |name: &str| mean.at(name).unwrap_or(f64::NAN);
        let beside = |value: f64, digits: usize, first: f64| {
            format!("{value:.digits$} ({:.2})", if first == 0.0 { 1.0 } else { value / first })
        };
        let against = |name: &str, digits| beside(number(name), digits, first.at(name).unwrap_or(f64::NAN));
        let (inputs, micros) = cost(it);
        let (first_inputs, first_micros) = cost(&rows[0]);
        vec![
            it.name.clone(),
            against("average_bytes_per_second", 0),
            format!("{:.3}", number("consistency_mean")),
            against("neighbours", 2),
            format!("{:.3}", number("missing")),
            format!("{:.0}", number("components_max")),
            beside(inputs, 1, first_inputs),
            beside(micros, 1, first_micros),
        ]
    });
    let note = "As sparse as the first; in brackets against the first. Processor time depends on the machine and on what \
                else it does.";
    let title = "Ever larger worlds".to_owned();
    Section { title, note: note.to_owned(), header: strings(header), rows: rows.collect() }
}

/// Cost of a peer per simulated second: inputs, and microseconds of processor time.
pub(super) fn cost(series: &Series) -> (f64, f64) {
    let seconds = |it: &VastResults| it.options.hours * 3_600.0 * f64::from(it.options.peers);
    let mean = |of: &dyn Fn(&VastResults) -> f64| {
        series.runs.iter().map(|it| of(it) / seconds(it)).sum::<f64>() / series.runs.len() as f64
    };
    (mean(&|it| it.cost.inputs as f64), mean(&|it| it.cost.cpu_seconds * 1e6))
}

//! The results for programs: JSON and CSV.

use super::table::cost;
use crate::report::Claim;
use crate::vast::claims::claims;
use crate::vast::part::Measured;
use crate::vast::results::Results;
use crate::vast::series::{Numbers, Series};
use serde::Serialize;

/// One run and its claims.
#[derive(Serialize)]
struct One<'a> {
    #[serde(flatten)]
    results: &'a Results,
    claims: Vec<Claim>,
}

/// Everything.
#[derive(Serialize)]
struct All<'a> {
    experiment: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    run: Option<Runs<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ablation: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scaling: Vec<Row<'a>>,
    claims: Vec<Claim>,
}

/// Runs that differ by their seeds only.
#[derive(Serialize)]
struct Runs<'a> {
    runs: &'a [Results],
    mean: Numbers,
    spread: Numbers,
}

/// A row of a table.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    peers: u32,
    switches: &'a [(String, String)],
    mean: Numbers,
    spread: Numbers,
    inputs_per_peer_and_second: f64,
    cpu_microseconds_per_peer_and_second: f64,
}

/// The results as JSON, ending in a line break: one run as it is, several with their mean and spread, and the rows of the
/// other parts.
pub fn json(measured: &Measured) -> String {
    let alone = measured.ablation.is_empty() && measured.scaling.is_empty();
    match measured.run.first().map(|it| it.runs.as_slice()) {
        Some([results]) if alone => text(&One { results, claims: claims(measured) }),
        _ => text(&All {
            experiment: "vast",
            run: measured.run.first().map(runs),
            ablation: measured.ablation.iter().map(row).collect(),
            scaling: measured.scaling.iter().map(row).collect(),
            claims: claims(measured),
        }),
    }
}

/// One series as JSON: its runs, their mean and spread.
pub(super) fn series_json(series: &Series) -> String {
    text(&runs(series))
}

fn text(it: &impl Serialize) -> String {
    serde_json::to_string_pretty(it).expect("results are plain data") + "\n"
}

fn runs(series: &Series) -> Runs<'_> {
    Runs { runs: &series.runs, mean: series.mean(), spread: series.spread() }
}

fn row(series: &Series) -> Row<'_> {
    let (inputs, micros) = cost(series);
    Row {
        name: &series.name,
        peers: series.options().peers,
        switches: &series.options().switches,
        mean: series.mean(),
        spread: series.spread(),
        inputs_per_peer_and_second: inputs,
        cpu_microseconds_per_peer_and_second: micros,
    }
}

/// The samples of the run that was asked for as CSV: a row for every run and sample.
pub fn csv(measured: &Measured) -> String {
    let header = "protocol,movement,seed,t,peers,neighbours,missing,superfluous,error_free,consistency,components,largest,\
                  drift,drift_p99\n";
    let lines = measured.run.first().into_iter().flat_map(|it| &it.runs).flat_map(lines);
    header.to_owned() + &lines.collect::<String>()
}

fn lines(run: &Results) -> impl Iterator<Item = String> {
    let (name, movement, seed) = (run.options.name(), run.options.movement.name(), run.options.seed);
    run.samples.iter().map(move |it| {
        format!(
            "{name},{movement},{seed},{},{},{},{},{},{},{},{},{},{},{}\n",
            it.t,
            it.peers,
            it.neighbours,
            it.missing,
            it.superfluous,
            it.error_free,
            it.consistency,
            it.components,
            it.largest,
            it.drift,
            it.drift_p99
        )
    })
}

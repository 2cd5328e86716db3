//! The results as JSON and CSV, for programs.

use super::table::cost;
use crate::report::ExperimentClaim;
use crate::vast::claims::claims;
use crate::vast::part::VastMeasurements;
use crate::vast::results::VastResults;
use crate::vast::series::{Series, SummaryNumbers};
use serde::Serialize;

/// The JSON of a single run with its claims.
#[derive(Serialize)]
struct SingleRunJson<'a> {
    #[serde(flatten)]
    results: &'a VastResults,
    claims: Vec<ExperimentClaim>,
}

/// The JSON of all parts that were run.
#[derive(Serialize)]
struct AllPartsJson<'a> {
    experiment: &'static str,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    run: Option<SeriesJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ablation: Vec<SeriesRowJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scaling: Vec<SeriesRowJson<'a>>,
    claims: Vec<ExperimentClaim>,
}

/// The JSON of runs that differ by their seeds only.
#[derive(Serialize)]
struct SeriesJson<'a> {
    runs: &'a [VastResults],
    mean: SummaryNumbers,
    spread: SummaryNumbers,
}

/// The JSON of one row of the ablation or the scaling.
#[derive(Serialize)]
struct SeriesRowJson<'a> {
    name: &'a str,
    peers: u32,
    switches: &'a [(String, String)],
    mean: SummaryNumbers,
    spread: SummaryNumbers,
    inputs_per_peer_and_second: f64,
    cpu_microseconds_per_peer_and_second: f64,
}

/// The results as JSON, ending in a line break: one run as it is, several with their mean and spread, and the rows of
/// the other parts.
pub fn json(measured: &VastMeasurements) -> String {
    let alone = measured.ablation.is_empty() && measured.scaling.is_empty();
    match measured.run.first().map(|it| it.runs.as_slice()) {
        Some([results]) if alone => text(&SingleRunJson { results, claims: claims(measured) }),
        _ => text(&AllPartsJson {
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

fn runs(series: &Series) -> SeriesJson<'_> {
    SeriesJson { runs: &series.runs, mean: series.mean(), spread: series.spread() }
}

fn row(series: &Series) -> SeriesRowJson<'_> {
    let (inputs, micros) = cost(series);
    SeriesRowJson {
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
pub fn csv(measured: &VastMeasurements) -> String {
    let header = "protocol,movement,seed,t,peers,neighbours,missing,superfluous,error_free,consistency,components,largest,\
                  drift,drift_p99\n";
    let lines = measured.run.first().into_iter().flat_map(|it| &it.runs).flat_map(lines);
    header.to_owned() + &lines.collect::<String>()
}

fn lines(run: &VastResults) -> impl Iterator<Item = String> {
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

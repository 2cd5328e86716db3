//! The report of the experiment: tables for a terminal, JSON, figures, one HTML page.

mod figures;
mod table;

pub use crate::report::{ReportError, prepare};
pub use table::tables;

use super::MeshResults;
use super::claims::{ExperimentClaim, claims};
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("report.html");

/// The results with the verdicts on all claims.
#[derive(Serialize)]
struct JudgedResults<'a> {
    #[serde(flatten)]
    results: &'a MeshResults,
    claims: Vec<ExperimentClaim>,
}

/// Everything that the template of the page shows.
#[derive(Serialize)]
struct MeshPage<'a> {
    #[serde(flatten)]
    judged: JudgedResults<'a>,
    tables: Vec<crate::report::Section>,
    figures: &'a [(&'static str, String)],
}

/// The results as JSON, ending in a line break.
pub fn json(results: &MeshResults) -> String {
    let judged = JudgedResults { results, claims: claims(results) };
    let text = serde_json::to_string_pretty(&judged).expect("results are plain data");
    text + "\n"
}

/// Writes the whole report into `directory`: `report.html` and each of its figures in a file of its own.
pub fn write(directory: &Path, results: &MeshResults) -> Result<(), ReportError> {
    prepare(directory)?;
    let figures = figures::all(results)?;
    let judged = JudgedResults { results, claims: claims(results) };
    let page = MeshPage { judged, tables: table::sections(results), figures: &figures };
    let (page, json) = (crate::report::fill(TEMPLATE, page)?, json(results));
    let mut files: Vec<(&str, &str)> = vec![("report.html", &page), ("results.json", &json)];
    files.extend(figures.iter().map(|(name, svg)| (*name, svg.as_str())));
    crate::report::write(directory, &files)
}

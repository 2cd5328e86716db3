//! The results as people and programs want them: terminal tables, JSON, figures, one HTML page.

mod figures;
mod table;

pub use crate::report::{ReportError, prepare};
pub use table::tables;

use super::Results;
use super::claims::{Claim, claims};
use serde::Serialize;
use std::path::Path;

const TEMPLATE: &str = include_str!("report.html");

/// The results and the claims.
#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    results: &'a Results,
    claims: Vec<Claim>,
}

/// Everything the template speaks of.
#[derive(Serialize)]
struct Page<'a> {
    #[serde(flatten)]
    judged: Judged<'a>,
    tables: Vec<crate::report::Section>,
    figures: &'a [(&'static str, String)],
}

/// The results as JSON, ending in a line break.
pub fn json(results: &Results) -> String {
    let judged = Judged { results, claims: claims(results) };
    let text = serde_json::to_string_pretty(&judged).expect("results are plain data");
    text + "\n"
}

/// Writes the whole report into `directory`: `report.html` and, each in a file of its own, what it shows.
pub fn write(directory: &Path, results: &Results) -> Result<(), ReportError> {
    prepare(directory)?;
    let figures = figures::all(results)?;
    let judged = Judged { results, claims: claims(results) };
    let page = Page { judged, tables: table::sections(results), figures: &figures };
    let (page, json) = (crate::report::fill(TEMPLATE, page)?, json(results));
    let mut files: Vec<(&str, &str)> = vec![("report.html", &page), ("results.json", &json)];
    files.extend(figures.iter().map(|(name, svg)| (*name, svg.as_str())));
    crate::report::write(directory, &files)
}

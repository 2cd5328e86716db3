//! The report of the experiment: tables for a terminal, JSON, CSV, figures, one HTML page.

mod area;
mod csv;
mod figures;
mod html;
mod table;
mod verdict;

pub use crate::report::{ReportError, prepare};
pub use csv::{quality_csv, rows_csv};
pub use table::tables;
pub use verdict::{A3Verdict, ClaimSubject, failures, misfit, verdicts};

use super::{A3Results, A3Setting, Candidate};
use std::path::Path;

/// The results as JSON, ending in a line break.
pub fn json(results: &A3Results) -> String {
    let text = serde_json::to_string_pretty(results).expect("results are plain data");
    text + "\n"
}

/// Writes the whole report into `directory`: `report.html` and each of its figures and tables in a file of its own.
pub fn write(
    directory: &Path,
    setting: &A3Setting,
    candidates: &[Candidate],
    results: &A3Results,
) -> Result<(), ReportError> {
    prepare(directory)?;
    let average = figures::average(results)?;
    let maximum = figures::maximum(results)?;
    let squares = figures::squares(results)?;
    let page = html::page(setting, candidates, results, &[&average, &maximum, &squares])?;
    let files: [(&str, &str); 7] = [
        ("report.html", &page),
        ("average.svg", &average),
        ("maximum.svg", &maximum),
        ("squares.svg", &squares),
        ("rows.csv", &rows_csv(results)),
        ("quality.csv", &quality_csv(results)),
        ("results.json", &json(results)),
    ];
    crate::report::write(directory, &files)
}

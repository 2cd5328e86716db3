//! The results as people and programs want them: terminal tables, JSON, CSV, figures, one HTML page.

mod area;
mod csv;
mod figures;
mod html;
mod table;
mod verdict;

pub use csv::{quality_csv, rows_csv};
pub use table::tables;
pub use verdict::{About, Verdict, failures, misfit, verdicts};

use super::{Candidate, Results, Setting};
use std::path::Path;
use thiserror::Error;

/// Why a report could not be written.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The disk said no.
    #[error("cannot write {path}; choose another place with --out")]
    Write {
        /// Where.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A figure could not be drawn.
    #[error("cannot draw a figure: {0}")]
    Draw(String),
    /// The page could not be filled in.
    #[error("cannot fill in the report: {0}")]
    Page(#[from] minijinja::Error),
}

/// The results as JSON, ending in a line break.
pub fn json(results: &Results) -> String {
    let text = serde_json::to_string_pretty(results).expect("results are plain data");
    text + "\n"
}

/// Makes sure that `directory` can take a report, before hours of work for it.
pub fn prepare(directory: &Path) -> Result<(), ReportError> {
    let refused = |source| ReportError::Write { path: directory.display().to_string(), source };
    std::fs::create_dir_all(directory).map_err(refused)?;
    let probe = directory.join("report.html");
    std::fs::OpenOptions::new().create(true).append(true).open(probe).map(drop).map_err(refused)
}

/// Writes the whole report into `directory`: `report.html` and, each in a file of its own, what it shows.
pub fn write(
    directory: &Path,
    setting: &Setting,
    candidates: &[Candidate],
    results: &Results,
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
    for (name, text) in files {
        let path = directory.join(name);
        let refused = |source| ReportError::Write { path: path.display().to_string(), source };
        std::fs::write(&path, text).map_err(refused)?;
    }
    Ok(())
}

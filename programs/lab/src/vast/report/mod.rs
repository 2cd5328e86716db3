//! The report of the experiment: tables, JSON, CSV, and a page that reads as a short paper.

mod data;
mod figures;
mod map;
mod page;
mod table;

pub use crate::report::{ReportError, prepare};
pub use data::{csv, json};
pub use table::tables;

use super::part::VastMeasurements;
use crate::report::fill;
use std::path::Path;

const TEMPLATE: &str = include_str!("report.html");

/// Writes the whole report into `directory`: `report.html` and each of its figures and tables in a file of its own.
/// `command` is the command line that made it.
pub fn write(directory: &Path, command: &str, measured: &VastMeasurements) -> Result<(), ReportError> {
    prepare(directory)?;
    let page = page::page(command, measured)?;
    let mut files = vec![
        ("report.html".to_owned(), fill(TEMPLATE, &page)?),
        ("results.json".to_owned(), json(measured)),
        ("samples.csv".to_owned(), csv(measured)),
    ];
    files.extend(page.drawings());
    let name = |it: &super::Series| format!("{}-{}.json", it.options().movement.name(), it.name);
    files.extend(measured.run.iter().map(|it| (name(it), data::series_json(it))));
    let files: Vec<(&str, &str)> = files.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    crate::report::write(directory, &files)
}

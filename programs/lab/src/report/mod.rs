//! What the reports of all experiments share: figures, tables, claims, files and what can go wrong with them.

mod claim;
mod figure;
mod section;

pub use claim::Claim;
pub(crate) use claim::{OURS, PAPER, verdicts};
pub(crate) use figure::{Curve, Frame, SeriesLabelPosition, draw};
pub(crate) use section::Section;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;
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

/// Makes sure that `directory` can take a report, before hours of work for it.
pub fn prepare(directory: &Path) -> Result<(), ReportError> {
    let refused = |source| ReportError::Write { path: directory.display().to_string(), source };
    std::fs::create_dir_all(directory).map_err(refused)?;
    let probe = directory.join(format!(".report-{}", std::process::id()));
    std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe)).map_err(refused)
}

/// Writes files with these names into `directory`. Each is whole or not there, whenever this ends.
pub(crate) fn write(directory: &Path, files: &[(&str, &str)]) -> Result<(), ReportError> {
    for (name, text) in files {
        let (path, partial) = (directory.join(name), directory.join(format!(".{name}.partial")));
        let refused = |source| ReportError::Write { path: path.display().to_string(), source };
        std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, &path)).map_err(refused)?;
    }
    Ok(())
}

/// Fills in a page.
pub(crate) fn fill(template: &str, page: impl Serialize) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("fixed", |value: f64, digits: usize| format!("{value:.digits$}"));
    environment.add_filter("plain", |value: f64| value.to_string());
    environment.add_template("report", template)?;
    Ok(environment.get_template("report")?.render(Serde(page))?)
}

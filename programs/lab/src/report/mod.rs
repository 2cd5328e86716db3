//! Parts that the reports of all experiments share: figures, tables, claims, files and their errors.

mod claim;
mod figure;
mod section;

pub use claim::ExperimentClaim;
pub(crate) use claim::{OURS, PAPER, verdicts};
pub(crate) use figure::{Curve, FigureFrame, SeriesLabelPosition, draw};
pub(crate) use section::Section;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;
use std::path::Path;
use thiserror::Error;

/// Reason why a report could not be written.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file could not be written.
    #[error("cannot write {path}; choose another place with --out")]
    Write {
        /// Path of that file or directory.
        path: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A figure could not be drawn.
    #[error("cannot draw a figure: {0}")]
    Draw(String),
    /// The page could not be filled in.
    #[error("cannot fill in the report: {0}")]
    Page(#[from] minijinja::Error),
}

/// Checks that a report can be written into `directory`, before hours of work for it.
pub fn prepare(directory: &Path) -> Result<(), ReportError> {
    let refused = |source| ReportError::Write { path: directory.display().to_string(), source };
    std::fs::create_dir_all(directory).map_err(refused)?;
    // The process id keeps two runs from removing each other's probe.
    let probe = directory.join(format!(".report-{}", std::process::id()));
    std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe)).map_err(refused)
}

/// Writes files with these names into `directory`. Each file is complete or absent, whenever the process ends.
pub(crate) fn write(directory: &Path, files: &[(&str, &str)]) -> Result<(), ReportError> {
    for (name, text) in files {
        let (path, partial) = (directory.join(name), directory.join(format!(".{name}.partial")));
        let refused = |source| ReportError::Write { path: path.display().to_string(), source };
        // Renaming is atomic, so a reader never sees half a file.
        std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, &path)).map_err(refused)?;
    }
    Ok(())
}

/// Fills in the template of a page.
pub(crate) fn fill(template: &str, page: impl Serialize) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    // The name of the template has no ending from which the escaping could be guessed.
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("fixed", |value: f64, digits: usize| format!("{value:.digits$}"));
    environment.add_filter("plain", |value: f64| value.to_string());
    environment.add_template("report", template)?;
    Ok(environment.get_template("report")?.render(Serde(page))?)
}

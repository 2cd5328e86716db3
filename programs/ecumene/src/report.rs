//! Output that the commands of `ecumene lab` share: formats, and the report folder.

use ecumene::clap::{self, ValueEnum};
use ecumene::command::{CommandError, print, print_to_stderr};
use lab::a3::report::{ReportError, prepare};
use std::path::Path;

/// The output format of an experiment that also has rows for spreadsheets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LabFormat {
    /// Text for people.
    Table,
    /// JSON for programs.
    Json,
    /// Rows of comma-separated values.
    Csv,
}

/// Checks that a report can be written to `out`, before hours of work for it.
pub fn check_writable(out: Option<&Path>) -> Result<(), CommandError> {
    let refused = |error: ReportError| CommandError::Usage(format!("{:#}", anyhow::Error::from(error)));
    out.map_or(Ok(()), |directory| prepare(directory).map_err(refused))
}

/// Writes the report to `out`, if given, and then prints `text`. The report comes first, because standard output may be
/// a closed pipe by now.
pub fn publish(
    out: Option<&Path>,
    write: impl FnOnce(&Path) -> Result<(), ReportError>,
    text: &str,
) -> Result<(), CommandError> {
    if let Some(directory) = out {
        write(directory)?;
        print_to_stderr(&format!("report: {}", directory.join("report.html").display()));
    }
    print(text)
}

//! What all experiments of `ecumene lab` do alike with their results.

use crate::{Failure, print, say};
use lab::a3::report::{ReportError, prepare};
use std::path::Path;

/// Makes sure that a report can be written where somebody wants it, before hours of work for it.
pub fn ask_for(out: Option<&Path>) -> Result<(), Failure> {
    let refused = |error: ReportError| Failure::Asked(format!("{:#}", anyhow::Error::from(error)));
    out.map_or(Ok(()), |directory| prepare(directory).map_err(refused))
}

/// Writes the report, if somebody wants one, and prints `text`. In this order: whoever reads along may have gone away.
pub fn publish(
    out: Option<&Path>,
    write: impl FnOnce(&Path) -> Result<(), ReportError>,
    text: &str,
) -> Result<(), Failure> {
    if let Some(directory) = out {
        write(directory)?;
        say(&format!("report: {}", directory.join("report.html").display()));
    }
    print(text)
}

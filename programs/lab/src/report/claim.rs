//! Claims about an experiment, each with its verdict.

use super::Section;
use serde::Serialize;

/// The authors of the paper that an experiment repeats.
pub(crate) const PAPER: &str = "the paper";
/// The authors of this platform.
pub(crate) const OURS: &str = "Ecumene";

/// One claim of a paper or of ours, with what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentClaim {
    /// The claim in words, with its unit.
    pub claim: String,
    /// Author of the claim: `the paper` or `Ecumene`.
    pub by: &'static str,
    /// The number that was measured here.
    pub ours: f64,
    /// The bounds within which the number agrees, in words.
    pub bound: String,
    /// True if the number lies within the bounds.
    pub holds: bool,
}

impl ExperimentClaim {
    pub(crate) fn at_most(claim: String, by: &'static str, ours: f64, most: f64) -> Self {
        Self { claim, by, ours, bound: format!("at most {most}"), holds: ours <= most }
    }

    pub(crate) fn at_least(claim: String, by: &'static str, ours: f64, least: f64) -> Self {
        Self { claim, by, ours, bound: format!("at least {least}"), holds: least <= ours }
    }

    pub(crate) fn within(claim: String, by: &'static str, ours: f64, (low, high): (f64, f64)) -> Self {
        Self { claim, by, ours, bound: format!("{low} to {high}"), holds: (low..=high).contains(&ours) }
    }
}

/// A table of all claims with their verdicts; numbers with `digits` digits after the point.
pub(crate) fn verdicts(claims: Vec<ExperimentClaim>, note: String, digits: usize) -> Section {
    let header = ["claim", "by", "ours", "agrees if", "verdict"].map(str::to_owned).into();
    let rows = claims.into_iter().map(|it| {
        let verdict = if it.holds { "holds" } else { "does not come out" };
        vec![it.claim, it.by.to_owned(), format!("{:.digits$}", it.ours), it.bound, verdict.to_owned()]
    });
    Section { title: "Claims".to_owned(), note, header, rows: rows.collect() }
}

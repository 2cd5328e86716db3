//! What is claimed, and whether it comes out.

use super::Section;
use serde::Serialize;

/// The authors of the paper that an experiment repeats.
pub(crate) const PAPER: &str = "the paper";
/// Ourselves.
pub(crate) const OURS: &str = "Ecumene";

/// One claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// What is said.
    pub claim: String,
    /// Who says it.
    pub by: &'static str,
    /// What was found, as a number.
    pub ours: f64,
    /// Within which bounds that agrees.
    pub bound: String,
    /// Whether it agrees.
    pub holds: bool,
}

impl Claim {
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

/// All claims with their verdicts; numbers with so many digits.
pub(crate) fn verdicts(claims: Vec<Claim>, note: String, digits: usize) -> Section {
    let header = ["claim", "by", "ours", "agrees if", "verdict"].map(str::to_owned).into();
    let rows = claims.into_iter().map(|it| {
        let verdict = if it.holds { "holds" } else { "does not come out" };
        vec![it.claim, it.by.to_owned(), format!("{:.digits$}", it.ours), it.bound, verdict.to_owned()]
    });
    Section { title: "Claims".to_owned(), note, header, rows: rows.collect() }
}

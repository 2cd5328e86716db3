//! Claims about a measured world, each with its verdict: a benchmark that judges says what it judged.

use comfy_table::{Table, presets};
use serde::Serialize;

/// One claim, with what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredClaim {
    /// The claim in words, with its unit.
    pub claim: String,
    /// The number that was measured.
    pub measured: f64,
    /// The bound within which the claim holds, in words.
    pub bound: String,
    /// True if the claim holds.
    pub holds: bool,
}

impl MeasuredClaim {
    pub(crate) fn at_most(claim: &str, measured: f64, most: f64) -> Self {
        Self {
            claim: claim.to_owned(),
            measured,
            bound: format!("at most {}", number(most)),
            holds: measured <= most,
        }
    }

    pub(crate) fn at_least(claim: &str, measured: f64, least: f64) -> Self {
        Self {
            claim: claim.to_owned(),
            measured,
            bound: format!("at least {}", number(least)),
            holds: least <= measured,
        }
    }
}

/// Texts about the claims that do not hold.
pub fn failures(claims: &[MeasuredClaim]) -> Vec<String> {
    let failed = claims.iter().filter(|it| !it.holds);
    failed.map(|it| format!("{}: {}, not {}", it.claim, number(it.measured), it.bound)).collect()
}

/// The claims with their verdicts as a table for a terminal.
pub(crate) fn table(claims: &[MeasuredClaim]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["claim", "measured", "holds if", "verdict"]);
    for it in claims {
        let verdict = if it.holds { "holds" } else { "DOES NOT HOLD" };
        table.add_row([it.claim.clone(), number(it.measured), it.bound.clone(), verdict.to_owned()]);
    }
    table
}

/// Counts without, other numbers with two digits after the point.
fn number(it: f64) -> String {
    if it.fract() == 0.0 { format!("{it:.0}") } else { format!("{it:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_does_not_hold_says_why() {
        let claims = [
            MeasuredClaim::at_most("sessions lost", 2.0, 0.0),
            MeasuredClaim::at_most("sessions lost", 0.0, 0.0),
            MeasuredClaim::at_least("fairness", 0.5, 0.95),
            MeasuredClaim::at_least("fairness", f64::NAN, 0.95),
        ];
        let said = failures(&claims);
        assert_eq!(said[..2], ["sessions lost: 2, not at most 0", "fairness: 0.50, not at least 0.95"]);
        assert_eq!(said.len(), 3, "what was not measured does not hold");
    }
}

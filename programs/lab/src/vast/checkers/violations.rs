//! Violations that the checkers found: their number and the first example.

use serde::Serialize;
use std::collections::BTreeMap;

/// The violations that one checker found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverlayViolation {
    /// Name of the checker, such as `lists`.
    pub checker: &'static str,
    /// Number of violations in the run.
    pub count: u64,
    /// The first violation, in words.
    pub first: String,
}

/// The violations that all checkers found.
#[derive(Debug, Default)]
pub struct OverlayViolations(BTreeMap<&'static str, OverlayViolation>);

impl OverlayViolations {
    /// Counts a violation; `example` is called for the first one only.
    pub fn note(&mut self, checker: &'static str, example: impl FnOnce() -> String) {
        let new = || OverlayViolation { checker, count: 0, first: example() };
        self.0.entry(checker).or_insert_with(new).count += 1;
    }

    /// All violations, by the names of the checkers.
    pub fn into_list(self) -> Vec<OverlayViolation> {
        self.0.into_values().collect()
    }
}

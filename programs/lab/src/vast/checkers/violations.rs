//! What was wrong: how often, and one example.

use serde::Serialize;
use std::collections::BTreeMap;

/// What a checker found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which checker.
    pub checker: &'static str,
    /// How often.
    pub count: u64,
    /// The first time.
    pub first: String,
}

/// What all checkers found.
#[derive(Debug, Default)]
pub struct Violations(BTreeMap<&'static str, Violation>);

impl Violations {
    /// Something is wrong; `example` is asked the first time only.
    pub fn note(&mut self, checker: &'static str, example: impl FnOnce() -> String) {
        let new = || Violation { checker, count: 0, first: example() };
        self.0.entry(checker).or_insert_with(new).count += 1;
    }

    /// All of it, by checker.
    pub fn into_list(self) -> Vec<Violation> {
        self.0.into_values().collect()
    }
}

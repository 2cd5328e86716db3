//! Broken invariants, as checkers report them.

use machine::Time;
use serde::Serialize;
use std::fmt;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Seed of the run; 0 for histories of real processes.
    pub seed: u64,
    /// Name of the invariant, which is the name of its checker's file.
    pub invariant: &'static str,
    /// Description of what the checker saw.
    pub detail: String,
    /// Time of it in simulated milliseconds.
    pub millis: u64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}, {} ms: {}: {}", self.seed, self.millis, self.invariant, self.detail)
    }
}

/// Collects violations. The first is the one that counts; a few more help to understand it.
#[derive(Debug)]
pub struct Violations {
    seed: u64,
    pub(crate) now: Time,
    found: Vec<Violation>,
    /// Exact time of the first one.
    first: Option<Time>,
}

/// Number of violations that are kept: later ones mostly follow from the first few.
const FOUND_MAX: usize = 8;

impl Violations {
    /// An empty collection for a run.
    pub const fn new(seed: u64) -> Self {
        Self { seed, now: Time::ZERO, found: Vec::new(), first: None }
    }

    /// Adds a violation of this moment.
    pub fn add(&mut self, invariant: &'static str, detail: String) {
        self.add_at(self.now, invariant, detail);
    }

    /// Adds a violation of an earlier moment.
    pub fn add_at(&mut self, at: Time, invariant: &'static str, detail: String) {
        self.first.get_or_insert(at);
        if self.found.len() < FOUND_MAX {
            let millis = at.as_millis();
            self.found.push(Violation { seed: self.seed, invariant, detail, millis });
        }
    }

    /// Returns whether no violation was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Time of the violation that was added first.
    pub const fn first(&self) -> Option<Time> {
        self.first
    }

    /// The violations that were kept, first one first.
    pub fn all(&self) -> &[Violation] {
        &self.found
    }

    /// The violations that were kept, first one first.
    pub fn into_vec(self) -> Vec<Violation> {
        self.found
    }
}

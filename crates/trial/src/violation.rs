//! Something that must never be, and was.

use machine::Time;
use serde::Serialize;
use std::fmt;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The seed of the run.
    pub seed: u64,
    /// Which invariant: the name of its file.
    pub invariant: &'static str,
    /// What was seen.
    pub detail: String,
    /// When, in simulated milliseconds.
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
    /// When the first one was, exactly.
    first: Option<Time>,
}

/// What comes after the first few is the same thing again.
const FOUND_MAX: usize = 8;

impl Violations {
    /// None yet.
    pub const fn new(seed: u64) -> Self {
        Self { seed, now: Time::ZERO, found: Vec::new(), first: None }
    }

    /// Notes one of this moment.
    pub fn add(&mut self, invariant: &'static str, detail: String) {
        self.add_at(self.now, invariant, detail);
    }

    /// Notes one of an earlier moment.
    pub fn add_at(&mut self, at: Time, invariant: &'static str, detail: String) {
        self.first.get_or_insert(at);
        if self.found.len() < FOUND_MAX {
            let millis = at.as_millis();
            self.found.push(Violation { seed: self.seed, invariant, detail, millis });
        }
    }

    /// Whether anything was violated.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// When the first one was.
    pub const fn first(&self) -> Option<Time> {
        self.first
    }

    /// All of them.
    pub fn all(&self) -> &[Violation] {
        &self.found
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<Violation> {
        self.found
    }
}

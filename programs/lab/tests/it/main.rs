//! Tests of the experiments, with small runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod a3;
mod vast;
mod vast_checkers;

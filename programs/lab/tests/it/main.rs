//! The experiments, run small.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod a3;
mod vast;
mod vast_checkers;

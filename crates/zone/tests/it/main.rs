//! Tests of the zone from outside.
#![allow(clippy::print_stdout, reason = "tests that count say how many")]

mod bench;
mod models;

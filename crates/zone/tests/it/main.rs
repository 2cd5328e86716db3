//! Tests of the zone through its public interface: the protocol by example (`bench`), and models of it (`models`).
#![allow(clippy::print_stdout, reason = "tests that count say how many")]

mod bench;
mod models;

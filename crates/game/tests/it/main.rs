//! Tests of the public interface: guarantees to games, and limits that a game cannot break.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod draft;
mod hive;
mod hosted;
mod hostile;
mod kinds;
mod manual;
#[path = "../../examples/orchard.rs"]
#[allow(dead_code, reason = "its main is for `cargo run --example`")]
mod orchard;
mod probe;
mod schema;
mod solo;
mod testdata;
mod typescript;

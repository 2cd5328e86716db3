//! What a game may rely on, and what a game cannot break, seen from outside.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod draft;
mod hive;
mod hosted;
mod hostile;
mod kinds;
mod manual;
#[path = "../../examples/orchard.rs"]
#[allow(dead_code, reason = "its main is for those who run it")]
mod orchard;
mod probe;
mod schema;
mod solo;
mod testdata;
mod typescript;

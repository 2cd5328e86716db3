//! What the lobby promises, seen from outside.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod accounts;
mod bench;
mod disk;
mod doors;
mod fuzz;
mod limits;
mod names;
mod tokens;

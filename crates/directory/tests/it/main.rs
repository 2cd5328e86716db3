//! The promises of the directory, tested from outside. The contracts [directory-01] to [directory-05] stand in
//! `docs/store.md`.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod bench;
mod clock;
mod failure;
mod limits;
mod linear;

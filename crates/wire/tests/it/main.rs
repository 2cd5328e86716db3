//! The promises of the formats, tested from outside. The contracts [wire-01] to [wire-07] stand in `docs/wire.md`.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod forwarding;
mod fuzz;
mod golden;
mod hostile;
mod roundtrip;
mod sample;

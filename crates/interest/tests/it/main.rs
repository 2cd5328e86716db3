//! The engine against a dull reference, under crowds, and without allocation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod budget;
mod promise;
mod reference;
mod schedule;
mod slots;
mod steady;

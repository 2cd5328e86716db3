//! The engine against a simple reference, under crowds, and without allocation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod budget;
mod groups;
mod reference;
mod schedule;
mod schedule_checker;
mod slots;
mod steady;

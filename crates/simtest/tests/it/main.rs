//! Simulated worlds: they survive, their histories repeat, and checkers notice planted bugs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod faults;
mod files;
mod histories;
mod hostile;
mod mayflies;
mod mesh;
mod orchard;
mod planted;
mod process;
mod recorded_histories;
mod rollback;
mod survival;
mod tier;

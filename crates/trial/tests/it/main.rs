//! Worlds under trial: they survive, their histories repeat, and checkers notice what is planted.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod faults;
mod files;
mod histories;
mod hostile;
mod mayflies;
mod mesh;
mod orchard;
mod pardon;
mod planted;
mod process;
mod survival;
mod tier;
mod written;

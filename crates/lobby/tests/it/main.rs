//! The lobby's guarantees, through its public interface.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod accounts;
mod admission;
mod admission_model;
mod disk;
mod end_to_end;
mod fixtures;
mod fuzz;
mod limits;
mod names;
mod tokens;

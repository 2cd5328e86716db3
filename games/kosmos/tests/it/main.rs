//! The rules, one by one, and all of them together in long play.

#![allow(clippy::unwrap_used, reason = "all of this binary is a test, its helper functions too")]

mod deaths;
mod items;
mod npcs;
mod play;
mod refusals;
mod rockets;
mod sizes;
mod test_world;
mod trades;

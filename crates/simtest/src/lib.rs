//! Simulated worlds: the shipped machines on the simulator, with faults on purpose and checkers that watch.
//!
//! A run is a seed. The seed draws a world, its players, which kinds of faults exist in it and when they strike; then
//! everything heals, and the world must recover. Checkers (see [`check`]) watch all the time and check the history
//! that survived. The same [`HistoryChecker`] reads what real processes wrote down (see [`histories`]).
//!
//! This crate models no protocol: it runs the real ones. It never decides what a machine does. It depends on no game: a
//! [`Scenario`] names the game, its players, and what must be conserved in it.

pub mod check;
pub mod crossing;
mod directory_service;
pub mod failover;
pub mod fault;
pub mod histories;
mod history_checker;
mod history_recorder;
mod layout;
pub mod plan;
pub mod planted_bug;
pub mod record_tracker;
mod run;
mod run_options;
mod scenario;
mod shrink;
mod simulated_disk;
mod simulated_world;
mod violation;
mod zone_history;

pub use history_checker::{Crossings, Ending, HistoryChecker, HistoryCounts, ZoneSpec};
pub use layout::{HOSTS, Layout};
pub use run::{RunOutcome, run, run_in, run_recorded, run_with};
pub use run_options::{RunOptions, RunRequest};
pub use scenario::{ConservedGoods, Count, ItemId, Scenario};
pub use shrink::{shrink, shrink_while};
pub use simulated_world::{Monitor, SimulatedWorld};
pub use violation::{Violation, Violations};

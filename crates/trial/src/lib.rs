//! Worlds under trial: the shipped machines on the simulator, everything that can break broken on purpose, and
//! somebody who watches.
//!
//! A trial is a seed. It draws a world, its players, which kinds of trouble exist in it and when they strike; then
//! everything heals, and the world must recover. Checkers (see [`check`]) watch all the time and judge the history
//! that survived. The same [`Judge`] reads what real processes wrote down (see [`histories`]).
//!
//! This crate models no protocol: it runs the real ones. It never decides what a machine does. It knows no game: a
//! [`Scenario`] says which is played, by whom, and what must be conserved in it.

pub mod check;
mod court;
pub mod crossing;
mod disk;
pub mod failover;
pub mod fault;
pub mod histories;
mod judge;
mod layout;
pub mod ledger;
mod options;
pub mod plan;
pub mod plants;
mod recorder;
mod run;
mod scenario;
mod service;
mod shrink;
mod violation;
mod world;

pub use judge::{About, Crossings, Ending, Judge, Tally};
pub use layout::{HOSTS, Layout};
pub use options::{Asked, Options};
pub use run::{Outcome, run, run_in, run_recorded, run_with};
pub use scenario::{Count, Goods, Scenario, Serial};
pub use shrink::{shrink, shrink_while};
pub use violation::{Violation, Violations};
pub use world::{Monitor, World};

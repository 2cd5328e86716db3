//! The deterministic simulator: it drives machines in virtual time.
//!
//! A [`Sim`] holds machines of one type, joins them by links with delay, jitter, loss and rate (see
//! [`Profile`]), and hands them their inputs in the order of time. Links carry encoded *bytes*, so a
//! message that cannot cross a real wire cannot cross this one either. All random draws come from one seed,
//! and everything that happens goes into one history hash: one seed gives one history, byte for byte.
//!
//! ```
//! use machine::{Span, Time};
//! use sim::{Profile, Sim, echo::Echo};
//!
//! let mut sim = Sim::new(7);
//! let server = sim.add(Echo::opening(1));
//! let client = sim.add(Echo::answering());
//! sim.connect(server, client, Profile::new(Span::from_millis(20)));
//! sim.run_until(Time::from_millis(100));
//! // Twice `LinkUp`, then one message every 20 ms.
//! assert_eq!(sim.events(), 2 + 5);
//! assert_eq!(sim.machine(client).heard(), 3);
//! ```
//!
//! Hosts crash, freeze, run slow and have clocks of their own; links fall silent, change their profile, double messages
//! and delay them for a minute. A host or link without a fault pays nothing for the faults of others.
//!
//! ```
//! use machine::{Span, Time};
//! use sim::{Profile, Sim, echo::Echo};
//!
//! let mut sim = Sim::new(7);
//! let server = sim.add(Echo::opening(1));
//! let client = sim.add(Echo::answering());
//! sim.connect(server, client, Profile::new(Span::from_millis(20)));
//! sim.run_until(Time::from_millis(50));
//! sim.crash(server);
//! sim.run_until(Time::from_millis(1_000));
//! sim.restart(server, Echo::opening(1)); // A new machine: nothing heard, no links.
//! sim.connect(server, client, Profile::new(Span::from_millis(20)));
//! sim.freeze(client, Time::from_millis(2_000));
//! sim.run_until(Time::from_millis(1_100));
//! assert_eq!((sim.is_up(server), sim.waiting(client)), (true, 3)); // `LinkDown`, `LinkUp`, the first ball.
//! ```
//!
//! Read `sim` first (the loop), then `network`, `direction` and `queue`; for faults `simulated_host`, `outage`
//! and the `faults` of `sim` and `network`.
//!
//! [`crowd`] draws the load of experiments that need many players before they need any protocol: which players
//! are in the world, where they walk, and which of them fail together.
//!
//! This crate never reads a real clock, never draws from outside its seed, and knows no protocol. It does not
//! check a run either: that is for checkers that look at the machines between steps.

mod buffers;
pub mod config;
mod counters;
pub mod crowd;
mod delay_model;
mod direction;
pub mod echo;
mod history_hash;
mod host_clock;
mod link_rate_limiter;
mod network;
mod outage;
mod profile;
mod queue;
mod queue_entry;
mod routes;
mod sim;
mod simulated_host;
mod slab;
mod trace;

pub use counters::{Counters, MessageCount};
pub use profile::{Profile, ProfileError};
pub use sim::{RaisedEvent, Sim};

//! The clockwork of the deterministic simulator: it drives machines in virtual time.
//!
//! A [`Sim`] holds machines of one type, joins them by links with delay, jitter, loss and rate (see
//! [`Profile`]), and hands them their inputs in the order of time. Links carry encoded *bytes*, so a
//! message that cannot cross a real wire cannot cross this one either. All chance comes from one seed,
//! and everything that happens goes into one running hash: one seed gives one history, byte for byte.
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
//! Hosts crash, freeze, run slow and have clocks of their own; links fall silent, change, double messages and
//! delay them for a minute. A host or link without a fault pays nothing for those of others.
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
//! sim.restart(server, Echo::opening(1)); // A new life: nothing heard, no links.
//! sim.connect(server, client, Profile::new(Span::from_millis(20)));
//! sim.freeze(client, Time::from_millis(2_000));
//! sim.run_until(Time::from_millis(1_100));
//! assert_eq!((sim.is_up(server), sim.waiting(client)), (true, 3)); // `LinkDown`, `LinkUp`, the first ball.
//! ```
//!
//! Read `sim` first (the loop), then `network`, `link` and `queue`; for faults `host`, `outage` and the
//! `faults` of `sim` and `network`.
//!
//! Who is there, where they walk, and what befalls them all at once is drawn in [`crowd`], for experiments
//! that need many players before they need any protocol.
//!
//! This crate never reads a clock, never draws chance from outside, and knows no protocol. It is not
//! the judge either: what must hold in a run is for checkers that look at it between steps.

mod buffers;
mod clock;
pub mod config;
mod counters;
pub mod crowd;
pub mod echo;
mod flight;
mod happening;
mod history;
mod host;
mod link;
mod network;
mod outage;
mod outlet;
mod profile;
mod queue;
mod routes;
mod sim;
mod slab;
mod trace;

pub use counters::{Counters, Tally};
pub use profile::{Profile, ProfileError};
pub use sim::{Raised, Sim};

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
//! Read `sim` first (the loop), then `network`, `link` and `queue`.
//!
//! This crate never reads a clock, never draws chance from outside, and knows no protocol. It is not
//! the judge either: what must hold in a run is for checkers that look at it between steps.

mod buffers;
pub mod config;
pub mod echo;
mod happening;
mod history;
mod link;
mod network;
mod profile;
mod queue;
mod routes;
mod sim;
mod slab;

pub use link::{Counters, Tally};
pub use profile::{Profile, ProfileError};
pub use sim::{Raised, Sim};

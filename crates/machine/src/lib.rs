//! The contract every protocol in Ecumene keeps: a protocol is a value.
//!
//! A [`Machine`] has no clock, socket, thread or chance of its own. Its driver hands it the time and
//! one [`Input`], and it pushes what must be done into an [`Outbox`]. Two drivers run the same
//! machines: `sim` in virtual time with seeded faults, and `net` on real sockets. So an experiment
//! measures, and a test breaks, the code that ships.
//!
//! ```
//! use machine::{Input, Lane, Machine, Outbox, Span, Time};
//!
//! /// Says "still here" to one peer every second.
//! struct Beacon { peer: machine::Address, next: Time }
//!
//! impl Machine for Beacon {
//!     type Msg = &'static str;
//!     type Command = ();
//!     type Event = ();
//!     fn handle(&mut self, now: Time, input: Input<&'static str, ()>, out: &mut Outbox<&'static str, ()>) {
//!         // Any input may arrive early, late or twice: only the clock decides.
//!         if let Input::Wake = input && self.next <= now {
//!             out.send(self.peer, Lane::Sure, "still here");
//!             self.next = now + Span::from_secs(1);
//!         }
//!     }
//!     fn deadline(&self) -> Option<Time> { Some(self.next) }
//! }
//!
//! let mut beacon = Beacon { peer: machine::Address(7), next: Time::ZERO };
//! let mut out = Outbox::new();
//! beacon.handle(Time::ZERO, Input::Wake, &mut out);
//! beacon.handle(Time::ZERO, Input::Wake, &mut out); // a second wake does nothing
//! assert_eq!(out.len(), 1);
//! ```
//!
//! This crate never does I/O, and knows no protocol.

mod contract;
pub mod directory;
pub mod disk;
mod outbox;
pub mod queue;
mod rng;
pub mod stage;
mod time;
mod timers;

pub use contract::{Address, Input, Lane, LatestKey, LinkNumber, Machine, Ticket};
pub use outbox::{Outbox, Output};
pub use rng::Rng;
pub use time::{Span, Time};
pub use timers::{TimerName, Timers};

//! The embedded directory: who serves what, by revision, and what time it is in the world.
//!
//! Safety between replicas rests on it: whoever wants to be a zone's primary must win a swap here.
//! [`Directory`] is the pure value (the simulator may use it as it is); [`Durable`] is the same on a
//! `store::Log`, where no swap is answered before it is on the disk. Both answer
//! `machine::directory::Request`.
//!
//! ```
//! use directory::{Durable, Settings};
//! use machine::directory::{Done, Key, Request, Revision, Write};
//! use machine::{Ticket, Time};
//! use store::Memory;
//!
//! let mut directory = Durable::open(Memory::new(), Time::ZERO, Settings::default())?;
//! let promote = |ticket, expected, primary: &str| Request::Swap {
//!     ticket: Ticket(ticket),
//!     writes: vec![Write {
//!         key: Key("zone/7".to_owned()),
//!         expected: Revision(expected),
//!         value: Some(primary.as_bytes().to_vec()),
//!     }],
//! };
//! let won = directory.serve(Time::ZERO, promote(1, 0, "host a"));
//! assert_eq!(won, Done::Won { ticket: Ticket(1), revision: Revision(1) });
//! // Whoever comes second learns who was first.
//! let lost = directory.serve(Time::ZERO, promote(2, 0, "host b"));
//! assert!(matches!(lost, Done::Lost { entries, .. } if entries[0].value == b"host a"));
//! # Ok::<(), directory::OpenError>(())
//! ```
//!
//! This crate never answers what a crash could undo, never guesses after a failure, never shows a time
//! earlier than one it has shown, and never talks to a network: serving others is for the drivers.

mod change;
mod clock;
pub mod config;
mod directory;
mod durable;

pub use directory::{Directory, Refusal, SwapError};
pub use durable::{Durable, OpenError, Settings};

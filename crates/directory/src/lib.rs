//! The embedded directory: the leadership of every zone, by revision, and the world's time.
//!
//! Safety between replicas rests on it: a replica that wants to be a zone's primary must win a swap here.
//! [`Directory`] is the pure value (the simulator may use it as it is); [`DurableDirectory`] is the same on a
//! `store::Log`, where no swap is answered before it is on the disk. Both answer
//! `machine::directory::DirectoryRequest`.
//!
//! ```
//! use directory::{DirectorySettings, DurableDirectory};
//! use machine::directory::{DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
//! use machine::{Ticket, Time};
//! use store::MemoryDisk;
//!
//! let mut directory = DurableDirectory::open(MemoryDisk::new(), Time::ZERO, DirectorySettings::default())?;
//! let promote = |ticket, expected, primary: &str| DirectoryRequest::Swap {
//!     ticket: Ticket(ticket),
//!     writes: vec![DirectoryWrite {
//!         key: Key("zone/7".to_owned()),
//!         expected: Revision(expected),
//!         value: Some(primary.as_bytes().to_vec()),
//!     }],
//! };
//! let won = directory.serve(Time::ZERO, promote(1, 0, "host a"));
//! assert_eq!(won, DirectoryReply::Won { ticket: Ticket(1), revision: Revision(1) });
//! // The second host learns from the answer that the first one won.
//! let lost = directory.serve(Time::ZERO, promote(2, 0, "host b"));
//! assert!(matches!(lost, DirectoryReply::Lost { entries, .. } if entries[0].value == b"host a"));
//! # Ok::<(), directory::DirectoryOpenError>(())
//! ```
//!
//! This crate never gives an answer that a crash could undo, never guesses after a failure, never shows a time
//! earlier than one it has shown, and never talks to a network: that is for the drivers.

mod change;
mod clock;
pub mod config;
mod directory;
mod durable_directory;

pub use directory::{Directory, DirectoryRefusal, SwapError, refusal_of};
pub use durable_directory::{DirectoryOpenError, DirectorySettings, DurableDirectory};

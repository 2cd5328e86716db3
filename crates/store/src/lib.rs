//! The embedded store: one machine's log of numbered records and at most one snapshot.
//!
//! A [`Log`] carries out what a machine asks of its disk (`machine::disk`): append and sync, cut, keep a
//! snapshot, recall. It lies on a [`Media`]: [`Files`] is a folder, [`Memory`] a disk that tears, loses,
//! flips and fails on cue, so that the simulator runs the very code that ships. The format is an
//! append-only log of our own, drawn to the byte in `docs/store.md` together with the reason and the way
//! back from a crash.
//!
//! ```
//! use store::{Limits, Log, Memory};
//!
//! let mut disk = Memory::new();
//! let (mut log, opened) = Log::open(&mut disk, 7, Limits::default())?;
//! assert_eq!(opened.recalled.first, 1);
//! log.append(1, &[b"a sword".to_vec(), b"changed hands".to_vec()])?;
//! log.keep(1, b"the world after record 1")?;
//!
//! disk.crash(&mut machine::Rng::seeded(1));
//! let (_, opened) = Log::open(&mut disk, 7, Limits::default())?;
//! assert_eq!(opened.recalled.snapshot, Some((1, b"the world after record 1".to_vec())));
//! assert_eq!(opened.recalled.records, [b"changed hands"]);
//! # Ok::<(), store::StoreError>(())
//! ```
//!
//! Read `log` first, then `scan` and `mend` (what opening does), then `format`.
//!
//! This crate never acknowledges what a crash could undo, never invents a record, never panics over what
//! it finds on a disk, and never knows what its records mean. It has no thread and no clock.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

pub mod config;
mod error;
mod files;
mod format;
mod log;
mod media;
mod memory;
mod mend;
mod recovery;
mod scan;

pub use config::Limits;
pub use error::StoreError;
pub use files::Files;
pub use log::{Log, Opened};
pub use media::{Media, MediaError};
pub use memory::Memory;
pub use recovery::{Dropped, Reason, Recovery};

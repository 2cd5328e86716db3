//! The embedded store: one machine's log of numbered records and at most one snapshot.
//!
//! A [`Log`] carries out a machine's requests to its disk (`machine::disk`): append and sync, cut, keep a
//! snapshot, recall. It lies on a [`Media`]: [`Files`] is a folder, [`MemoryDisk`] a disk that tears, loses,
//! flips and fails on command, so that the simulator runs the very code that ships. The format is an
//! append-only log of our own, drawn to the byte in `docs/store.md` together with the reasons for it and the
//! recovery from a crash.
//!
//! ```
//! use store::{Log, LogLimits, MemoryDisk};
//!
//! let mut disk = MemoryDisk::new();
//! let (mut log, opened) = Log::open(&mut disk, 7, LogLimits::default())?;
//! assert_eq!(opened.recalled.first, 1);
//! log.append(1, &[b"a sword".to_vec(), b"changed hands".to_vec()])?;
//! log.keep(1, b"the world after record 1")?;
//!
//! disk.crash(&mut machine::Rng::seeded(1));
//! let (_, opened) = Log::open(&mut disk, 7, LogLimits::default())?;
//! assert_eq!(opened.recalled.snapshot, Some((1, b"the world after record 1".to_vec())));
//! assert_eq!(opened.recalled.records, [b"changed hands"]);
//! # Ok::<(), store::StoreError>(())
//! ```
//!
//! The logs of a host's zones are a [`LogGroup`]: one sync makes the changes of all of them durable.
//!
//! Read `log` first, then `scan` and `mend` (the two steps of opening), then `format`, then `log_group`.
//!
//! This crate never acknowledges a change that a crash could undo, never invents a record, never panics over bytes
//! that it finds on a disk, and never knows what its records mean. It has no thread and no clock.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

pub mod config;
mod error;
mod files;
mod format;
mod log;
mod log_group;
mod media;
mod memory_disk;
mod mend;
mod recovery;
mod scan;

pub use config::LogLimits;
pub use error::StoreError;
pub use files::Files;
pub use log::{Log, LogContents};
pub use log_group::LogGroup;
pub use media::{Media, MediaError};
pub use memory_disk::MemoryDisk;
pub use recovery::{DropReason, DroppedBytes, Recovery};

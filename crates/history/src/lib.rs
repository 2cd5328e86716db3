//! Histories: what a process writes down about itself, so that somebody can judge it afterwards.
//!
//! A checker wants to know everything: every record written, stored and announced, what lies on which disk, who was
//! named primary, what players heard. On the simulator it listens; of real processes it reads files like these, one per
//! life of a process (`ecumene check`). Both judge the same [`Entry`]s.
//!
//! An entry must be in the file (handed to the operating system, not synced) before anything that it caused leaves the
//! process: then whatever others did because of it comes later in time, and a process that is killed has said
//! everything that anybody could know of it. Times come from one clock that all processes of a machine share.
//!
//! This crate turns entries into bytes and back. It never writes a file, reads no clock, and judges nothing.

mod entry;
mod file;
mod format;

pub use entry::{Entry, Name, What, directory_holds, directory_swapped, disk_keeps, disk_recalled};
pub use file::{EXTENSION, file_name};
pub use format::{Damage, ENTRY_MAX, Header, Life, VERSION, Why, World, encode, header, read};

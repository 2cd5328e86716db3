//! Histories: what a process writes down about itself, so that it can be judged afterwards.
//!
//! A checker wants to know everything: every record written, stored and announced, what lies on which disk, who was
//! named primary, what players heard. On the simulator it listens; of real processes it reads files like these, one per
//! life of a process (`ecumene check`). Both judge the same [`Entry`]s.
//!
//! An entry must be in the file (handed to the operating system, not synced) before anything that it caused leaves the
//! process: then what other processes did because of it comes later in time, and a process that is killed has written
//! down everything that they can know of it. Times come from one clock that all processes of a machine share.
//!
//! | what | where |
//! |---|---|
//! | an entry, and what requests of disks and directories become | `entry` |
//! | the bytes of a file | `format` |
//! | a process that writes: [`HistoryWriter`]; a simulated one: [`MemoryFolder`] | `writer` |
//! | a folder that is read: [`read_folder`] | `folder` |
//!
//! This crate ends where a single file ends: it knows the lives of a folder and what is damaged in each. It never
//! compares two lives. To put all entries into one order, to tell who was killed and whether the files belong to one
//! world is the judge's part (`trial::histories`). It reads no clock: the writer is given one.

mod entry;
mod folder;
mod format;
mod writer;

pub use entry::{Entry, Name, What, directory_holds, directory_swapped, disk_keeps, disk_recalled};
pub use folder::{EXTENSION, FolderError, NamedBytes, NamedLife, file_name, read_files, read_folder};
pub use format::{Damage, ENTRY_MAX, Header, Life, VERSION, Why, World, encode};
pub use writer::{Clock, HistoryWriter, MemoryFile, MemoryFolder};

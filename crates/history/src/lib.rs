//! Histories: the entries that a process writes about itself, for the checkers.
//!
//! A checker needs to know everything: every record written, stored and announced, the contents of every disk, every
//! leadership, every message that a player received. On the simulator it gets entries directly; of real processes it
//! reads files like these, one per life of a process (`ecumene check`). Both check the same [`Entry`]s.
//!
//! An entry must be in the file (handed to the operating system, not synced) before any of its consequences leaves the
//! process: then entries of other processes that follow from it have later times, and a process that is killed has
//! written everything that other processes can know of it. Times come from one clock that all processes of a computer
//! share.
//!
//! | what | where |
//! |---|---|
//! | an entry, and the entries that requests to disks and directories become | `entry` |
//! | the bytes of a file | `format` |
//! | a process that writes: [`HistoryWriter`]; a simulated one: [`MemoryFolder`] | `writer` |
//! | a folder that is read: [`read_folder`] | `folder` |
//!
//! This crate ends where a single file ends: it knows the lives in a folder and the damage in each. It never
//! compares two lives. Merging all entries into one order, finding out which process was killed and whether the files
//! belong to one world is for `simtest::histories`. It reads no clock: the writer is given one.

mod entry;
mod folder;
mod format;
mod writer;

pub use entry::{
    Entry, EntryKind, RecordName, directory_holds, directory_swapped, disk_keeps, disk_recalled,
};
pub use folder::{EXTENSION, FolderError, NamedBytes, NamedLife, file_name, read_files, read_folder};
pub use format::{DamageKind, ENTRY_MAX, Header, HistoryDamage, ProcessLife, VERSION, WorldHeader, encode};
pub use writer::{HistoryClock, HistoryWriter, MemoryFile, MemoryFolder};

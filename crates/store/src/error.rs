//! Errors of the store, in words for the operator who has to act on them.

use crate::MediaError;
use crate::config::{APPEND_MAX, INDEX_MAX, RECORD_MAX, SNAPSHOT_MAX};
use crate::format::VERSION;
use thiserror::Error;

/// The reason why the store refused, or failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The disk did not carry out an operation.
    #[error(transparent)]
    Media(#[from] MediaError),

    /// A file with a name of ours does not start like one of ours.
    #[error("{file} was not written by Ecumene: move it out of the folder, or choose another folder")]
    Foreign {
        /// The name of the file.
        file: String,
    },

    /// A file was written by another version of this store.
    #[error(
        "{file} has format {found}, this program knows format {VERSION}: open it with the version of Ecumene that wrote it"
    )]
    Version {
        /// The name of the file.
        file: String,
        /// The format version of the file.
        found: u32,
    },

    /// The saved state has another shape than the program's.
    #[error(
        "the saved world has schema {found:016x}, the game has {expected:016x}: its State has changed shape. \
         Provide `migrate` to bring the saved world along, or start with `--fresh` to begin a new one"
    )]
    Schema {
        /// The schema of the saved state.
        found: u64,
        /// The schema of the program.
        expected: u64,
    },

    /// A request to a log of a group that is not open.
    #[error("this log is closed: open it first")]
    Closed,

    /// An append that does not follow the last record.
    #[error("record {found} does not follow: the log goes on with {expected}")]
    NotNext {
        /// The number that the next record must have.
        expected: u64,
        /// The number that the caller gave.
        found: u64,
    },

    /// A record is too long to keep.
    #[error("a record of {0} bytes is too long: the limit is {RECORD_MAX}")]
    RecordTooLong(usize),

    /// The records of one append are too long together.
    #[error("an append of {0} bytes is too long: the limit is {APPEND_MAX}, so append in parts")]
    AppendTooLong(usize),

    /// A snapshot is too long to keep.
    #[error("a snapshot of {0} bytes is too long: the limit is {SNAPSHOT_MAX}")]
    SnapshotTooLong(usize),

    /// A number beyond the last that a record may have.
    #[error("record number {0} is too high: the limit is {INDEX_MAX}")]
    IndexTooHigh(u64),

    /// A cut would reach into the snapshot, which cannot be undone in part.
    #[error(
        "cannot cut from record {from} on: the snapshot already stands for every record up to {snapshot}"
    )]
    CutInSnapshot {
        /// The number of the first record to delete.
        from: u64,
        /// The last record that the snapshot covers.
        snapshot: u64,
    },

    /// A snapshot is older than the stored one: the records between them are gone.
    #[error("cannot keep a snapshot at record {index}: a newer one at {snapshot} is kept already")]
    OldSnapshot {
        /// The last record that the refused snapshot covers.
        index: u64,
        /// The last record that the stored snapshot covers.
        snapshot: u64,
    },

    /// Bytes that were undamaged when the log was opened no longer are.
    #[error(
        "{file} has been damaged since it was opened: check the disk, then start again to see what is left"
    )]
    Damaged {
        /// The name of the damaged file.
        file: String,
    },

    /// An earlier change failed, so the contents of the disk are unknown.
    #[error(
        "an earlier write failed, so nothing more is written: open the store again to see what the disk holds"
    )]
    Poisoned,
}

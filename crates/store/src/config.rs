//! Every limit of the store, with its reason.

/// The longest record, in bytes. An event of a crowd writes many whole states into one record; four
/// mebibytes are a thousand of them. A length field that says more is damage, not a record.
pub const RECORD_MAX: usize = 4 << 20;

/// The most bytes of one append. It is written by one call and lies in one segment.
pub const APPEND_MAX: usize = 32 << 20;

/// The longest snapshot, in bytes. It is held in memory as a whole, by the machine and by recovery.
pub const SNAPSHOT_MAX: usize = 1 << 30;

/// The most bytes that one append may bring into a group's journal. A longer one goes to its log directly: it
/// would be written twice, and one sync more is nothing beside it.
pub const JOURNAL_BYTES_MAX: usize = 1 << 20;

/// Bytes in a group's journal after which the logs are written and the journal is emptied, unless the caller sets another
/// number. They are in memory, too, and are read when the journal is opened.
pub const CHECKPOINT_BYTES: usize = 4 << 20;

/// The highest number of a record. Far enough from the end of `u64` that adding a batch never wraps.
pub const INDEX_MAX: u64 = u64::MAX >> 1;

/// The length in bytes after which a segment is followed by a new one, unless the caller sets another. Small enough
/// to be read and rewritten in a blink when the log is opened; large enough that creating files is rare.
pub const SEGMENT_BYTES: u64 = 16 << 20;

/// The effort of the search for undamaged records behind damage, as a multiple of the bytes searched. Without a limit,
/// bytes made to look like the start of long records everywhere would take hours to refuse.
pub(crate) const SEARCH_FACTOR: usize = 8;

/// The most bytes of a torn write that a crash garbles on a [`MemoryDisk`](crate::MemoryDisk). Disks write sectors
/// whole, so this is unkind already; it stays under half a segment header, so that a garbled file
/// can still be told from a file of another program.
pub const GARBLED_MAX: usize = 16;

const _: () = assert!(RECORD_MAX < APPEND_MAX);
const _: () = assert!(APPEND_MAX < u32::MAX as usize); // A record's length is a `u32`.

/// The limits that a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// The length in bytes after which a segment is followed by a new one. It may be longer by one append.
    pub segment_bytes: u64,
    /// Bytes in a group's journal after which a checkpoint is due. A log outside a group ignores it.
    pub checkpoint_bytes: usize,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { segment_bytes: SEGMENT_BYTES, checkpoint_bytes: CHECKPOINT_BYTES }
    }
}

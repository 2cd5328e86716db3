//! The disk, as a machine sees it: a request goes down as an event, the answer comes back as a command.
//!
//! A machine wraps [`DiskRequest`] in its own `Event` and [`DiskReply`] in its own `Command`. It has one log of
//! numbered records and at most one snapshot, which replaces every record up to its number. Nothing is
//! durable until the answer says so, and an answer may never come: the host may die first.

use crate::Ticket;

/// A machine's request to its disk. The disk carries out requests of one machine in the order they were made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiskRequest {
    /// Append these records and sync.
    Append {
        /// Comes back in the [`DiskReply`].
        ticket: Ticket,
        /// The number of the first record: one more than the last one in the log.
        first: u64,
        /// The encoded records, in order of number.
        records: Vec<Vec<u8>>,
    },
    /// Delete the records from this number on, and sync. They were never announced, or another replica
    /// decided otherwise.
    Cut {
        /// Comes back in the [`DiskReply`].
        ticket: Ticket,
        /// The number of the first record to delete.
        from: u64,
    },
    /// Store this snapshot in place of the older one, sync, then delete the records up to its number.
    Keep {
        /// Comes back in the [`DiskReply`].
        ticket: Ticket,
        /// The last record that the snapshot covers. If the log does not reach this far, it is emptied
        /// and goes on after this number.
        index: u64,
        /// The encoded state of the machine.
        snapshot: Vec<u8>,
    },
    /// Forget everything, and hold exactly this snapshot, then sync. It may be older than the stored one: another
    /// replica decided what the log is. After a crash the disk holds what it held before, or the snapshot.
    Replace {
        /// Comes back in the [`DiskReply`].
        ticket: Ticket,
        /// The last record that the snapshot covers. The log goes on after this number.
        index: u64,
        /// The encoded state of the machine.
        snapshot: Vec<u8>,
    },
    /// Read the newest undamaged snapshot, and the records after it up to the first damaged one.
    Recall {
        /// Comes back in the [`DiskReply`].
        ticket: Ticket,
    },
}

impl DiskRequest {
    /// The ticket that comes back in the reply.
    pub const fn ticket(&self) -> Ticket {
        match self {
            Self::Append { ticket, .. }
            | Self::Cut { ticket, .. }
            | Self::Keep { ticket, .. }
            | Self::Replace { ticket, .. }
            | Self::Recall { ticket } => *ticket,
        }
    }
}

/// The contents of a disk: snapshot and records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DiskContents {
    /// The newest undamaged snapshot, with the number of the last record that it covers.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The number of the first record here: one after the snapshot's, or 1.
    pub first: u64,
    /// The records after the snapshot, up to the first torn one.
    pub records: Vec<Vec<u8>>,
}

/// The disk's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DiskReply {
    /// Every request up to and including this ticket survives a crash.
    Persisted {
        /// The ticket of the newest durable request.
        ticket: Ticket,
    },
    /// The contents of the disk, as asked for.
    Recalled {
        /// The ticket of the request.
        ticket: Ticket,
        /// The snapshot and records that were found.
        recalled: DiskContents,
    },
    /// The disk failed (full, worn, torn away). The request may or may not have become durable; the
    /// machine must stop promising durability.
    Failed {
        /// The ticket of the request.
        ticket: Ticket,
    },
}

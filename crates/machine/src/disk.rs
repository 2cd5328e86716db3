//! The disk, as a machine sees it: a request goes down as an event, the answer comes back as a command.
//!
//! A machine wraps [`Request`] in its own `Event` and [`Done`] in its own `Command`. It has one log of
//! numbered records and at most one snapshot, which stands for every record up to its number. Nothing is
//! durable until the answer says so, and an answer may never come: the host may die first.

use crate::Ticket;

/// Something for the disk. Requests of one machine are carried out in the order they were made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Append these records and sync.
    Append {
        /// Comes back in [`Done`].
        ticket: Ticket,
        /// The number of the first record: one more than the last one in the log.
        first: u64,
        /// The records, in order.
        records: Vec<Vec<u8>>,
    },
    /// Forget the records from this number on, and sync. They were never announced, or another replica
    /// decided otherwise.
    Cut {
        /// Comes back in [`Done`].
        ticket: Ticket,
        /// The first record to forget.
        from: u64,
    },
    /// Keep this snapshot in place of the older one, sync, then forget the records up to its number.
    Keep {
        /// Comes back in [`Done`].
        ticket: Ticket,
        /// The last record that the snapshot stands for. If the log does not reach this far, it is emptied
        /// and goes on after this number.
        index: u64,
        /// The snapshot.
        snapshot: Vec<u8>,
    },
    /// Give back the newest whole snapshot, and the records after it as far as they are whole.
    Recall {
        /// Comes back in [`Done`].
        ticket: Ticket,
    },
}

/// What a disk holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Recalled {
    /// The newest whole snapshot, with the number of the last record that it stands for.
    pub snapshot: Option<(u64, Vec<u8>)>,
    /// The number of the first of the records: one after the snapshot's, or 1.
    pub first: u64,
    /// The records after the snapshot, up to the first torn one.
    pub records: Vec<Vec<u8>>,
}

/// The disk's answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Done {
    /// Everything up to and including this ticket survives a crash.
    Persisted {
        /// The newest request covered.
        ticket: Ticket,
    },
    /// What the disk holds.
    Recalled {
        /// Which request this answers.
        ticket: Ticket,
        /// What it holds.
        recalled: Recalled,
    },
    /// The disk failed (full, worn, torn away). What was asked may or may not have become durable; the
    /// machine must stop promising durability.
    Failed {
        /// Which request this answers.
        ticket: Ticket,
    },
}

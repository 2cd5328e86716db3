//! The disk, as a machine sees it: a request goes down as an event, the answer comes back as a command.
//!
//! A machine wraps [`Request`] in its own `Event` and [`Done`] in its own `Command`. Nothing is durable
//! until the answer says so, and an answer may never come: the host may die first.

use crate::Ticket;

/// Something for the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Append these bytes to the machine's log and sync.
    Persist {
        /// Comes back in [`Done`].
        ticket: Ticket,
        /// What to append, in order of the tickets.
        bytes: Vec<u8>,
    },
    /// Give back the log from the start, as far as it is whole.
    Recall {
        /// Comes back in [`Done`].
        ticket: Ticket,
    },
}

/// The disk's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// Everything up to and including this ticket survives a crash.
    Persisted {
        /// The newest request covered.
        ticket: Ticket,
    },
    /// The log's records, up to the first torn one.
    Recalled {
        /// Which request this answers.
        ticket: Ticket,
        /// One entry per persisted request.
        records: Vec<Vec<u8>>,
    },
    /// The disk failed (full, worn, torn away). What was asked may or may not have become durable; the
    /// machine must stop promising durability.
    Failed {
        /// Which request this answers.
        ticket: Ticket,
    },
}

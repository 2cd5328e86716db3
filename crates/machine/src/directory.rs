//! The directory, as a machine sees it: revisioned keys, read and swapped by request and answer.
//!
//! Safety between replicas rests on [`Request::Swap`]. Its answer may be [`Done::Unknown`] (the request
//! or its answer was lost): then the machine reads before it acts, because the swap may have happened.

use crate::{Ticket, Time};
use serde::{Deserialize, Serialize};

/// A directory key, such as `zone/7`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(pub String);

/// The revision at which a key was last written; 0 while it does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// A key as the directory has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// When it was last written.
    pub revision: Revision,
    /// What it holds; empty at revision 0.
    pub value: Vec<u8>,
}

/// One guarded write of a swap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Write {
    /// The key.
    pub key: Key,
    /// The revision it must have.
    pub expected: Revision,
    /// What it shall hold; `None` removes it.
    pub value: Option<Vec<u8>>,
}

/// Something for the directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Request {
    /// Read these keys at one revision.
    Read {
        /// Comes back in [`Done`].
        ticket: Ticket,
        /// What to read.
        keys: Vec<Key>,
    },
    /// Write all or nothing: all, if every key has its expected revision.
    Swap {
        /// Comes back in [`Done`].
        ticket: Ticket,
        /// The guarded writes.
        writes: Vec<Write>,
    },
    /// What time is it? The directory's clock is the world's.
    Clock {
        /// Comes back in [`Done`].
        ticket: Ticket,
    },
}

/// The directory's answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Done {
    /// The keys as they are.
    Read {
        /// Which request this answers.
        ticket: Ticket,
        /// One entry per key asked for, in order.
        entries: Vec<Entry>,
    },
    /// The swap happened.
    Won {
        /// Which request this answers.
        ticket: Ticket,
        /// The revision of everything it wrote.
        revision: Revision,
    },
    /// The swap did not happen and never will.
    Lost {
        /// Which request this answers.
        ticket: Ticket,
        /// The keys as they are.
        entries: Vec<Entry>,
    },
    /// The world's time when the directory answered.
    Clock {
        /// Which request this answers.
        ticket: Ticket,
        /// Never less than in any earlier answer, also after the directory restarted.
        time: Time,
    },
    /// Nobody knows whether it happened, or may still happen. Read before acting.
    Unknown {
        /// Which request this answers.
        ticket: Ticket,
    },
}

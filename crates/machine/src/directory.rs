//! The directory, as a machine sees it: revisioned keys, read and swapped by request and answer.
//!
//! Safety between replicas rests on [`DirectoryRequest::Swap`]. Its answer may be [`DirectoryReply::Unknown`]
//! (the request or its answer was lost): then the machine reads before it acts, because the swap may have happened.

use crate::{Ticket, Time};
use serde::{Deserialize, Serialize};

/// A directory key, such as `zone/7`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key(pub String);

/// The revision at which a key was last written; 0 while it does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revision(pub u64);

/// A key with its revision and value in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DirectoryEntry {
    /// The key that was read.
    pub key: Key,
    /// The revision of its last write.
    pub revision: Revision,
    /// The stored bytes; empty at revision 0.
    pub value: Vec<u8>,
}

/// One guarded write of a swap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DirectoryWrite {
    /// The key to write or remove.
    pub key: Key,
    /// The revision that the key must have for the swap to happen.
    pub expected: Revision,
    /// The bytes to store; `None` removes the key.
    pub value: Option<Vec<u8>>,
}

/// A machine's request to the directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DirectoryRequest {
    /// Read these keys at one revision.
    Read {
        /// Comes back in the [`DirectoryReply`].
        ticket: Ticket,
        /// The keys to read, answered in this order.
        keys: Vec<Key>,
    },
    /// Write all or nothing: all, if every key has its expected revision.
    Swap {
        /// Comes back in the [`DirectoryReply`].
        ticket: Ticket,
        /// The guarded writes, each key at most once.
        writes: Vec<DirectoryWrite>,
    },
    /// Ask for the time. The directory's clock is the world's.
    Clock {
        /// Comes back in the [`DirectoryReply`].
        ticket: Ticket,
    },
}

/// The directory's answer to one request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DirectoryReply {
    /// The keys at one revision of the directory.
    Read {
        /// The ticket of the request.
        ticket: Ticket,
        /// One entry per requested key, in order.
        entries: Vec<DirectoryEntry>,
    },
    /// The swap happened, all of it.
    Won {
        /// The ticket of the request.
        ticket: Ticket,
        /// The revision of all keys that the swap wrote.
        revision: Revision,
    },
    /// The swap did not happen and never will.
    Lost {
        /// The ticket of the request.
        ticket: Ticket,
        /// The entries that the swap wanted to write, as they are instead.
        entries: Vec<DirectoryEntry>,
    },
    /// The world's time when the directory answered.
    Clock {
        /// The ticket of the request.
        ticket: Ticket,
        /// Never less than in any earlier answer, also after the directory restarted.
        time: Time,
    },
    /// The swap may have happened, or may still happen: its outcome is lost. The machine reads before it acts.
    Unknown {
        /// The ticket of the request.
        ticket: Ticket,
    },
}

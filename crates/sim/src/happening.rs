//! What waits in the event queue: small, of one size, and knowing no message type.

use crate::buffers::BufferId;

/// One direction of a pair of addresses that were linked at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WayId(pub(crate) u32);

impl WayId {
    /// The way back. The two ways of a pair are made together and have neighbouring numbers.
    pub(crate) const fn back(self) -> Self {
        Self(self.0 ^ 1)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A way during one of its links. Names a link of the past once the way is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) way: WayId,
    pub(crate) link: u32,
}

/// Something that will happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// A command scheduled from outside, kept under a number.
    Command { host: u32, number: u32 },
    /// The host's deadline as it was when this was pushed; stale if it moved since.
    Deadline { host: u32 },
    /// A wake that the experiment asked for, due or not.
    Wake { host: u32 },
    /// The sending end of the way hears that the link is there.
    LinkUp(Passage),
    /// The sending end of the way hears that the link is gone.
    LinkDown(Passage),
    /// A message reaches the far end.
    Arrival(Passage, BufferId),
    /// The last byte of a message left a link with a rate.
    Departure(Passage),
    /// A link lost one `Sure` message too often and dies.
    GivingUp(Passage),
}

// Two entries of the queue (with their time and list link) fill a cache line.
const _: () = assert!(size_of::<Happening>() <= 16);

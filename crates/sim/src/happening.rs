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

/// Counts the machines that lived at one address. What was meant for one must not reach the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Incarnation(pub(crate) u32);

/// Something that will happen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Happening {
    /// A machine hears something, if it can.
    Notice(Notice),
    /// The host's deadline as it was when this was pushed; stale if it moved since.
    Alarm { host: u32 },
    /// A host takes the next notice out of its inbox.
    Service { host: u32 },
    /// A frozen host goes on.
    Thaw { host: u32 },
    /// The last byte of a message left a link with a rate.
    Departure(Passage),
    /// What an outage held back comes through.
    Release(Passage),
    /// A link lost one `Sure` message too often, or one of its ends crashed long ago: it dies.
    GivingUp(Passage),
    /// An outage lasted too long, unless it was healed meanwhile.
    Expiry(Passage),
}

/// Something for a machine. It becomes an input, unless the host has crashed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice {
    /// A command scheduled from outside, kept under a number.
    Command { host: u32, number: u32, meant_for: Incarnation },
    /// A wake that the experiment asked for, due or not.
    Wake { host: u32, meant_for: Incarnation },
    /// The deadline came while the host was frozen or busy.
    Deadline { host: u32 },
    /// The sending end of the way hears that the link is there.
    LinkUp(Passage),
    /// The sending end of the way hears that the link is gone.
    LinkDown(Passage),
    /// A message reaches the far end. It left in this era of the way.
    Arrival { passage: Passage, buffer: BufferId, era: u16 },
}

// Two entries of the queue (with their time and list link) fill a cache line.
const _: () = assert!(size_of::<Happening>() <= 16);

//! The entries of the event queue: small, of one size, and knowing no message type.

use crate::buffers::BufferId;

/// One direction of a pair of addresses that were linked at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectionId(pub(crate) u32);

impl DirectionId {
    /// The opposite direction. The two directions of a pair are made together and have neighbouring numbers.
    pub(crate) const fn back(self) -> Self {
        Self(self.0 ^ 1)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One link of a direction. Once that link is cut, entries with this value are stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkRef {
    pub(crate) direction: DirectionId,
    pub(crate) link: u32,
}

/// The number of a machine among those that one address had, from 0. A command for one must not reach the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineNumber(pub(crate) u32);

/// An entry of the event queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum QueueEntry {
    /// A machine gets an input, if it can.
    Input(PendingInput),
    /// The host's deadline as it was when this was pushed; stale if it moved since.
    Alarm { host: u32 },
    /// A host takes the next input out of its inbox.
    Service { host: u32 },
    /// A frozen host goes on.
    Thaw { host: u32 },
    /// The last byte of a message left a link with a rate.
    Departure(LinkRef),
    /// A message that an outage held comes through.
    Release(LinkRef),
    /// A link lost one `Sure` message too often, or one of its ends crashed long ago: it dies.
    GivingUp(LinkRef),
    /// An outage lasted too long, unless it was healed meanwhile.
    Expiry(LinkRef),
}

/// An input on its way to a machine. It is dropped if the host has crashed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PendingInput {
    /// A command scheduled from outside, kept under a number.
    Command { host: u32, number: u32, meant_for: MachineNumber },
    /// A wake that the experiment asked for, due or not.
    Wake { host: u32, meant_for: MachineNumber },
    /// The deadline came while the host was frozen or busy.
    Deadline { host: u32 },
    /// The machine at the sending end hears that the link is up.
    LinkUp(LinkRef),
    /// The machine at the sending end hears that the link is gone.
    LinkDown(LinkRef),
    /// A message reaches the far end. It left in this era of the direction.
    Arrival { link_ref: LinkRef, buffer: BufferId, era: u16 },
}

// Two entries of the queue (with their time and list link) fill a cache line.
const _: () = assert!(size_of::<QueueEntry>() <= 16);

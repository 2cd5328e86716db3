//! The contract of a machine: its inputs, its addresses and its laws.

use crate::{Outbox, Time};
use serde::{Deserialize, Serialize};

/// The address of a machine: a zone, a client, a lobby; not of a process or a socket.
///
/// Several machines share a host, so a link joins two addresses and never two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address(pub u64);

/// The number of a link between two addresses; rises with every new link. A message or a `LinkDown` with a
/// lower number than the newest `LinkUp` belongs to a link that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkNumber(pub u64);

/// Names a request that a driver answers later (a write, a swap), so that the machine can match answers to requests.
/// A machine numbers its tickets itself, rising.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket(pub u64);

/// The subject of a `Latest` message. Per link, a newer message with the same key replaces an older one
/// that has not left yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LatestKey(pub u64);

/// The delivery guarantee that a message needs.
///
/// Positions cannot use `Sure`: a lost packet would be sent again with a place where the player no
/// longer is, and hold the newer one behind it. Decisions cannot use `Latest`: skipping "the sword
/// changed hands" breaks the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Ordered per link, never lost while the link lives.
    Sure,
    /// A datagram: may be lost, doubled or overtaken; replaced by a newer one while still unsent.
    Latest(LatestKey),
}

/// One thing that happened to a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<M, C> {
    /// A command of the program that runs the machine, or an answer of a disk or directory (see [`crate::disk`], [`crate::directory`]).
    Command(C),
    /// `peer` can be reached. Numbers rise with every new link between the two.
    ///
    /// A send goes over the link of the newest `LinkUp` that the machine has taken, or nowhere. Links come and go
    /// before machines learn of it, and a message for one link must not arrive on the next, where the peer has
    /// started anew.
    LinkUp {
        /// The machine at the other end.
        peer: Address,
        /// The number of the new link.
        link: LinkNumber,
    },
    /// `peer` can no longer be reached over `link`. Unacknowledged `Sure` messages may or may not have
    /// arrived: a machine sends again from its own state after the next `LinkUp`.
    LinkDown {
        /// The machine at the other end.
        peer: Address,
        /// The number of the link that ended.
        link: LinkNumber,
    },
    /// A message of a peer arrived.
    Recv {
        /// The machine that sent it.
        from: Address,
        /// The link over which it came.
        link: LinkNumber,
        /// The decoded message. Not trusted: peers may be wrong or hostile.
        msg: M,
    },
    /// The deadline may have come. May also come early, or twice.
    Wake,
}

/// A protocol: a value that turns inputs into effects.
///
/// Laws, which the drivers rely on:
/// - `handle` depends on nothing but `self`, `now` and `input`;
/// - `now` never goes back;
/// - a `Wake` before [`Machine::deadline`] changes nothing.
pub trait Machine {
    /// The messages that go over links.
    type Msg;
    /// Commands of the program that runs the machine, completions of disk and directory among them.
    type Command;
    /// The machine's reports to the program that runs it, requests to disk and directory among them.
    type Event;

    /// Takes one input and pushes everything that follows from it into `out`.
    fn handle(
        &mut self,
        now: Time,
        input: Input<Self::Msg, Self::Command>,
        out: &mut Outbox<Self::Msg, Self::Event>,
    );

    /// The latest time at which to wake the machine; `None` if only an input can change anything.
    fn deadline(&self) -> Option<Time>;
}

//! What goes into a machine and what a machine is.

use crate::{Outbox, Time};
use serde::{Deserialize, Serialize};

/// Where a machine can be reached: a zone, a client, a lobby; not a process or a socket.
///
/// Several machines share a host, so a link joins two addresses and never two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address(pub u64);

/// Counts the links between two addresses, rising. A message or a `LinkDown` that names an older link
/// than the newest `LinkUp` speaks of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkNumber(pub u64);

/// Names a request that a driver answers later (a write, a swap), so that answers find their question.
/// A machine gives out its tickets itself, rising.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket(pub u64);

/// What a `Latest` message is about. Per link, a newer message with the same key replaces an older one
/// that has not left yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LatestKey(pub u64);

/// How a message must travel.
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
    /// The owner wants something, or a disk or directory answers (see [`crate::disk`], [`crate::directory`]).
    Command(C),
    /// `peer` can be reached. Numbers rise with every new link between the two.
    ///
    /// A send goes over the link of the newest `LinkUp` heard, or nowhere. Links come and go before machines
    /// hear of it, and what a machine meant for one must not turn up on the next, where the peer has
    /// started anew.
    LinkUp {
        /// The other end.
        peer: Address,
        /// Which link this is.
        link: LinkNumber,
    },
    /// `peer` can no longer be reached over `link`. Unacknowledged `Sure` messages may or may not have
    /// arrived: a machine sends again from its own state after the next `LinkUp`.
    LinkDown {
        /// The other end.
        peer: Address,
        /// Which link this was.
        link: LinkNumber,
    },
    /// A message arrived.
    Recv {
        /// Who sent it.
        from: Address,
        /// Over which link.
        link: LinkNumber,
        /// What it says. Decoded, but not believed: peers may be wrong or hostile.
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
    /// What goes over links.
    type Msg;
    /// What the owner says to the machine, completions of disk and directory among it.
    type Command;
    /// What the machine says to its owner, requests to disk and directory among it.
    type Event;

    /// Takes one input and pushes everything that follows from it into `out`.
    fn handle(
        &mut self,
        now: Time,
        input: Input<Self::Msg, Self::Command>,
        out: &mut Outbox<Self::Msg, Self::Event>,
    );

    /// When to wake the machine at the latest; `None` if only an input can change anything.
    fn deadline(&self) -> Option<Time>;
}

//! Commands of the owner to its peer, and events that the peer raises for its owner.

use machine::Address;
use space::Position;

/// A command of the owner to its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerCommand {
    /// Join the overlay at this position.
    Join(Position),
    /// Move to this position. Ignored until the peer is in the overlay.
    Move(Position),
    /// Leave the overlay and tell the neighbours.
    Leave,
}

/// An event that a peer raises for its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerEvent {
    /// The peer is in the overlay from now on.
    Ready,
    /// The first move of a neighbour arrived.
    Heard(Address),
    /// A neighbour was removed from the list.
    Lost(Address),
}

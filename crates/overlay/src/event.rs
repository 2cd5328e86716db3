//! What the owner of a peer tells it, and is told by it.

use machine::Address;
use space::Position;

/// What the owner of a peer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Join, at this place.
    Join(Position),
    /// Be there now. A peer does not move before it is in.
    Move(Position),
    /// Leave, and say so.
    Leave,
}

/// What the owner of a peer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The peer is in.
    Ready,
    /// A neighbour is heard to move for the first time.
    Heard(Address),
    /// A neighbour is forgotten.
    Lost(Address),
}

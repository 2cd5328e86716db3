//! What is said about a peer.

use machine::Address;
use serde::{Deserialize, Serialize};
use space::{Distance, Position};

/// A peer, as others know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// How it is reached.
    pub address: Address,
    /// Counts its lives: what is said of an earlier one is of nobody.
    pub life: u32,
    /// Counts its moves: a later one is believed.
    pub sequence: u32,
    /// Where it is.
    pub position: Position,
    /// How far it sees.
    pub aoi: Distance,
    /// Whom it belongs to; 0 is nobody.
    pub group: u32,
}

impl Info {
    /// Whether this is later than what another says of the same peer.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        (other.life, other.sequence) < (self.life, self.sequence)
    }

    /// A short name, for comparing lists. Two peers may share one; then a list is repaired a little later.
    pub const fn short(&self) -> u32 {
        short(self.address)
    }
}

/// A short name of an address.
pub const fn short(address: Address) -> u32 {
    (address.0 ^ address.0 >> 32) as u32
}

//! The information about a peer that messages carry.

use machine::Address;
use serde::{Deserialize, Serialize};
use space::{Distance, Position};

/// A peer, as others know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// Network address of the peer.
    pub address: Address,
    /// Number of times the peer has started; information about an earlier life is out of date.
    pub life: u32,
    /// Number of moves in this life; the higher one is newer.
    pub sequence: u32,
    /// Position of the peer after that move.
    pub position: Position,
    /// View of the peer (area of interest), a radius.
    pub aoi: Distance,
    /// Number of the group to which the peer belongs; 0 for none.
    pub group: u32,
}

impl Info {
    /// Returns whether this is newer than other information about the same peer.
    pub fn is_newer_than(&self, other: &Self) -> bool {
        (other.life, other.sequence) < (self.life, self.sequence)
    }

    /// Short name of the peer, for comparing lists. Two peers may share one; then a list is repaired a little later.
    pub const fn short(&self) -> u32 {
        short(self.address)
    }
}

/// Short name of the peer with this address.
pub const fn short(address: Address) -> u32 {
    (address.0 ^ address.0 >> 32) as u32
}

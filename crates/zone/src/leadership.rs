//! A zone's entry in the directory: which replica leads the zone. Changed by compare-and-swap only, each change a new
//! epoch.

use machine::Address;
use machine::directory::Key;
use serde::{Deserialize, Serialize};
use space::{Epoch, ZoneId};

/// The directory's entry for a zone: epoch, primary and backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Leadership {
    /// Term of leadership, 1 for the first. Rises by one with every change of primary or backup.
    pub epoch: Epoch,
    /// The replica that decides in this epoch.
    pub primary: Address,
    /// The replica that must acknowledge each record. `None` while the primary is alone.
    pub backup: Option<Address>,
}

impl Leadership {
    /// The first leadership of a new world: epoch 1, without a backup.
    pub const fn first(primary: Address) -> Self {
        Self { epoch: Epoch(1), primary, backup: None }
    }

    /// The leadership that a swap puts in place of this one.
    pub const fn next(self, primary: Address, backup: Option<Address>) -> Self {
        Self { epoch: Epoch(self.epoch.0 + 1), primary, backup }
    }

    /// Encodes the leadership for the directory.
    pub fn to_bytes(self) -> Vec<u8> {
        postcard::to_stdvec(&self).expect("plain data encodes")
    }

    /// Decodes the leadership from the directory. `None` if the entry is empty or something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

/// The directory's key for the leadership of a zone.
pub fn leadership_key(zone: ZoneId) -> Key {
    Key(format!("zone/{}", zone.0))
}

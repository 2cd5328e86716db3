//! A zone's entry in the directory: who reigns. Changed by compare-and-swap only, each change a new epoch.

use machine::Address;
use machine::directory::Key;
use serde::{Deserialize, Serialize};
use space::{Epoch, ZoneId};

/// Who reigns over a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reign {
    /// Rises with every change.
    pub epoch: Epoch,
    /// Who decides.
    pub primary: Address,
    /// Who must acknowledge first. Nobody: the primary is alone.
    pub backup: Option<Address>,
}

impl Reign {
    /// The first reign of a new world.
    pub const fn first(primary: Address) -> Self {
        Self { epoch: Epoch(1), primary, backup: None }
    }

    /// The next reign.
    pub const fn next(self, primary: Address, backup: Option<Address>) -> Self {
        Self { epoch: Epoch(self.epoch.0 + 1), primary, backup }
    }

    /// The entry's bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        postcard::to_stdvec(&self).expect("plain data encodes")
    }

    /// The entry that bytes stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

/// The directory's key for a zone.
pub fn key(zone: ZoneId) -> Key {
    Key(format!("zone/{}", zone.0))
}

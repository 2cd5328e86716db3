//! Names of the things that live in space.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A zone: the authority over one region. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct ZoneId(pub u32);

/// Counts a zone's reigns; whatever carries an older epoch than the current one is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct Epoch(pub u32);

/// An object's name for life: where and when it was born, and its number there. A zone can give out
/// names without asking anyone, and no two zones can give out the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct ObjectId {
    /// The zone it was born in.
    pub zone: ZoneId,
    /// That zone's epoch then.
    pub epoch: Epoch,
    /// Its number in that zone and epoch.
    pub counter: u32,
}

impl fmt::Display for ZoneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "zone {}", self.0)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.zone.0, self.epoch.0, self.counter)
    }
}

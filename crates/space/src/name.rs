//! Names of zones and objects.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A zone: the authority over one region. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct ZoneId(pub u32);

/// A term of leadership of a zone, counted from its first; messages of an older epoch than the current one are
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct Epoch(pub u32);

/// An object's name for life: the zone and epoch of its birth, and its number there. A zone can give out
/// names without asking another zone, and no two zones can give out the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct ObjectId {
    /// The zone it was born in.
    pub zone: ZoneId,
    /// The epoch of that zone at the object's birth.
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

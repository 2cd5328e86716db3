//! Updates that a replica gives the carrier of poses beside it.
//!
//! A carrier knows nothing of the zone but these updates: which objects move, and which addresses subscribe to their
//! poses.

use crate::load_level::LoadLevel;
use machine::Address;
use space::{Motion, ObjectId};

/// An update for the carrier of poses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarrierUpdate {
    /// The object exists and moves like this from now on.
    Carry(ObjectId, Motion),
    /// The object is gone: nothing is sent about it any more.
    Remove(ObjectId),
    /// The player with this avatar hears poses at this address from now on.
    Subscribe(Address, ObjectId),
    /// Nothing is sent to this address any more.
    Unsubscribe(Address),
    /// The replica is not the primary (any more): objects and subscribers are forgotten.
    Clear,
    /// Whether to stay silent. A primary that lost contact is silent, because another replica may have taken over.
    SetPaused(bool),
    /// How loaded the primary is: the busier, the rarer the poses.
    SetLoad(LoadLevel),
}

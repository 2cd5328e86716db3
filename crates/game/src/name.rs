//! Names of players, addressees and hearers, which games and zones share.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Epoch, ObjectId, ZoneId};
use std::fmt;

/// The number of a player, the same for all avatars and sessions of that player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct PlayerId(pub u64);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.0)
    }
}

/// The object that stands for the world as a whole: a team's score, a clock, the weather. The zone at the world's
/// origin owns it. No zone has the number 0, so no other object has this name.
pub const WORLD: ObjectId = ObjectId { zone: ZoneId(0), epoch: Epoch(0), counter: 0 };

/// The addressee of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Schema)]
pub enum Addressee {
    /// An object, wherever it is. If it no longer exists, the letter is dropped.
    Object(ObjectId),
    /// The zone whose region contains this place.
    Place(space::Position),
    /// The object that stands for the whole world: see [`WORLD`].
    World,
}

/// The players who hear a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Schema)]
pub enum Hearers {
    /// The player of this avatar.
    Player(ObjectId),
    /// Every player whose avatar is at most this distance from this place.
    Near(space::Position, space::Distance),
}

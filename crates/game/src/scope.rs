//! The scope of an event: the objects that it may read and write, and that are locked for it.

use crate::WORLD;
use machine::Time;
use serde::{Deserialize, Serialize};
use space::{Distance, Motion, ObjectId, Position};
use std::fmt;

/// The objects that an event may read and write. The actor is always among them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// All objects in a circle; new objects are spawned inside, too. [`WORLD`] has no position, so it is in no circle.
    Area {
        /// The circle's centre, at most the game's `RANGE` from the actor.
        centre: Position,
        /// The circle's radius, at most the game's `RANGE`.
        radius: Distance,
    },
    /// Only these objects, at most [`crate::config::SCOPE_MAX`]. No object can be spawned.
    Objects(Vec<ObjectId>),
}

impl Scope {
    /// All objects at most `radius` from `centre`.
    pub const fn area(centre: Position, radius: Distance) -> Self {
        Self::Area { centre, radius }
    }

    /// These objects only: cheaper than an area, because events on other objects nearby need not wait.
    pub fn objects(objects: impl IntoIterator<Item = ObjectId>) -> Self {
        Self::Objects(objects.into_iter().collect())
    }

    /// True if an object with this motion is in scope at `now`.
    pub(crate) fn holds(&self, object: ObjectId, motion: &Motion, now: Time) -> bool {
        match self {
            Self::Area { centre, radius } => {
                object != WORLD && centre.is_within(*radius, motion.position_at(now))
            }
            Self::Objects(objects) => objects.contains(&object),
        }
    }

    /// True if an object may be spawned or placed there.
    pub(crate) fn has_place(&self, place: Position) -> bool {
        match self {
            Self::Area { centre, radius } => centre.is_within(*radius, place),
            Self::Objects(_) => false,
        }
    }

    /// True if a whole circle is in scope, so that a search in it misses nothing.
    pub(crate) fn has_circle(&self, middle: Position, reach: Distance) -> bool {
        match self {
            Self::Area { centre, radius } => {
                let slack = i64::from(radius.millimetres()) - i64::from(reach.millimetres());
                0 <= slack && centre.distance_squared(middle) <= (slack as u64).pow(2)
            }
            Self::Objects(_) => false,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Area { centre, radius } => write!(f, "the area of {} m around {centre}", radius.metres()),
            Self::Objects(objects) => write!(f, "{} named objects", objects.len()),
        }
    }
}

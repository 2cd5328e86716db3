//! How far an event reaches: what it may see and write, and what is locked for it.

use crate::WORLD;
use machine::Time;
use serde::{Deserialize, Serialize};
use space::{Distance, Motion, ObjectId, Position};
use std::fmt;

/// What an event may touch. The actor is always part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Everything in a circle. Spawns lie in it, too. The world as a whole ([`WORLD`]) is nowhere, so it is in
    /// no circle.
    Area {
        /// Its middle, at most the game's `RANGE` from the actor.
        centre: Position,
        /// How far it reaches; at most the game's `RANGE`.
        radius: Distance,
    },
    /// These objects, at most [`crate::config::SCOPE_MAX`], and nothing else. Nothing can be spawned.
    Objects(Vec<ObjectId>),
}

impl Scope {
    /// Everything at most `radius` from `centre`.
    pub const fn area(centre: Position, radius: Distance) -> Self {
        Self::Area { centre, radius }
    }

    /// These objects only: cheaper than an area, because nobody else has to wait.
    pub fn objects(objects: impl IntoIterator<Item = ObjectId>) -> Self {
        Self::Objects(objects.into_iter().collect())
    }

    /// Whether an object that moves like this is inside at `now`.
    pub(crate) fn holds(&self, object: ObjectId, motion: &Motion, now: Time) -> bool {
        match self {
            Self::Area { centre, radius } => {
                object != WORLD && centre.is_within(*radius, motion.position_at(now))
            }
            Self::Objects(objects) => objects.contains(&object),
        }
    }

    /// Whether something can be put there.
    pub(crate) fn has_place(&self, place: Position) -> bool {
        match self {
            Self::Area { centre, radius } => centre.is_within(*radius, place),
            Self::Objects(_) => false,
        }
    }

    /// Whether a circle lies inside, so that a search in it misses nothing.
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

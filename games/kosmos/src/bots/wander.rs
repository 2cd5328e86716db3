//! Walks about, and wants nothing else.

use super::eyes::Eyes;
use super::legs::Legs;
use game::{Bot, Intent, Sight};
use machine::Rng;
use space::Polygon;

/// Walks about.
pub struct Wander {
    legs: Legs,
}

impl Wander {
    /// One that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { legs: Legs::new(world) }
    }
}

impl Bot for Wander {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        if let Some(eyes) = Eyes::open(sight) {
            self.legs.stroll(&eyes, rng, wants);
        }
    }
}

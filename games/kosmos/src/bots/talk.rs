//! Walks about and says what it thinks.

use super::act;
use super::eyes::Eyes;
use super::legs::Legs;
use crate::Action;
use game::{Bot, Intent, Sight};
use machine::Rng;
use space::Polygon;

/// It says something once in this many decisions.
const SAYS: u64 = 15;

/// All it has to say.
const LINES: [&str; 6] = [
    "Hello!",
    "Has anybody seen a map?",
    "That one was close.",
    "I was here first.",
    "Two coins for a gem.",
    "Which way is the border?",
];

/// Talks.
pub struct Talk {
    legs: Legs,
}

impl Talk {
    /// One that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { legs: Legs::new(world) }
    }
}

impl Bot for Talk {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(eyes) = Eyes::open(sight) else { return };
        self.legs.stroll(&eyes, rng, wants);
        if rng.below(SAYS) == 0 {
            let line = LINES[rng.below(LINES.len() as u64) as usize];
            wants.push(act(&Action::Say { text: line.to_owned() }));
        }
    }
}

//! A bot that walks about and talks.

use super::act;
use super::bot_surroundings::BotSurroundings;
use super::bot_walk::BotWalk;
use crate::Action;
use game::{Bot, BotView, Intent};
use machine::Rng;
use space::Polygon;

/// It says something once in this many decisions.
const SAYS: u64 = 15;

/// All lines that it says.
const LINES: [&str; 6] = [
    "Hello!",
    "Has anybody seen a map?",
    "That one was close.",
    "I was here first.",
    "Two coins for a gem.",
    "Which way is the border?",
];

/// A bot that talks while it walks about.
pub struct TalkBot {
    walk_state: BotWalk,
}

impl TalkBot {
    /// A bot that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { walk_state: BotWalk::new(world) }
    }
}

impl Bot for TalkBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(view) = BotSurroundings::open(sight) else { return };
        self.walk_state.stroll(&view, rng, intents);
        if rng.below(SAYS) == 0 {
            let line = LINES[rng.below(LINES.len() as u64) as usize];
            intents.push(act(&Action::Say { text: line.to_owned() }));
        }
    }
}

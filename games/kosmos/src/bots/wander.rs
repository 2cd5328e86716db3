//! A bot that walks about, and does nothing else.

use super::bot_surroundings::BotSurroundings;
use super::bot_walk::BotWalk;
use game::{Bot, BotView, Intent};
use machine::Rng;
use space::Polygon;

/// A bot that only walks about.
pub struct WanderBot {
    walk_state: BotWalk,
}

impl WanderBot {
    /// A bot that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { walk_state: BotWalk::new(world) }
    }
}

impl Bot for WanderBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        if let Some(view) = BotSurroundings::open(sight) {
            self.walk_state.stroll(&view, rng, intents);
        }
    }
}

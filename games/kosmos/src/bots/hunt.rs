//! A bot that goes after the nearest target, and fires.

use super::act;
use super::bot_surroundings::{BotSurroundings, NearbyObject};
use super::bot_walk::BotWalk;
use crate::ground::towards;
use crate::{Action, Shown};
use game::{Bot, BotView, Intent};
use machine::Rng;
use space::{Distance, Heading, Polygon};

/// The distance at which it stops: a blast at its own feet hurts.
const KEEP_OFF: Distance = Distance::of_metres(10);

/// The distance from which it fires.
const FIRES_FROM: Distance = Distance::of_metres(40);

/// The largest error of its aim, in 65536ths of a turn: two and a half degrees.
const AIM_ERROR: i64 = 455;

/// A bot that hunts avatars and NPCs.
pub struct HuntBot {
    walk_state: BotWalk,
}

impl HuntBot {
    /// A bot that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { walk_state: BotWalk::new(world) }
    }
}

impl Bot for HuntBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(view) = BotSurroundings::open(sight) else { return };
        let Some(prey) = view.nearest(is_prey) else { return self.walk_state.stroll(&view, rng, intents) };
        self.walk_state.go_to(&view, prey.place, KEEP_OFF, intents);
        let is_ready = view.avatar.ready_at.time() <= view.now;
        if let Some(aim) = towards(view.here, prey.place)
            && is_ready
            && view.here.is_within(FIRES_FROM, prey.place)
        {
            // A negative error wraps to a turn the other way.
            let error = rng.between(-AIM_ERROR, AIM_ERROR) as u16;
            intents.push(act(&Action::Fire { heading: Heading(aim.0.wrapping_add(error)) }));
        }
    }
}

fn is_prey(other: &NearbyObject) -> bool {
    other.is_living_avatar() || matches!(other.shown, Shown::Npc(_))
}

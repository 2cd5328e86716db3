//! The walking of a bot: in the world, no faster than allowed, and without repeating itself.

use super::bot_surroundings::BotSurroundings;
use crate::config::{AVATAR_SPEED, EDGE_MARGIN};
use crate::ground::{centre, course, stay_in, towards};
use game::Intent;
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Polygon, Position, Velocity};

/// The shortest and the longest stretch of an aimless walk, in milliseconds.
const STRETCH: (i64, i64) = (1_000, 6_000);

/// The walker's memory: its world, and the time of its next turn.
pub(super) struct BotWalk {
    world: Polygon,
    turn_at: Time,
}

impl BotWalk {
    pub(super) const fn new(world: Polygon) -> Self {
        Self { world, turn_at: Time::ZERO }
    }

    /// Goes on, and now and then in another direction.
    pub(super) fn stroll(&mut self, view: &BotSurroundings<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let goes_on = view.now < self.turn_at && view.motion.velocity != Velocity::ZERO;
        let wished = if goes_on { view.motion.heading } else { Heading(rng.next_u64() as u16) };
        if !goes_on {
            self.turn_at = view.now + Span::from_millis(rng.between(STRETCH.0, STRETCH.1) as u64);
        }
        self.walk(view, wished, intents);
    }

    /// Goes to a place, and stops `short` of it.
    pub(super) fn go_to(
        &self,
        view: &BotSurroundings<'_>,
        place: Position,
        short: Distance,
        intents: &mut Vec<Intent>,
    ) {
        match towards(view.here, place) {
            Some(heading) if !view.here.is_within(short, place) => self.walk(view, heading, intents),
            heading => self.stand(view, heading.unwrap_or(view.motion.heading), intents),
        }
    }

    /// Stops, and turns to face `heading`.
    fn stand(&self, view: &BotSurroundings<'_>, heading: Heading, intents: &mut Vec<Intent>) {
        if view.motion.velocity != Velocity::ZERO {
            intents.push(Intent::Steer(Velocity::ZERO, heading));
        }
    }

    fn walk(&self, view: &BotSurroundings<'_>, wished: Heading, intents: &mut Vec<Intent>) {
        // The zone refuses moves of a stunned avatar.
        if view.now < view.avatar.stunned_until.time() {
            return;
        }
        let heading = match self.world.contains(view.here) {
            true => stay_in(&self.world, view.here, wished, EDGE_MARGIN),
            false => towards(view.here, centre(&self.world)).unwrap_or(wished),
        };
        let velocity = course(heading, AVATAR_SPEED);
        // Why checked: the same course again would be a message for nothing.
        if velocity != view.motion.velocity {
            intents.push(Intent::Steer(velocity, heading));
        }
    }
}

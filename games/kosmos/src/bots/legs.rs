//! How a bot walks: in the world, no faster than allowed, and without repeating itself.

use super::eyes::Eyes;
use crate::config::{AVATAR_SPEED, EDGE_MARGIN};
use crate::ground::{centre, course, stay_in, towards};
use game::Intent;
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Polygon, Position, Velocity};

/// The shortest and the longest stretch of an aimless walk, in milliseconds.
const STRETCH: (i64, i64) = (1_000, 6_000);

/// The walker's memory: its world, and until when it goes on as it does.
pub(super) struct Legs {
    world: Polygon,
    turn_at: Time,
}

impl Legs {
    pub(super) const fn new(world: Polygon) -> Self {
        Self { world, turn_at: Time::ZERO }
    }

    /// Goes on, and now and then somewhere else.
    pub(super) fn stroll(&mut self, eyes: &Eyes, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let goes_on = eyes.now < self.turn_at && eyes.motion.velocity != Velocity::ZERO;
        let wished = if goes_on { eyes.motion.heading } else { Heading(rng.next_u64() as u16) };
        if !goes_on {
            self.turn_at = eyes.now + Span::from_millis(rng.between(STRETCH.0, STRETCH.1) as u64);
        }
        self.walk(eyes, wished, wants);
    }

    /// Goes to a place, and stops `short` of it.
    pub(super) fn go_to(&self, eyes: &Eyes, place: Position, short: Distance, wants: &mut Vec<Intent>) {
        match towards(eyes.here, place) {
            Some(heading) if !eyes.here.is_within(short, place) => self.walk(eyes, heading, wants),
            heading => self.stand(eyes, heading.unwrap_or(eyes.motion.heading), wants),
        }
    }

    /// Stands still, facing there.
    fn stand(&self, eyes: &Eyes, heading: Heading, wants: &mut Vec<Intent>) {
        if eyes.motion.velocity != Velocity::ZERO {
            wants.push(Intent::Steer(Velocity::ZERO, heading));
        }
    }

    fn walk(&self, eyes: &Eyes, wished: Heading, wants: &mut Vec<Intent>) {
        if eyes.now < eyes.avatar.stunned_until.time() {
            return;
        }
        let heading = match self.world.contains(eyes.here) {
            true => stay_in(&self.world, eyes.here, wished, EDGE_MARGIN),
            false => towards(eyes.here, centre(&self.world)).unwrap_or(wished),
        };
        let velocity = course(heading, AVATAR_SPEED);
        if velocity != eyes.motion.velocity {
            wants.push(Intent::Steer(velocity, heading));
        }
    }
}

//! Bots: programs that play. A bot gets a view of the world and answers with intents.

use crate::Data;
use crate::codec::{decode, encode};
use crate::config::MESSAGE_MAX;
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Motion, ObjectId, Position, Velocity};
use std::collections::BTreeMap;

/// An object as a player's client knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleObject {
    /// The motion that the client received last.
    pub motion: Motion,
    /// The object's encoded `Game::Shown`.
    pub shown: Vec<u8>,
}

impl VisibleObject {
    /// The object's `Game::Shown`; `None` if it is of another game.
    pub fn shown_as<T: Data>(&self) -> Option<T> {
        decode("what is shown", &self.shown).ok()
    }
}

/// Everything that a bot's client knows at one moment.
#[derive(Clone, Copy, Debug)]
pub struct BotView<'a> {
    /// World time, as the client estimates it.
    pub now: Time,
    /// The player's avatar; it is among the objects.
    pub me: ObjectId,
    /// All objects that the client knows, by name.
    pub objects: &'a BTreeMap<ObjectId, VisibleObject>,
    /// Number of actions sent without a result so far.
    pub unanswered: usize,
}

/// A decision of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Send this action: an encoded `Game::Action`.
    Act(Vec<u8>),
    /// Move the avatar like this from its present position on.
    Steer(Velocity, Heading),
}

impl Intent {
    /// Sends this `Game::Action`; `None` if it is longer than an action may be.
    pub fn action(action: &impl Data) -> Option<Self> {
        encode("an action", action, MESSAGE_MAX).ok().map(Self::Act)
    }

    /// Walks straight from one place towards another, with this speed per second, until the next intent. `None` if the
    /// two are one place.
    pub fn walk(from: Position, to: Position, speed: Distance) -> Option<Self> {
        let (dx, dy) = from.step_to(to);
        let heading = Heading::along(dx, dy)?;
        let ((x, y), speed) = (heading.unit(), speed.millimetres() as f32);
        // Rounded towards zero, so that the walk is never faster than the speed.
        let velocity = Velocity::new((x * speed) as i32, (y * speed) as i32).ok()?;
        Some(Self::Steer(velocity, heading))
    }
}

/// A program that plays. Its driver asks it for decisions a few times per second.
pub trait Bot: Send {
    /// Pushes its decisions for this moment, if any, to `intents`.
    fn decide(&mut self, view: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>);

    /// The average time between two decisions; `usual` is what its driver asks for. A bot may be in a greater hurry.
    fn pace(&self, usual: Span) -> Span {
        usual
    }
}

impl Bot for Box<dyn Bot> {
    fn decide(&mut self, view: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        (**self).decide(view, rng, intents);
    }

    fn pace(&self, usual: Span) -> Span {
        (**self).pace(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_leads_to_its_place_and_is_no_faster_than_its_speed() {
        let (from, speed) = (Position::saturating(1_000, 1_000), Distance::of_metres(2));
        assert_eq!(Intent::walk(from, from, speed), None);
        for (x, y) in [(9_000, 1_000), (1_000, -7_000), (-2_000, 4_000), (1_001, 1_000)] {
            let to = Position::saturating(x, y);
            let Some(Intent::Steer(velocity, _)) = Intent::walk(from, to, speed) else { panic!("it walks") };
            let (vx, vy) = (i64::from(velocity.x()), i64::from(velocity.y()));
            assert!(vx * vx + vy * vy <= 4_000_000, "{velocity:?}");
            let (dx, dy) = from.step_to(to);
            let (dx, dy) = (i64::from(dx), i64::from(dy));
            assert!(
                0 < vx * dx + vy * dy && (vx * dy - vy * dx).abs() * 100 <= (dx * dx + dy * dy) * 200,
                "{to}"
            );
        }
    }

    #[test]
    fn actions_and_objects_are_encoded_as_the_platform_encodes_them() {
        assert_eq!(Intent::action(&300_u32), Some(Intent::Act(vec![0xac, 0x02])));
        assert_eq!(Intent::action(&"x".repeat(MESSAGE_MAX)), None, "longer than an action may be");
        let shown = |bytes: &[u8]| VisibleObject { motion: Motion::default(), shown: bytes.to_vec() };
        assert_eq!(shown(&[0xac, 0x02]).shown_as::<u32>(), Some(300));
        assert_eq!(shown(&[1, 2]).shown_as::<u32>(), None, "a byte follows");
    }
}

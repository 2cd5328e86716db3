//! Bots: programs that play. A bot gets a view of the world and answers with intents.

use machine::{Rng, Span, Time};
use space::{Heading, Motion, ObjectId, Velocity};
use std::collections::BTreeMap;

/// An object as a player's client knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibleObject {
    /// The motion that the client received last.
    pub motion: Motion,
    /// The object's encoded `Game::Shown`.
    pub shown: Vec<u8>,
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

/// A program that plays. Its driver asks it for decisions a few times per second.
pub trait Bot: Send {
    /// Pushes its decisions for this moment, if any, to `intents`.
    fn decide(&mut self, view: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>);

    /// The average time between two decisions; `usual` is what its driver asks for. A bot may be in a greater hurry.
    fn pace(&self, usual: Span) -> Span {
        usual
    }
}

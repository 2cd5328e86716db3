//! Players without people: what a bot sees and what it can want.

use machine::{Rng, Time};
use space::{Heading, Motion, ObjectId, Velocity};
use std::collections::BTreeMap;

/// An object as a player knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighted {
    /// How it moves, as last heard.
    pub motion: Motion,
    /// Its encoded `Shown`.
    pub shown: Vec<u8>,
}

/// Everything a player knows.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// World time, as the player's machine estimates it.
    pub now: Time,
    /// The player's avatar; it is among the objects.
    pub me: ObjectId,
    /// Everything in sight.
    pub objects: &'a BTreeMap<ObjectId, Sighted>,
    /// How many actions have been wanted and not answered.
    pub unanswered: usize,
}

/// What a player wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Do this: an encoded `Action`.
    Act(Vec<u8>),
    /// Go on like this, from where the avatar is now.
    Steer(Velocity, Heading),
}

/// A player without a person. Asked a few times per second.
pub trait Bot: Send {
    /// Pushes what it wants now, if anything.
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>);
}

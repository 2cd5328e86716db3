//! Goes after whoever is nearest, and fires.

use super::act;
use super::eyes::{Eyes, Other};
use super::legs::Legs;
use crate::ground::towards;
use crate::{Action, Shown};
use game::{Bot, Intent, Sight};
use machine::Rng;
use space::{Distance, Heading, Polygon};

/// How near it comes: a blast at its own feet hurts.
const KEEP_OFF: Distance = Distance::of_metres(10);

/// From how far it fires.
const FIRES_FROM: Distance = Distance::of_metres(40);

/// How far its aim may be off, in 65536ths of a turn: two and a half degrees.
const AIM_ERROR: i64 = 455;

/// Goes after avatars and NPCs.
pub struct Hunt {
    legs: Legs,
}

impl Hunt {
    /// One that stays in `world`.
    pub const fn new(world: Polygon) -> Self {
        Self { legs: Legs::new(world) }
    }
}

impl Bot for Hunt {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(eyes) = Eyes::open(sight) else { return };
        let Some(prey) = eyes.nearest(is_prey) else { return self.legs.stroll(&eyes, rng, wants) };
        self.legs.go_to(&eyes, prey.place, KEEP_OFF, wants);
        let is_ready = eyes.avatar.ready_at.time() <= eyes.now;
        if let Some(aim) = towards(eyes.here, prey.place)
            && is_ready
            && eyes.here.is_within(FIRES_FROM, prey.place)
        {
            let error = rng.between(-AIM_ERROR, AIM_ERROR) as u16;
            wants.push(act(&Action::Fire { heading: Heading(aim.0.wrapping_add(error)) }));
        }
    }
}

fn is_prey(other: &Other) -> bool {
    other.is_living_avatar() || matches!(other.shown, Shown::Npc(_))
}

//! The player's avatar: where the player moved it, unless an event or a refusal has set it back.

use machine::Time;
use space::{Heading, Millis, Motion, ObjectId, Velocity};

pub(super) struct Avatar {
    id: Option<ObjectId>,
    motion: Motion,
}

impl Avatar {
    /// No avatar before the player is in.
    pub fn none() -> Self {
        Self { id: None, motion: Motion::default() }
    }

    pub const fn id(&self) -> Option<ObjectId> {
        self.id
    }

    pub fn is(&self, object: ObjectId) -> bool {
        self.id == Some(object)
    }

    pub const fn motion(&self) -> Motion {
        self.motion
    }

    /// A zone lets the player in with this avatar. A new primary may not have heard of the last steps; of an event that
    /// moved the avatar it has.
    pub fn enter(&mut self, avatar: ObjectId, motion: Motion) {
        let walked_on = self.is(avatar)
            && self.motion.generation == motion.generation
            && motion.sequence <= self.motion.sequence;
        if !walked_on {
            self.motion = motion;
        }
        self.id = Some(avatar);
    }

    /// Goes on like this from where the avatar is at `world` time.
    pub fn steer(&mut self, world: Time, velocity: Velocity, heading: Heading) {
        let now = world.max(self.motion.start.time());
        let sequence = self.motion.sequence.saturating_add(1);
        let start = Millis::floor(now);
        self.motion = Motion { velocity, heading, sequence, start, ..self.motion.rebased(now) };
    }

    /// The zone refused a move. The sequence never falls: the zone would take the next move for an older one.
    pub fn set_back(&mut self, motion: Motion) {
        let sequence = self.motion.sequence.max(motion.sequence);
        self.motion = Motion { sequence, ..motion };
    }

    /// Takes the motion over if an event has set it. Gives whether it has.
    pub fn follow(&mut self, object: ObjectId, motion: &Motion) -> bool {
        let is_moved = self.is(object) && self.motion.generation < motion.generation;
        if is_moved {
            self.motion = *motion;
        }
        is_moved
    }
}

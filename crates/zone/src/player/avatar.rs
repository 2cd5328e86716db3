//! The player's own avatar: where the player moved it, unless an event or a correction has set it back.

use machine::Time;
use space::{Heading, Millis, Motion, ObjectId, Velocity};

pub(super) struct OwnAvatar {
    id: Option<ObjectId>,
    motion: Motion,
}

impl OwnAvatar {
    /// No avatar before a zone has let the player in.
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

    /// A zone lets the player in with this avatar. A new primary may not have heard the last moves, so the player keeps
    /// its own motion; but it knows every event that moved the avatar, and such a motion replaces the player's.
    pub fn enter(&mut self, avatar: ObjectId, motion: Motion) {
        let walked_on = self.is(avatar)
            && self.motion.generation == motion.generation
            && motion.sequence <= self.motion.sequence;
        if !walked_on {
            self.motion = motion;
        }
        self.id = Some(avatar);
    }

    /// Moves on with this velocity from where the avatar is at `world` time.
    pub fn steer(&mut self, world: Time, velocity: Velocity, heading: Heading) {
        // A motion never starts before the one it replaces, though the clock may have been set meanwhile.
        let now = world.max(self.motion.start.time());
        let sequence = self.motion.sequence.saturating_add(1);
        let start = Millis::floor(now);
        self.motion = Motion { velocity, heading, sequence, start, ..self.motion.rebased(now) };
    }

    /// Takes over a correction. The sequence never falls: the zone would take the next move for an older one.
    pub fn set_back(&mut self, motion: Motion) {
        let sequence = self.motion.sequence.max(motion.sequence);
        self.motion = Motion { sequence, ..motion };
    }

    /// Takes a motion over if an event has set it. Returns whether it has.
    pub fn follow(&mut self, object: ObjectId, motion: &Motion) -> bool {
        let is_moved = self.is(object) && self.motion.generation < motion.generation;
        if is_moved {
            self.motion = *motion;
        }
        is_moved
    }
}

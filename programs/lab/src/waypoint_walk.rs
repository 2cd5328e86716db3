//! Random waypoint: walk to a random point, pause, walk on. This is how the avatars of the A³ paper (section VII) move.

use machine::{Rng, Span, Time};
use space::{Heading, Millis, Motion, Position, Velocity};

/// The endless walk of one avatar, as a sequence of motions.
#[derive(Clone, Debug)]
pub struct WaypointWalk {
    terrain: Terrain,
    rng: Rng,
    motion: Motion,
    target: Position,
    state: WalkPhase,
}

/// The terrain on which avatars walk, and the limits of their speeds and pauses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terrain {
    /// The side of the square, in millimetres, with a corner at the origin.
    pub side: u32,
    /// Speeds are drawn evenly from this range, per leg, in millimetres per second.
    pub speed: (u32, u32),
    /// Pauses are drawn evenly from zero to this.
    pub pause_max: Span,
}

#[derive(Clone, Copy, Debug)]
enum WalkPhase {
    Walking { until: Time },
    Pausing { until: Time },
}

impl WaypointWalk {
    /// Starts at a random point, in the middle of a random pause.
    pub fn new(terrain: Terrain, mut rng: Rng) -> Self {
        let (position, target) = (terrain.somewhere(&mut rng), terrain.somewhere(&mut rng));
        let heading = towards(position, target).unwrap_or_default();
        let motion = Motion { position, heading, ..Motion::default() };
        let until = Time::ZERO + terrain.pause(&mut rng);
        Self { terrain, rng, motion, target, state: WalkPhase::Pausing { until } }
    }

    /// The motion that is under way.
    pub fn motion(&self) -> Motion {
        self.motion
    }

    /// Time at which the current motion ends.
    pub fn until(&self) -> Time {
        let (WalkPhase::Walking { until } | WalkPhase::Pausing { until }) = self.state;
        until
    }

    /// Begins the next motion, which starts when the current one ends.
    pub fn advance(&mut self) -> Motion {
        let now = self.until();
        match self.state {
            WalkPhase::Walking { .. } => self.arrive(now),
            WalkPhase::Pausing { .. } => self.depart(now),
        }
        self.motion
    }

    /// Reverses the heading from `now` on, without changing the way.
    pub fn turn_round(&mut self, now: Time) -> Motion {
        let rebased = self.motion.rebased(now);
        self.set(now, rebased.position, rebased.velocity, rebased.heading.reversed());
        self.motion
    }

    /// Ends a leg: the avatar stands, and already faces its next target.
    fn arrive(&mut self, now: Time) {
        let position = self.motion.position_at(now);
        self.target = self.terrain.somewhere(&mut self.rng);
        let heading = towards(position, self.target).unwrap_or(self.motion.heading);
        self.set(now, position, Velocity::ZERO, heading);
        self.state = WalkPhase::Pausing { until: now + self.terrain.pause(&mut self.rng) };
    }

    fn depart(&mut self, now: Time) {
        let position = self.motion.position_at(now);
        let (dx, dy) = position.step_to(self.target);
        let distance = (f64::from(dx) * f64::from(dx) + f64::from(dy) * f64::from(dy)).sqrt();
        let (slowest, fastest) = self.terrain.speed;
        let speed = self.rng.between(slowest.into(), fastest.into()) as f64;
        let share =
            |step: i32| if distance == 0.0 { 0 } else { (f64::from(step) * speed / distance).round() as i32 };
        let velocity = Velocity::new(share(dx), share(dy)).expect("no leg is faster than the terrain allows");
        self.set(now, position, velocity, self.motion.heading);
        // At least a millisecond, so that time advances also when the next target is where the avatar stands.
        self.state =
            WalkPhase::Walking { until: now + Span::from_millis((distance / speed * 1e3).max(1.0) as u64) };
    }

    fn set(&mut self, now: Time, position: Position, velocity: Velocity, heading: Heading) {
        let sequence = self.motion.sequence + 1;
        self.motion =
            Motion { position, velocity, heading, start: Millis::floor(now), sequence, generation: 0 };
    }
}

impl Terrain {
    fn somewhere(&self, rng: &mut Rng) -> Position {
        let mut coordinate = || rng.between(0, self.side.into());
        Position::saturating(coordinate(), coordinate())
    }

    fn pause(&self, rng: &mut Rng) -> Span {
        Span::from_millis(rng.between(0, self.pause_max.as_millis() as i64) as u64)
    }
}

fn towards(from: Position, to: Position) -> Option<Heading> {
    let (dx, dy) = from.step_to(to);
    Heading::along(dx, dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERRAIN: Terrain = Terrain { side: 278_000, speed: (3_000, 6_000), pause_max: Span::from_secs(30) };

    #[test]
    fn a_walk_is_continuous_and_stays_inside() {
        for seed in 0..50 {
            let mut walk = WaypointWalk::new(TERRAIN, Rng::seeded(seed));
            for _ in 0..100 {
                let (before, at) = (walk.motion(), walk.until());
                let after = walk.advance();
                assert!(after.is_newer_than(&before) && after.start.time() == at, "seed {seed}");
                assert_eq!(after.position, before.position_at(at), "seed {seed}");
                // Whole-millimetre velocities miss a target by a few centimetres at most.
                let inside = -200..=278_200;
                assert!(
                    inside.contains(&after.position.x()) && inside.contains(&after.position.y()),
                    "seed {seed}"
                );
            }
        }
    }

    #[test]
    fn an_avatar_that_arrives_faces_its_next_target() {
        let mut walk = WaypointWalk::new(TERRAIN, Rng::seeded(7));
        walk.advance();
        let facing = walk.advance().heading;
        let leaving = walk.advance();
        assert_eq!(leaving.heading, facing);
        let along = Heading::along(leaving.velocity.x(), leaving.velocity.y()).unwrap();
        assert!(along.0.wrapping_sub(facing.0).wrapping_add(20) <= 40);
    }
}

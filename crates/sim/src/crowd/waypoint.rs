//! Random waypoint: straight to a random place, then to the next, without a pause (*VAST revisited*, section
//! 3.3). If all places lie in a small square, everybody gathers there.

use super::Ways;
use super::ground::Square;
use super::stride::Stride;
use machine::Rng;
use space::Position;

/// One walker's way.
#[derive(Clone, Debug)]
pub(super) struct Waypoint {
    world: Square,
    /// Where its targets lie.
    targets: Square,
    target: Position,
    rng: Rng,
}

/// `count` walkers who start anywhere in the world, and then go to places in `targets`.
pub(super) fn all(count: u32, world: Square, targets: Square, rng: &Rng) -> (Vec<Position>, Ways) {
    let walker = |number| Waypoint::new(world, targets, rng.fork_named(number));
    let (starts, ways) = (0..count.into()).map(walker).unzip();
    (starts, Ways::Alone(ways))
}

impl Waypoint {
    /// A start and the way from there.
    pub(super) fn new(world: Square, targets: Square, mut rng: Rng) -> (Position, Self) {
        let start = world.somewhere(&mut rng);
        let target = targets.somewhere(&mut rng);
        (start, Self { world, targets, target, rng })
    }

    /// Who is nearer than one step has arrived, and goes on.
    pub(super) fn step(&mut self, from: Position, pace: f64) -> Position {
        if (from.distance_squared(self.target) as f64) < pace * pace {
            self.target = self.targets.somewhere(&mut self.rng);
        }
        Stride::towards(from, self.target, pace).from(from, self.world)
    }
}

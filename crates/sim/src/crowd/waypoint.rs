//! Random waypoint: straight to a random place, then to the next, without a pause (*VAST revisited*, section
//! 3.3). If all places lie in a small square, the walkers gather there.

use super::Movers;
use super::ground::Square;
use super::stride::Stride;
use machine::Rng;
use space::Position;

/// The movement of one walker to its target.
#[derive(Clone, Debug)]
pub(super) struct Waypoint {
    world: Square,
    /// The square from which targets are drawn.
    targets: Square,
    target: Position,
    rng: Rng,
}

/// `count` walkers who start anywhere in the world, and then go to places in `targets`.
pub(super) fn all(count: u32, world: Square, targets: Square, rng: &Rng) -> (Vec<Position>, Movers) {
    let walker = |number| Waypoint::new(world, targets, rng.fork_named(number));
    let (starts, movers) = (0..count.into()).map(walker).unzip();
    (starts, Movers::Alone(movers))
}

impl Waypoint {
    /// A random start, and the movement from there.
    pub(super) fn new(world: Square, targets: Square, mut rng: Rng) -> (Position, Self) {
        let start = world.somewhere(&mut rng);
        let target = targets.somewhere(&mut rng);
        (start, Self { world, targets, target, rng })
    }

    /// The next position. A walker that is nearer to its target than one step draws the next target.
    pub(super) fn step(&mut self, from: Position, pace: f64) -> Position {
        if (from.distance_squared(self.target) as f64) < pace * pace {
            self.target = self.targets.somewhere(&mut self.rng);
        }
        Stride::towards(from, self.target, pace).from(from, self.world)
    }
}

//! Random waypoint with jumps: players who use portals, die or log in elsewhere.

use super::Movers;
use super::draw;
use super::ground::Square;
use super::waypoint::Waypoint;
use machine::{Rng, Span};
use space::Position;

/// The movement of one walker that jumps.
#[derive(Clone, Debug)]
pub(super) struct Teleporter {
    waypoint: Waypoint,
    world: Square,
    mean: Span,
    /// Walking time until the next jump, in microseconds.
    left: u64,
    rng: Rng,
}

/// `count` walkers who start, walk and jump anywhere in the world.
pub(super) fn all(count: u32, world: Square, mean: Span, rng: &Rng) -> (Vec<Position>, Movers) {
    let walker = |number| Teleporter::new(world, mean, rng.fork_named(number));
    let (starts, movers) = (0..count.into()).map(walker).unzip();
    (starts, Movers::Jumping(movers))
}

impl Teleporter {
    fn new(world: Square, mean: Span, mut rng: Rng) -> (Position, Self) {
        let (start, waypoint) = Waypoint::new(world, world, rng.fork());
        let left = draw::exponential(mean, &mut rng).as_micros();
        (start, Self { waypoint, world, mean, left, rng })
    }

    /// A step, or a jump if one is due within it. The wait for the next begins with the next step: waiting of this
    /// kind has no memory, so jumps are as frequent however often the walker moves.
    pub(super) fn step(&mut self, from: Position, pace: f64, span: Span) -> Position {
        if self.left <= span.as_micros() {
            self.left = draw::exponential(self.mean, &mut self.rng).as_micros();
            return self.world.somewhere(&mut self.rng);
        }
        self.left -= span.as_micros();
        self.waypoint.step(from, pace)
    }
}

//! An avatar that walks from goal to goal, as the walking bots of Ecumene do.

use crate::{MOVES_PER_SECOND, SPEED};

/// Largest distance to the next goal along each axis, in metres. Walking from end to end of the world would crowd its
/// middle, and clients would see very different numbers of others.
const STRETCH: f32 = 30.0;

/// Distance from the world's edge that goals keep, in metres.
const MARGIN: f32 = 5.0;

/// A position that changes with every step.
pub struct Walker {
    position: (f32, f32),
    goal: (f32, f32),
    half: f32,
    /// State of the xorshift generator; `node/workload.mjs` draws the same numbers.
    random: u32,
}

impl Walker {
    /// The walker of a client, somewhere in a square world.
    pub fn new(client: u16, half: f32) -> Self {
        let random = (u32::from(client) + 1).wrapping_mul(2_654_435_761).max(1);
        let mut walker = Self { position: (0.0, 0.0), goal: (0.0, 0.0), half, random };
        for _ in 0..8 {
            walker.draw();
        }
        walker.position = (walker.draw() * half, walker.draw() * half);
        walker.goal = walker.next_goal();
        walker
    }

    /// A random number from -1 to 1.
    fn draw(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        (f64::from(self.random) / f64::from(1_u32 << 31) - 1.0) as f32
    }

    fn next_goal(&mut self) -> (f32, f32) {
        let room = self.half - MARGIN;
        let (x, y) = self.position;
        let near = |at: f32, draw: f32| (at + draw * STRETCH).clamp(-room, room);
        (near(x, self.draw()), near(y, self.draw()))
    }

    /// Walks for the time between two moves; returns the new position.
    pub fn step(&mut self) -> (f32, f32) {
        let (dx, dy) = (self.goal.0 - self.position.0, self.goal.1 - self.position.1);
        let (distance, stride) = (dx.hypot(dy), SPEED / MOVES_PER_SECOND as f32);
        if distance <= stride {
            self.position = self.goal;
            self.goal = self.next_goal();
        } else {
            self.position.0 += dx / distance * stride;
            self.position.1 += dy / distance * stride;
        }
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walker_takes_the_same_steps_as_the_walker_on_node() {
        let mut walker = Walker::new(7, 99.0);
        let (x, y) = (0..100).map(|_| walker.step()).last().unwrap();
        // The numbers of the test of `node/workload.test.mjs`. Only rounding may differ.
        assert!((x - 80.274).hypot(y + 80.043) < 0.01, "{x} {y}");
    }

    #[test]
    fn walkers_stay_in_the_world_and_see_as_many_as_intended() {
        let (clients, half) = (400, crate::half(400));
        let mut walkers: Vec<_> = (0..clients).map(|it| Walker::new(it, half)).collect();
        let mut at = Vec::new();
        for _ in 0..600 {
            at = walkers.iter_mut().map(Walker::step).collect();
            assert!(at.iter().all(|it| it.0.abs() <= half && it.1.abs() <= half));
        }
        let near = |a: &&(f32, f32), b: &&(f32, f32)| (a.0 - b.0).hypot(a.1 - b.1) <= crate::VIEW;
        let pairs: usize = at.iter().map(|a| at.iter().filter(|b| near(&a, b)).count() - 1).sum();
        let visible = pairs as f64 / f64::from(clients);
        assert!((visible / crate::VISIBLE - 1.0).abs() < 0.15, "{visible}");
    }
}

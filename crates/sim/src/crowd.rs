//! Many players who walk through a square world, and who come and go: the load of an experiment.
//!
//! A [`Crowd`] knows where its walkers are and where they go next; a [`Population`] knows when they join,
//! leave, fail together or are cut off from each other. The experiment joins them: it pops instructions in
//! the order of time, and moves each walker when that player's own update is due.
//!
//! | way of walking | file |
//! |---|---|
//! | random waypoint; everybody gathers in one square | `waypoint` |
//! | random waypoint with jumps | `teleport` |
//! | groups on a common way | `flock` |
//!
//! ```
//! use machine::{Rng, Span, Time};
//! use sim::crowd::{Crowd, Ground, Instruction, Movement, Population, Schedule};
//!
//! let rng = Rng::seeded(7);
//! let mut crowd = Crowd::new(Movement::groups(), 24, Ground::default(), &rng)?;
//! for (_, instruction) in Population::new(24, Schedule::default(), &rng)? {
//!     let Instruction::Join { walker, .. } = instruction else { unreachable!("nobody leaves by default") };
//!     crowd.join(walker);
//!     crowd.step(walker, Span::from_millis(667));
//! }
//! # Ok::<(), sim::crowd::CrowdError>(())
//! ```
//!
//! Each walker and each group draws from a stream of its own, so a player who joins later or moves less often
//! changes nobody's way but that of its group. Neither half knows a protocol: two that let
//! players move at the same times meet the same crowd under one seed.

mod draw;
mod error;
mod flock;
mod ground;
mod movement;
mod population;
mod schedule;
mod sides;
mod stride;
mod teleport;
mod waypoint;

pub use error::CrowdError;
pub use ground::Ground;
pub use movement::{Groups, Movement};
pub use population::Population;
pub use schedule::{Churn, Cut, Failure, Instruction, JoinOrder, Manner, Schedule};
pub use sides::{Division, Side, Sides};

use flock::Flock;
use machine::{Rng, Span};
use space::Position;
use std::ops::Range;
use teleport::Teleporter;
use waypoint::Waypoint;

/// A walker's number, from zero, in the order of joining. It stays the same over all its player's lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WalkerId(pub u32);

impl WalkerId {
    /// As an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The streams that a crowd and a population take from one seed: large numbers, since an experiment forks
/// small ones for itself.
mod stream {
    pub(super) const CROWD: u64 = u64::from_be_bytes(*b"walkers ");
    pub(super) const POPULATION: u64 = u64::from_be_bytes(*b"sessions");
}

/// Walkers in a square world. Whoever has not joined, or has left, stands still.
#[derive(Clone, Debug)]
pub struct Crowd {
    ground: Ground,
    walkers: Vec<Walker>,
    ways: Ways,
}

#[derive(Clone, Copy, Debug)]
struct Walker {
    at: Position,
    presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Away,
    /// Joined, but has not moved since. Its group does not mind it yet: a player who never gets ready to
    /// move would otherwise hold the others for ever.
    Standing,
    Walking,
}

/// Where walkers go next.
#[derive(Clone, Debug)]
enum Ways {
    Alone(Vec<Waypoint>),
    Jumping(Vec<Teleporter>),
    Together { size: usize, flocks: Vec<Flock> },
}

impl Crowd {
    /// `count` walkers, all away, each at the place where it would join.
    pub fn new(movement: Movement, count: u32, ground: Ground, rng: &Rng) -> Result<Self, CrowdError> {
        ground.check()?;
        movement.check(&ground)?;
        let rng = rng.fork_named(stream::CROWD);
        let square = ground.square();
        let (starts, ways) = match movement {
            Movement::Random => waypoint::all(count, square, square, &rng),
            Movement::Gathering { side } => waypoint::all(count, square, square.middle(side), &rng),
            Movement::Teleport { mean } => teleport::all(count, square, mean, &rng),
            Movement::Groups(groups) => flock::all(count, square, groups, &rng),
        };
        let walkers = starts.into_iter().map(|at| Walker { at, presence: Presence::Away }).collect();
        Ok(Self { ground, walkers, ways })
    }

    /// `walker` is there from now on, at the place returned: where it was when it left, or near its group.
    ///
    /// # Panics
    /// If it is there already.
    pub fn join(&mut self, walker: WalkerId) -> Position {
        let it = self.walkers[walker.index()];
        assert_eq!(it.presence, Presence::Away, "{walker:?} joined twice");
        let at = match &mut self.ways {
            Ways::Alone(_) | Ways::Jumping(_) => it.at,
            Ways::Together { size, flocks } => {
                let (group, me) = (walker.index() / *size, walker.index() % *size);
                flocks[group].entrance(me, group_of(&self.walkers, *size, group))
            }
        };
        self.walkers[walker.index()] = Walker { at, presence: Presence::Standing };
        at
    }

    /// `walker` is gone; its group goes on without it. Whoever stops moving without having left is waited for.
    ///
    /// # Panics
    /// If it is not there.
    pub fn leave(&mut self, walker: WalkerId) {
        let it = &mut self.walkers[walker.index()];
        assert_ne!(it.presence, Presence::Away, "{walker:?} left twice");
        it.presence = Presence::Away;
    }

    /// Moves `walker` on by what it walks in `span`, and returns where it is now.
    ///
    /// # Panics
    /// If it is not there.
    pub fn step(&mut self, walker: WalkerId, span: Span) -> Position {
        let it = &mut self.walkers[walker.index()];
        assert_ne!(it.presence, Presence::Away, "{walker:?} moves while away");
        it.presence = Presence::Walking;
        let (from, pace) = (it.at, self.ground.pace(span));
        let at = match &mut self.ways {
            Ways::Alone(ways) => ways[walker.index()].step(from, pace),
            Ways::Jumping(ways) => ways[walker.index()].step(from, pace, span),
            Ways::Together { size, flocks } => {
                let (group, me) = (walker.index() / *size, walker.index() % *size);
                flocks[group].step(me, group_of(&self.walkers, *size, group), pace)
            }
        };
        self.walkers[walker.index()].at = at;
        at
    }

    /// Where `walker` is, or was when it left.
    pub fn position(&self, walker: WalkerId) -> Position {
        self.walkers[walker.index()].at
    }

    /// The numbers of those who walk together with `walker`, itself among them.
    pub fn group(&self, walker: WalkerId) -> Range<u32> {
        let size = match self.ways {
            Ways::Alone(_) | Ways::Jumping(_) => 1,
            Ways::Together { size, .. } => size as u32,
        };
        let first = walker.0 / size * size;
        first..first.saturating_add(size).min(self.walkers.len() as u32)
    }
}

/// The members of one group; the last may have fewer.
fn group_of(walkers: &[Walker], size: usize, group: usize) -> &[Walker] {
    let rest = &walkers[group * size..];
    &rest[..size.min(rest.len())]
}

#[cfg(test)]
mod tests;

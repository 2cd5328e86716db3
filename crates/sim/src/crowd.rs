//! Walkers of many players in a square world, and when they join and leave: the load of an experiment.
//!
//! A [`Crowd`] knows where its walkers are and where they go next; a [`Population`] knows when they join,
//! leave, fail together or are cut off from each other. The experiment joins them: it pops instructions in
//! the order of time, and moves each walker when that player's own update is due.
//!
//! | movement | file |
//! |---|---|
//! | random waypoint; all walkers gather in one square | `waypoint` |
//! | random waypoint with jumps | `teleport` |
//! | groups with a common target | `flock` |
//!
//! ```
//! use machine::{Rng, Span, Time};
//! use sim::crowd::{Crowd, Ground, Instruction, Movement, Population, PopulationSchedule};
//!
//! let rng = Rng::seeded(7);
//! let mut crowd = Crowd::new(Movement::groups(), 24, Ground::default(), &rng)?;
//! for (_, instruction) in Population::new(24, PopulationSchedule::default(), &rng)? {
//!     let Instruction::Join { walker, .. } = instruction else { unreachable!("no player leaves by default") };
//!     crowd.join(walker);
//!     crowd.step(walker, Span::from_millis(667));
//! }
//! # Ok::<(), sim::crowd::CrowdError>(())
//! ```
//!
//! Each walker and each group draws from a stream of its own, so a player who joins later or moves less often
//! changes only the positions of its own group. Neither half knows a protocol: two protocols that let
//! players move at the same times get the same crowd under one seed.

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
pub use schedule::{Churn, Cut, Instruction, JoinOrder, Manner, MassFailure, PopulationSchedule};
pub use sides::{CutSide, CutSides, Division};

use flock::Flock;
use machine::{Rng, Span};
use space::Position;
use std::ops::Range;
use teleport::Teleporter;
use waypoint::Waypoint;

/// A walker's number, from zero, in the order of joining. It stays the same when its player leaves and comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WalkerId(pub u32);

impl WalkerId {
    /// The number as an index into a list of all walkers.
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

/// Walkers in a square world. A walker that has not joined, or has left, stands still.
#[derive(Clone, Debug)]
pub struct Crowd {
    ground: Ground,
    walkers: Vec<WalkerState>,
    movers: Movers,
}

#[derive(Clone, Copy, Debug)]
struct WalkerState {
    at: Position,
    presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Away,
    /// Joined, but has not moved since. Its group does not wait for it yet: a player who never gets ready to
    /// move would otherwise hold the others for ever.
    Standing,
    Walking,
}

/// The movement of all walkers: one mover per walker, or one per group.
#[derive(Clone, Debug)]
enum Movers {
    Alone(Vec<Waypoint>),
    Jumping(Vec<Teleporter>),
    Together { size: usize, flocks: Vec<Flock> },
}

impl Crowd {
    /// `count` walkers, all away, each at the place where it would join.
    pub fn new(movement: Movement, count: u32, ground: Ground, rng: &Rng) -> Result<Self, CrowdError> {
        ground.check()?;
        movement.check(&ground)?;
        // A named fork, so that a population of the same seed draws independently.
        let rng = rng.fork_named(stream::CROWD);
        let square = ground.square();
        let (starts, movers) = match movement {
            Movement::Random => waypoint::all(count, square, square, &rng),
            Movement::Gathering { side } => waypoint::all(count, square, square.middle(side), &rng),
            Movement::Teleport { mean } => teleport::all(count, square, mean, &rng),
            Movement::Groups(groups) => flock::all(count, square, groups, &rng),
        };
        let walkers = starts.into_iter().map(|at| WalkerState { at, presence: Presence::Away }).collect();
        Ok(Self { ground, walkers, movers })
    }

    /// Lets `walker` join at the place returned: where it was when it left, or near its group.
    ///
    /// # Panics
    /// If it has joined already.
    pub fn join(&mut self, walker: WalkerId) -> Position {
        let it = self.walkers[walker.index()];
        assert_eq!(it.presence, Presence::Away, "{walker:?} joined twice");
        let at = match &mut self.movers {
            Movers::Alone(_) | Movers::Jumping(_) => it.at,
            Movers::Together { size, flocks } => {
                let (group, me) = (walker.index() / *size, walker.index() % *size);
                flocks[group].entrance(me, group_of(&self.walkers, *size, group))
            }
        };
        self.walkers[walker.index()] = WalkerState { at, presence: Presence::Standing };
        at
    }

    /// Lets `walker` leave; its group goes on without it. A walker that stops moving without leaving is waited for.
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
        // From its first step on the group waits for this walker.
        it.presence = Presence::Walking;
        let (from, pace) = (it.at, self.ground.pace(span));
        let at = match &mut self.movers {
            Movers::Alone(movers) => movers[walker.index()].step(from, pace),
            Movers::Jumping(movers) => movers[walker.index()].step(from, pace, span),
            Movers::Together { size, flocks } => {
                let (group, me) = (walker.index() / *size, walker.index() % *size);
                flocks[group].step(me, group_of(&self.walkers, *size, group), pace)
            }
        };
        self.walkers[walker.index()].at = at;
        at
    }

    /// The position of `walker`, or its last one if it left.
    pub fn position(&self, walker: WalkerId) -> Position {
        self.walkers[walker.index()].at
    }

    /// The numbers of the group of `walker`, its own among them.
    pub fn group(&self, walker: WalkerId) -> Range<u32> {
        let size = match self.movers {
            Movers::Alone(_) | Movers::Jumping(_) => 1,
            Movers::Together { size, .. } => size as u32,
        };
        let first = walker.0 / size * size;
        first..first.saturating_add(size).min(self.walkers.len() as u32)
    }
}

/// The members of one group; the last may have fewer.
fn group_of(walkers: &[WalkerState], size: usize, group: usize) -> &[WalkerState] {
    let rest = &walkers[group * size..];
    &rest[..size.min(rest.len())]
}

#[cfg(test)]
mod tests;

//! The walkers of a run: where peers walk, and when each joins, steps and leaves.

use super::world::VastCase;
use machine::{Rng, Span, Time};
use sim::crowd::{Crowd, Instruction, Population, WalkerId};
use space::Position;
use std::collections::BTreeSet;

/// All walkers of a run.
pub struct Walkers {
    crowd: Crowd,
    population: Population,
    /// Time of the next step of each walker, in order.
    ticks: BTreeSet<(Time, u32)>,
    interval: Span,
    /// True if all stand still, and none joins or leaves.
    frozen: bool,
}

impl Walkers {
    /// The walkers of a case, none of which has joined.
    ///
    /// # Panics
    /// If the case is invalid: settings are checked before.
    pub fn new(case: &VastCase, rng: &Rng) -> Self {
        let schedule = case.schedule.clone();
        Self {
            crowd: Crowd::new(case.movement, case.peers, case.ground, rng).expect("settings are checked"),
            population: Population::new(case.peers, schedule, rng).expect("settings are checked"),
            ticks: BTreeSet::new(),
            interval: case.config.interval,
            frozen: false,
        }
    }

    /// Time at which the next walker acts, at most `end`.
    pub fn next(&self, end: Time) -> Time {
        let tick = self.ticks.first().map_or(end, |it| it.0);
        let instruction = self.population.deadline().filter(|_| !self.frozen).unwrap_or(end);
        tick.min(instruction).min(end)
    }

    /// Takes the next instruction that is due.
    pub fn pop_instruction(&mut self, until: Time) -> Option<Instruction> {
        if self.frozen {
            return None;
        }
        self.population.pop_due(until).map(|it| it.1)
    }

    /// Takes the next walker that is due to step.
    pub fn pop_tick(&mut self, until: Time) -> Option<WalkerId> {
        let (at, walker) = *self.ticks.first().filter(|it| it.0 <= until)?;
        self.ticks.remove(&(at, walker));
        Some(WalkerId(walker))
    }

    /// Schedules a step of a walker.
    pub fn step_at(&mut self, at: Time, walker: WalkerId) {
        self.ticks.insert((at, walker.0));
    }

    /// A walker joins; returns its position and the number of its group, 0 for none.
    pub fn join(&mut self, walker: WalkerId) -> (Position, u32) {
        let position = self.crowd.join(walker);
        let group = self.crowd.group(walker);
        // A walker without companions has no group.
        (position, if group.len() < 2 { 0 } else { group.start + 1 })
    }

    /// A walker leaves the crowd.
    pub fn leave(&mut self, walker: WalkerId) {
        self.crowd.leave(walker);
    }

    /// A walker steps now, and again after the interval; returns its new position.
    pub fn step(&mut self, now: Time, walker: WalkerId) -> Position {
        self.step_at(now + self.interval, walker);
        if self.frozen { self.crowd.position(walker) } else { self.crowd.step(walker, self.interval) }
    }

    /// From now on no walker walks, joins or leaves.
    pub const fn freeze(&mut self) {
        self.frozen = true;
    }
}

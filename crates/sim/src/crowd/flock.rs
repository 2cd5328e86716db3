//! Groups that walk to random places together (*VAST revisited*, section 3.3; the rules follow the group
//! movement that VAST took over from the authors' simulator in late 2007).
//!
//! Everybody goes straight to the group's target, is pushed away by whoever is too near, and drawn a little to
//! the group's centre. Without the last a group soon walks in fixed formation, everybody out of reach of
//! everybody's pushes; then nobody's neighbours change, and there is little to test.
//!
//! All are equally fast, so nobody who is behind could ever catch up. Therefore who is far ahead of anyone goes
//! to the group's centre instead of on. The hindmost never waits, so a group always gets on.

use super::ground::Square;
use super::movement::Groups;
use super::stride::Stride;
use super::{Presence, Walker, Ways};
use machine::Rng;
use space::Position;

/// How many steps before the target a group turns to the next.
const ARRIVED_STEPS: f64 = 2.0;

/// How far everybody who is too near pushes, in steps.
const PUSH_STEPS: f64 = 0.5;

/// A group's common way.
#[derive(Clone, Debug)]
pub(super) struct Flock {
    world: Square,
    groups: Groups,
    target: Position,
    rng: Rng,
}

/// `count` walkers in groups; each group starts anywhere in the world.
pub(super) fn all(count: u32, world: Square, groups: Groups, rng: &Rng) -> (Vec<Position>, Ways) {
    let mut starts = Vec::with_capacity(count as usize);
    let mut flocks = Vec::new();
    for number in 0..count.div_ceil(groups.size) {
        let mut flock = Flock::new(world, groups, rng.fork_named(number.into()));
        let members = groups.size.min(count - number * groups.size);
        let start = world.somewhere(&mut flock.rng);
        starts.extend((0..members).map(|_| world.near(start, groups.spread, &mut flock.rng)));
        flocks.push(flock);
    }
    (starts, Ways::Together { size: groups.size as usize, flocks })
}

impl Flock {
    fn new(world: Square, groups: Groups, mut rng: Rng) -> Self {
        let target = world.somewhere(&mut rng);
        Self { world, groups, target, rng }
    }

    /// Where `me` joins: near those who walk already, for they may be far from where it was.
    pub(super) fn entrance(&mut self, me: usize, group: &[Walker]) -> Position {
        match centre(group) {
            Some(centre) => self.world.near(centre, self.groups.spread, &mut self.rng),
            None => group[me].at,
        }
    }

    /// The first who comes near the target sets a new one for all.
    pub(super) fn step(&mut self, me: usize, group: &[Walker], pace: f64) -> Position {
        let from = group[me].at;
        let arrived = ARRIVED_STEPS * pace;
        if (from.distance_squared(self.target) as f64) < arrived * arrived {
            self.target = self.world.somewhere(&mut self.rng);
        }
        let centre = centre(group).expect("whoever steps walks");
        let goal = if self.must_wait(from, group) { centre } else { self.target };
        let mut stride = Stride::towards(from, goal, pace);
        stride += Stride::towards(from, centre, f64::from(self.groups.cohesion_percent) / 100.0 * pace);
        stride += self.pushes(me, stride.from(from, self.world), group, PUSH_STEPS * pace);
        stride.at_most(pace).from(from, self.world)
    }

    /// Whether somebody is farther from the target, and out of reach.
    fn must_wait(&self, from: Position, group: &[Walker]) -> bool {
        let to_go = from.distance_squared(self.target);
        walking(group).any(|it| {
            to_go < it.at.distance_squared(self.target) && !from.is_within(self.groups.tether, it.at)
        })
    }

    /// All pushes together on `me`, if it were at `at`.
    fn pushes(&self, me: usize, at: Position, group: &[Walker], push: f64) -> Stride {
        let mut sum = Stride::NONE;
        for (number, it) in group.iter().enumerate() {
            if number != me && it.presence == Presence::Walking && at.is_within(self.groups.separation, it.at)
            {
                sum += away(it.at, at, me < number).scaled(push);
            }
        }
        sum
    }
}

/// The direction from `mate` to `at`, of length 1. On one spot, the lower number goes west and the higher east.
fn away(mate: Position, at: Position, lower: bool) -> Stride {
    let (dx, dy) = mate.step_to(at);
    let stride = Stride { x: dx.into(), y: dy.into() };
    if (dx, dy) == (0, 0) {
        return Stride { x: if lower { -1.0 } else { 1.0 }, y: 0.0 };
    }
    stride.scaled(1.0 / stride.length_squared().sqrt())
}

fn walking(group: &[Walker]) -> impl Iterator<Item = &Walker> {
    group.iter().filter(|it| it.presence == Presence::Walking)
}

/// The mean place of those who walk.
fn centre(group: &[Walker]) -> Option<Position> {
    let (mut x, mut y, mut count) = (0, 0, 0);
    for it in walking(group) {
        x += i64::from(it.at.x());
        y += i64::from(it.at.y());
        count += 1;
    }
    (count != 0).then(|| Position::saturating(x / count, y / count))
}

//! Groups that walk to random places together (*VAST revisited*, section 3.3; the rules follow the group
//! movement that VAST took over from the authors' simulator in late 2007).
//!
//! Each member goes straight to the group's target, is pushed away by members that are too near, and drawn a little
//! to the group's centre. Without the last rule a group soon walks in fixed formation, each member out of reach of
//! the pushes of the others; then no member's neighbours change, and there is little to test.
//!
//! All are equally fast, so a member that is behind could never catch up. Therefore a member that is far ahead of
//! another goes to the group's centre instead of on. The hindmost never waits, so a group always gets on.

use super::ground::Square;
use super::movement::Groups;
use super::stride::Stride;
use super::{Movers, Presence, WalkerState};
use machine::Rng;
use space::Position;

/// Distance from the target, in steps, at which a group turns to the next target.
const ARRIVED_STEPS: f64 = 2.0;

/// Length of the push of each member that is too near, in steps.
const PUSH_STEPS: f64 = 0.5;

/// A group with a common target.
#[derive(Clone, Debug)]
pub(super) struct Flock {
    world: Square,
    groups: Groups,
    target: Position,
    rng: Rng,
}

/// `count` walkers in groups; each group starts anywhere in the world.
pub(super) fn all(count: u32, world: Square, groups: Groups, rng: &Rng) -> (Vec<Position>, Movers) {
    let mut starts = Vec::with_capacity(count as usize);
    let mut flocks = Vec::new();
    for number in 0..count.div_ceil(groups.size) {
        let mut flock = Flock::new(world, groups, rng.fork_named(number.into()));
        let members = groups.size.min(count - number * groups.size);
        let start = world.somewhere(&mut flock.rng);
        starts.extend((0..members).map(|_| world.near(start, groups.spread, &mut flock.rng)));
        flocks.push(flock);
    }
    (starts, Movers::Together { size: groups.size as usize, flocks })
}

impl Flock {
    fn new(world: Square, groups: Groups, mut rng: Rng) -> Self {
        let target = world.somewhere(&mut rng);
        Self { world, groups, target, rng }
    }

    /// The place where `me` joins: near the members that walk already, for they may be far from where it was.
    pub(super) fn entrance(&mut self, me: usize, group: &[WalkerState]) -> Position {
        match centre(group) {
            Some(centre) => self.world.near(centre, self.groups.spread, &mut self.rng),
            None => group[me].at,
        }
    }

    /// The next position of `me`. The first member that comes near the target draws a new one for all.
    pub(super) fn step(&mut self, me: usize, group: &[WalkerState], pace: f64) -> Position {
        let from = group[me].at;
        let arrived = ARRIVED_STEPS * pace;
        if (from.distance_squared(self.target) as f64) < arrived * arrived {
            self.target = self.world.somewhere(&mut self.rng);
        }
        let centre = centre(group).expect("a member that steps is walking");
        let goal = if self.must_wait(from, group) { centre } else { self.target };
        let mut stride = Stride::towards(from, goal, pace);
        stride += Stride::towards(from, centre, f64::from(self.groups.cohesion_percent) / 100.0 * pace);
        // Pushes act where the step would lead, so that members do not walk into each other first.
        stride += self.pushes(me, stride.from(from, self.world), group, PUSH_STEPS * pace);
        // The sum may be longer than a step, but no walker may be faster than allowed.
        stride.at_most(pace).from(from, self.world)
    }

    /// True if another member is farther from the target, and beyond the tether.
    fn must_wait(&self, from: Position, group: &[WalkerState]) -> bool {
        let to_go = from.distance_squared(self.target);
        walking(group).any(|it| {
            to_go < it.at.distance_squared(self.target) && !from.is_within(self.groups.tether, it.at)
        })
    }

    /// The sum of all pushes on `me`, if it were at `at`.
    fn pushes(&self, me: usize, at: Position, group: &[WalkerState], push: f64) -> Stride {
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

/// The direction from `mate` to `at`, of length 1. At the same position, the lower number goes west and the higher
/// east.
fn away(mate: Position, at: Position, lower: bool) -> Stride {
    let (dx, dy) = mate.step_to(at);
    let stride = Stride { x: dx.into(), y: dy.into() };
    if (dx, dy) == (0, 0) {
        return Stride { x: if lower { -1.0 } else { 1.0 }, y: 0.0 };
    }
    stride.scaled(1.0 / stride.length_squared().sqrt())
}

fn walking(group: &[WalkerState]) -> impl Iterator<Item = &WalkerState> {
    group.iter().filter(|it| it.presence == Presence::Walking)
}

/// The mean position of the members that walk.
fn centre(group: &[WalkerState]) -> Option<Position> {
    let (mut x, mut y, mut count) = (0, 0, 0);
    for it in walking(group) {
        x += i64::from(it.at.x());
        y += i64::from(it.at.y());
        count += 1;
    }
    (count != 0).then(|| Position::saturating(x / count, y / count))
}

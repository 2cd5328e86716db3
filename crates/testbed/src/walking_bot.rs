//! A bot for measuring: it walks, and changes its course whenever it decides.

use game::{Bot, BotView, Intent};
use machine::Rng;
use space::{Heading, Polygon, Position, Velocity};
use std::sync::atomic::{AtomicU64, Ordering};

/// The bot's name where bots are chosen by name.
pub const NAME: &str = "walker";

/// Number of courses that the walkers of this process have taken.
pub static COURSES: AtomicU64 = AtomicU64::new(0);

/// Largest distance to the next goal, in millimetres. Walking from end to end of the world would crowd its middle, and
/// bots would have very different numbers of neighbours.
const STRETCH: i64 = 30_000;

/// Deviation to either side, in 65,536ths of a turn: no two courses in a row are the same.
const SWAY: u16 = 1_500;

/// A walker for a world, at a speed in millimetres per second.
pub fn bot(world: Polygon, speed: f32) -> Box<dyn Bot> {
    Box::new(WalkingBot { world, speed, goal: None, left: false })
}

struct WalkingBot {
    world: Polygon,
    speed: f32,
    goal: Option<Position>,
    left: bool,
}

impl Bot for WalkingBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(mine) = sight.objects.get(&sight.me) else { return };
        let here = mine.motion.position_at(sight.now);
        // A goal within a metre counts as reached.
        let goal = match self.goal.filter(|it| 1_000_000 < it.distance_squared(here)) {
            Some(goal) => goal,
            None => self.next_goal(here, rng),
        };
        self.goal = Some(goal);
        self.left = !self.left;
        let (dx, dy) = here.step_to(goal);
        let straight = Heading::along(dx, dy).unwrap_or(mine.motion.heading);
        let sway = if self.left { SWAY } else { SWAY.wrapping_neg() };
        let heading = Heading(straight.0.wrapping_add(sway));
        let (x, y) = heading.unit();
        if let Ok(velocity) = Velocity::new((x * self.speed) as i32, (y * self.speed) as i32) {
            intents.push(Intent::Steer(velocity, heading));
            COURSES.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl WalkingBot {
    /// A position nearby, well inside the world.
    fn next_goal(&self, here: Position, rng: &mut Rng) -> Position {
        let (low, high) = self.world.bounding_box();
        let inside = |at: i32, low: i32, high: i32, rng: &mut Rng| {
            // Half of a narrow world at most, or `clamp` would have no room.
            let margin = (i64::from(high) - i64::from(low)).min(10_000) / 2;
            let (low, high) = (i64::from(low) + margin, i64::from(high) - margin);
            (i64::from(at) + rng.between(-STRETCH, STRETCH)).clamp(low, high)
        };
        let x = inside(here.x(), low.x(), high.x(), rng);
        let y = inside(here.y(), low.y(), high.y(), rng);
        Position::saturating(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::VisibleObject;
    use machine::{Span, Time};
    use space::{Epoch, Millis, Motion, ObjectId, ZoneId};
    use std::collections::BTreeMap;

    #[test]
    fn it_stays_in_the_world_and_never_takes_the_same_course_twice_in_a_row() {
        let corner = |it| Position::from_metres(it, it).unwrap();
        let world = Polygon::rectangle(corner(-50.0), corner(50.0)).unwrap();
        let (mut bot, mut rng) = (bot(world.clone(), 5_900.0), Rng::seeded(1));
        let me = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
        let (mut now, mut motion) = (Time::ZERO, Motion::default());
        for _ in 0..2_000 {
            let objects = BTreeMap::from([(me, VisibleObject { motion, shown: Vec::new() })]);
            let mut intents = Vec::new();
            bot.decide(&BotView { now, me, objects: &objects, unanswered: 0 }, &mut rng, &mut intents);
            let [Intent::Steer(velocity, heading)] = intents[..] else { panic!("it wants {intents:?}") };
            assert_ne!(velocity, motion.velocity);
            motion = Motion { velocity, heading, start: Millis::floor(now), ..motion.rebased(now) };
            now += Span::from_millis(100);
            assert!(world.contains(motion.position_at(now)));
        }
    }
}

//! The bot of a game that brings none: it walks about, and does the everyday action now and then.

use game::{Bot, BotView, Intent};
use machine::Rng;
use space::{Distance, Polygon, Position, Velocity};

/// Largest distance to the next goal along each axis, in millimetres.
const STRETCH: i64 = 30_000;

/// Distance from a goal at which it counts as reached, in millimetres.
const REACHED: u64 = 1_000;

/// Goals are this far inside the world, in millimetres.
const MARGIN: i64 = 5_000;

/// It acts at one decision in so many.
const ACTS_ONE_IN: u64 = 4;

/// A bot that walks from goal to goal.
pub struct RoamingBot {
    world: Polygon,
    /// Per second.
    speed: Distance,
    action: Option<Vec<u8>>,
    goal: Option<Position>,
}

impl RoamingBot {
    /// A bot for a world, with a speed per second.
    pub fn new(world: &Polygon, speed: Distance, action: Option<Vec<u8>>) -> Self {
        Self { world: world.clone(), speed, action, goal: None }
    }

    /// A place nearby, inside the world.
    fn next_goal(&self, here: Position, rng: &mut Rng) -> Position {
        let (low, high) = self.world.bounding_box();
        let inside = |at: i32, low: i32, high: i32, rng: &mut Rng| {
            // Half of a narrow world at most, or `clamp` would have no room.
            let margin = ((i64::from(high) - i64::from(low)) / 2).min(MARGIN);
            let goal = i64::from(at) + rng.between(-STRETCH, STRETCH);
            goal.clamp(i64::from(low) + margin, i64::from(high) - margin)
        };
        let (x, y) = (inside(here.x(), low.x(), high.x(), rng), inside(here.y(), low.y(), high.y(), rng));
        Position::saturating(x, y)
    }
}

/// Returns whether a goal is near, or behind: between two decisions a fast bot walks past it.
fn has_reached(here: Position, velocity: Velocity, goal: Position) -> bool {
    let (dx, dy) = here.step_to(goal);
    let ahead = i64::from(dx) * i64::from(velocity.x()) + i64::from(dy) * i64::from(velocity.y());
    here.distance_squared(goal) <= REACHED * REACHED || velocity != Velocity::ZERO && ahead <= 0
}

impl Bot for RoamingBot {
    fn decide(&mut self, view: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(mine) = view.objects.get(&view.me) else { return };
        let here = mine.motion.position_at(view.now);
        let kept = self.goal.filter(|&it| !has_reached(here, mine.motion.velocity, it));
        let goal = kept.unwrap_or_else(|| self.next_goal(here, rng));
        // The same course again would be a message for nothing; a corrected avatar stands still.
        if kept.is_none() || mine.motion.velocity == Velocity::ZERO {
            intents.extend(Intent::walk(here, goal, self.speed));
        }
        self.goal = Some(goal);
        if view.unanswered == 0 && rng.below(ACTS_ONE_IN) == 0 {
            intents.extend(self.action.clone().map(Intent::Act));
        }
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
    fn it_stays_in_the_world_walks_no_faster_than_it_may_and_acts_now_and_then() {
        // Slow decisions of a fast bot: it walks past its goals.
        for (speed, pause) in [(1, 200), (9, 500)] {
            let corner = |it| Position::from_metres(it, it).unwrap();
            let world = Polygon::rectangle(corner(-40.0), corner(40.0)).unwrap();
            let speed = Distance::of_metres(speed);
            let (mut bot, mut rng) = (RoamingBot::new(&world, speed, Some(vec![7])), Rng::seeded(1));
            let me = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
            let (mut now, mut motion, mut courses, mut actions) = (Time::ZERO, Motion::default(), 0, 0);
            for _ in 0..2_000 {
                let objects = BTreeMap::from([(me, VisibleObject { motion, shown: Vec::new() })]);
                let mut intents = Vec::new();
                bot.decide(&BotView { now, me, objects: &objects, unanswered: 0 }, &mut rng, &mut intents);
                for intent in intents {
                    match intent {
                        Intent::Act(bytes) => {
                            assert_eq!(bytes, [7]);
                            actions += 1;
                        }
                        Intent::Steer(velocity, heading) => {
                            let (x, y) = (i64::from(velocity.x()), i64::from(velocity.y()));
                            assert!((x * x + y * y).unsigned_abs() <= speed.squared(), "{velocity:?}");
                            let start = Millis::floor(now);
                            motion = Motion { velocity, heading, start, ..motion.rebased(now) };
                            courses += 1;
                        }
                    }
                }
                now += Span::from_millis(pause);
                assert!(world.contains(motion.position_at(now)), "{:?}", motion.position_at(now));
            }
            assert!(10 < courses && courses < 1_500, "{courses} courses");
            assert!((200..1_000).contains(&actions), "{actions} actions");
        }
    }
}

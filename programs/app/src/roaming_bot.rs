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
        let goal = match self.goal.filter(|&it| !has_reached(here, mine.motion.velocity, it)) {
            Some(goal) => goal,
            None => self.next_goal(here, rng),
        };
        // The same course again would be a message for nothing; a corrected avatar stands still.
        if self.goal != Some(goal) || mine.motion.velocity == Velocity::ZERO {
            intents.extend(Intent::walk(here, goal, self.speed));
        }
        self.goal = Some(goal);
        if view.unanswered == 0 && rng.below(ACTS_ONE_IN) == 0 {
            intents.extend(self.action.clone().map(Intent::Act));
        }
    }
}

//! Bots for worlds of several zones: one keeps to the borders, one crosses the whole world.

use super::bot_surroundings::BotSurroundings;
use super::bot_walk::BotWalk;
use crate::config::{AVATAR_SPEED, EDGE_MARGIN};
use game::{Bot, BotView, Intent};
use machine::{Rng, Span, Time};
use space::{Distance, Polygon, Position};

/// The distance at which a place counts as reached: bots do not look often.
const ARRIVED: Distance = Distance::of_metres(3);

/// The distance over a border to which it goes, in millimetres: it has crossed it when it has arrived.
const OVER: f64 = 4_000.0;

/// The largest distance along a border that it goes at once, in millimetres.
const ALONG: i64 = 20_000;

/// One in this many walks leads to another border.
const ELSEWHERE: u64 = 5;

/// The time in excess of the walk's own after which a bot that has not arrived goes to another place.
const PATIENCE: Span = Span::from_millis(3_000);

/// A walk to a place, with a time limit.
struct TravelPlan {
    walk_state: BotWalk,
    goal: Option<(Position, Time)>,
}

impl TravelPlan {
    const fn new(world: Polygon) -> Self {
        Self { walk_state: BotWalk::new(world), goal: None }
    }

    /// Goes on, to the place that `next` gives whenever one is reached, or not reached in time.
    fn go(&mut self, view: &BotSurroundings<'_>, intents: &mut Vec<Intent>, next: impl FnOnce() -> Position) {
        let goal = match self.goal {
            Some((goal, until)) if !view.here.is_within(ARRIVED, goal) && view.now < until => goal,
            _ => {
                let goal = next();
                let distance = (view.here.distance_squared(goal) as f64).sqrt();
                let seconds = distance / f64::from(AVATAR_SPEED.millimetres());
                let takes = Span::from_millis((seconds * 1e3) as u64);
                self.goal = Some((goal, view.now + PATIENCE + takes));
                goal
            }
        };
        self.walk_state.go_to(view, goal, Distance::default(), intents);
    }
}

/// A bot that walks along borders, and over them all the time.
pub struct BorderBot {
    plan: TravelPlan,
    borders: Vec<(Position, Position)>,
    left: bool,
}

impl BorderBot {
    /// A bot that keeps to these borders of `world`; if there are none, it walks about.
    pub const fn new(world: Polygon, borders: Vec<(Position, Position)>) -> Self {
        Self { plan: TravelPlan::new(world), borders, left: false }
    }
}

impl Bot for BorderBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(view) = BotSurroundings::open(sight) else { return };
        let Self { plan, borders, left } = self;
        if borders.is_empty() {
            return plan.walk_state.stroll(&view, rng, intents);
        }
        plan.go(&view, intents, || {
            *left = !*left;
            beside(borders, view.here, *left, rng)
        });
    }
}

/// A place on one side of a border: mostly the nearest one, a little farther along it.
fn beside(borders: &[(Position, Position)], here: Position, left: bool, rng: &mut Rng) -> Position {
    let away = |it: &&(Position, Position)| foot(**it, here, 0.0).distance_squared(here);
    let nearest = borders.iter().min_by_key(away);
    let any = &borders[rng.below(borders.len() as u64) as usize];
    let border = *nearest.filter(|_| rng.below(ELSEWHERE) != 0).unwrap_or(any);
    let on = foot(border, here, rng.between(-ALONG, ALONG) as f64);
    let (dx, dy) = border.0.step_to(border.1);
    let (dx, dy) = (f64::from(dx), f64::from(dy));
    // Why at least 1: a border of no length must not divide by zero.
    let over = if left { OVER } else { -OVER } / (dx * dx + dy * dy).sqrt().max(1.0);
    Position::saturating(i64::from(on.x()) - (dy * over) as i64, i64::from(on.y()) + (dx * over) as i64)
}

/// The place on a border next to `here`, and then so many millimetres along it.
fn foot((from, to): (Position, Position), here: Position, along: f64) -> Position {
    let (dx, dy) = from.step_to(to);
    let (hx, hy) = from.step_to(here);
    let (dx, dy) = (f64::from(dx), f64::from(dy));
    let squared = (dx * dx + dy * dy).max(1.0);
    let part = (f64::from(hx) * dx + f64::from(hy) * dy) / squared + along / squared.sqrt();
    let part = part.clamp(0.0, 1.0);
    Position::saturating(i64::from(from.x()) + (dx * part) as i64, i64::from(from.y()) + (dy * part) as i64)
}

/// A bot that walks straight across the world from side to side.
pub struct CrossBot {
    plan: TravelPlan,
    world: Polygon,
}

impl CrossBot {
    /// A bot that crosses `world`.
    pub fn new(world: Polygon) -> Self {
        Self { plan: TravelPlan::new(world.clone()), world }
    }
}

impl Bot for CrossBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        let Some(view) = BotSurroundings::open(sight) else { return };
        let Self { plan, world } = self;
        plan.go(&view, intents, || opposite(world, view.here, rng));
    }
}

/// A place near the farther one of two opposite sides, straight ahead.
fn opposite(world: &Polygon, here: Position, rng: &mut Rng) -> Position {
    let (low, high) = world.bounding_box();
    let margin = i64::from(EDGE_MARGIN.millimetres());
    let farther = |at: i32, low: i32, high: i32| {
        let (low, high) = (i64::from(low) + margin, i64::from(high) - margin);
        let farther = if i64::from(at) < (low + high) / 2 { high } else { low };
        (i64::from(at).clamp(low.min(high), high.max(low)), farther)
    };
    let (x, over_x) = farther(here.x(), low.x(), high.x());
    let (y, over_y) = farther(here.y(), low.y(), high.y());
    if rng.coin() { Position::saturating(over_x, y) } else { Position::saturating(x, over_y) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Avatar, Shown};
    use game::VisibleObject;
    use space::{Epoch, Millis, Motion, ObjectId, ZoneId};
    use std::collections::{BTreeMap, BTreeSet};

    fn place(x: f64, y: f64) -> Position {
        Position::from_metres(x, y).unwrap()
    }

    fn world() -> Polygon {
        Polygon::rectangle(place(-60.0, -60.0), place(60.0, 60.0)).unwrap()
    }

    /// The places of a lone bot at every fifth of a second of ten minutes.
    fn places(mut bot: impl Bot, seed: u64) -> Vec<Position> {
        let mut rng = Rng::seeded(seed);
        let me = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
        let avatar = Avatar {
            name: "traveller".to_owned(),
            health: 100,
            score: 0,
            coins: 0,
            bag: Vec::new(),
            offer: None,
            ready_at: Millis(0),
            stunned_until: Millis(0),
        };
        let shown = postcard::to_stdvec(&Shown::Me(avatar)).unwrap();
        let (mut now, mut motion) = (Time::ZERO, Motion::default());
        let mut step = || {
            let objects = BTreeMap::from([(me, VisibleObject { motion, shown: shown.clone() })]);
            let mut intents = Vec::new();
            bot.decide(&BotView { now, me, objects: &objects, unanswered: 0 }, &mut rng, &mut intents);
            for want in intents {
                let Intent::Steer(velocity, heading) = want else { panic!("it only walks: {want:?}") };
                motion = Motion { velocity, heading, start: Millis::floor(now), ..motion.rebased(now) };
            }
            now += Span::from_millis(200);
            motion.position_at(now)
        };
        (0..3_000).map(|_| step()).collect()
    }

    #[test]
    fn travellers_cross_borders_all_the_time_and_stay_in_the_world() {
        let borders = vec![(place(0.0, -60.0), place(0.0, 60.0)), (place(60.0, 10.0), place(0.0, 10.0))];
        let zone = |it: &Position| (0 < it.x(), 0 < it.x() && 10_000 < it.y());
        let crossings =
            |places: &[Position]| places.windows(2).filter(|it| zone(&it[0]) != zone(&it[1])).count();
        for seed in 0..4 {
            let border = places(BorderBot::new(world(), borders.clone()), seed);
            assert!(100 < crossings(&border), "{} crossings in ten minutes", crossings(&border));
            assert_eq!(border.iter().map(zone).collect::<BTreeSet<_>>().len(), 3);
            let cross = places(CrossBot::new(world()), seed);
            assert!(15 < crossings(&cross), "{} crossings in ten minutes", crossings(&cross));
            for of in [Position::x, Position::y] {
                let (least, most) =
                    (cross.iter().map(|it| of(*it)).min(), cross.iter().map(|it| of(*it)).max());
                assert!(
                    least < Some(-45_000) && Some(45_000) < most,
                    "from side to side: {least:?} to {most:?}"
                );
            }
            assert!(border.iter().chain(&cross).all(|it| world().contains(*it)));
        }
    }
}

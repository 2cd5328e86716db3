//! Walkers for worlds of several zones: one keeps to the borders, one crosses the whole world.

use super::eyes::Eyes;
use super::legs::Legs;
use crate::config::{AVATAR_SPEED, EDGE_MARGIN};
use game::{Bot, Intent, Sight};
use machine::{Rng, Span, Time};
use space::{Distance, Polygon, Position};

/// Close enough: bots do not look often.
const ARRIVED: Distance = Distance::of_metres(3);

/// How far over a border it goes, in millimetres: it has crossed it when it has arrived.
const OVER: f64 = 4_000.0;

/// How far along a border it goes at most, in millimetres.
const ALONG: i64 = 20_000;

/// One in so many ways leads to another border.
const ELSEWHERE: u64 = 5;

/// Who has not arrived after this, besides the time that the way takes, goes somewhere else.
const PATIENCE: Span = Span::from_millis(3_000);

/// A way to somewhere.
struct Way {
    legs: Legs,
    goal: Option<(Position, Time)>,
}

impl Way {
    const fn new(world: Polygon) -> Self {
        Self { legs: Legs::new(world), goal: None }
    }

    /// Goes on, to the place that `next` gives whenever one is reached, or not reached in time.
    fn go(&mut self, eyes: &Eyes, wants: &mut Vec<Intent>, next: impl FnOnce() -> Position) {
        let goal = match self.goal {
            Some((goal, until)) if !eyes.here.is_within(ARRIVED, goal) && eyes.now < until => goal,
            _ => {
                let goal = next();
                let way = (eyes.here.distance_squared(goal) as f64).sqrt();
                let seconds = way / f64::from(AVATAR_SPEED.millimetres());
                let takes = Span::from_millis((seconds * 1e3) as u64);
                self.goal = Some((goal, eyes.now + PATIENCE + takes));
                goal
            }
        };
        self.legs.go_to(eyes, goal, Distance::default(), wants);
    }
}

/// Walks along borders, and over them all the time.
pub struct Border {
    way: Way,
    borders: Vec<(Position, Position)>,
    left: bool,
}

impl Border {
    /// One that keeps to these borders of `world`; if there are none, it walks about.
    pub const fn new(world: Polygon, borders: Vec<(Position, Position)>) -> Self {
        Self { way: Way::new(world), borders, left: false }
    }
}

impl Bot for Border {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(eyes) = Eyes::open(sight) else { return };
        let Self { way, borders, left } = self;
        if borders.is_empty() {
            return way.legs.stroll(&eyes, rng, wants);
        }
        way.go(&eyes, wants, || {
            *left = !*left;
            beside(borders, eyes.here, *left, rng)
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

/// Walks straight across the world from side to side.
pub struct Cross {
    way: Way,
    world: Polygon,
}

impl Cross {
    /// One that crosses `world`.
    pub fn new(world: Polygon) -> Self {
        Self { way: Way::new(world.clone()), world }
    }
}

impl Bot for Cross {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some(eyes) = Eyes::open(sight) else { return };
        let Self { way, world } = self;
        way.go(&eyes, wants, || opposite(world, eyes.here, rng));
    }
}

/// The farther one of two opposite sides, straight ahead.
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
    use game::Sighted;
    use space::{Epoch, Millis, Motion, ObjectId, ZoneId};
    use std::collections::{BTreeMap, BTreeSet};

    fn place(x: f64, y: f64) -> Position {
        Position::from_metres(x, y).unwrap()
    }

    fn world() -> Polygon {
        Polygon::rectangle(place(-60.0, -60.0), place(60.0, 60.0)).unwrap()
    }

    /// Where a lone bot is at every fifth of a second of ten minutes.
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
            let objects = BTreeMap::from([(me, Sighted { motion, shown: shown.clone() })]);
            let mut wants = Vec::new();
            bot.decide(&Sight { now, me, objects: &objects, unanswered: 0 }, &mut rng, &mut wants);
            for want in wants {
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
            let border = places(Border::new(world(), borders.clone()), seed);
            assert!(100 < crossings(&border), "{} crossings in ten minutes", crossings(&border));
            assert_eq!(border.iter().map(zone).collect::<BTreeSet<_>>().len(), 3);
            let cross = places(Cross::new(world()), seed);
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

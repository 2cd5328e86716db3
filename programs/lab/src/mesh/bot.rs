//! The bots of the experiments: each lives around one place, walks there, and sends one action after the other.

use super::ground::{HomeKind, MeshGround};
use game::{Bot, BotView, Intent, VisibleObject};
use kosmos::config::{AVATAR_SPEED, PICK_UP_REACH};
use kosmos::{Action, Avatar, Shown};
use machine::{Rng, Span, Time};
use space::{Heading, ObjectId, Position, Velocity};
use std::sync::Arc;

/// Mean time between an answer and the next action.
pub const PAUSE: Span = Span::from_millis(1_000);

/// Distance from home that a bot walks at most, in each direction, in millimetres.
const ROAM: i64 = 25_000;

/// Least distance of other avatars from the path of a rocket, in millimetres.
const CLEAR: f32 = 9_000.0;

/// Squared distance at which a goal is reached, in square millimetres.
const ARRIVED: u64 = 3_000 * 3_000;

/// A bot that walks around its home and acts.
pub struct ResidentBot {
    ground: Arc<MeshGround>,
    kind: HomeKind,
    home: Position,
    goal: Option<Position>,
    acts: Time,
    waiting: bool,
}

impl ResidentBot {
    /// A bot that lives around `home`, a place of this kind.
    pub const fn new(ground: Arc<MeshGround>, kind: HomeKind, home: Position) -> Self {
        Self { ground, kind, home, goal: None, acts: Time::ZERO, waiting: false }
    }

    fn walk(&mut self, here: Position, moving: bool, rng: &mut Rng) -> Option<Intent> {
        let arrived = self.goal.is_none_or(|it| here.distance_squared(it) <= ARRIVED);
        if !arrived && moving {
            return None;
        }
        let goal = if arrived { self.next_goal(rng) } else { self.goal.unwrap_or(self.home) };
        self.goal = Some(goal);
        let (velocity, heading) = towards(here, goal)?;
        Some(Intent::Steer(velocity, heading))
    }

    /// A random position around home, of the same kind as home.
    fn next_goal(&self, rng: &mut Rng) -> Position {
        let (x, y) = (i64::from(self.home.x()), i64::from(self.home.y()));
        let mut draw = || Position::saturating(x + rng.between(-ROAM, ROAM), y + rng.between(-ROAM, ROAM));
        let is_fine =
            |it: &Position| self.ground.world().contains(*it) && self.ground.is_home(self.kind, *it);
        // A few tries only: around a home at the edge of its kind most positions may not fit.
        (0..8).map(|_| draw()).find(is_fine).unwrap_or(self.home)
    }

    /// Returns whether the bot may act: only after its last action was answered, and a while later.
    fn is_time(&mut self, sight: &BotView<'_>, rng: &mut Rng) -> bool {
        if 0 < sight.unanswered {
            self.waiting = true;
            return false;
        }
        if std::mem::take(&mut self.waiting) {
            let pause = PAUSE.as_micros();
            self.acts = sight.now + Span::from_micros(pause / 2 + rng.below(pause));
        }
        self.acts <= sight.now
    }
}

impl Bot for ResidentBot {
    fn decide(&mut self, sight: &BotView<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        let Some((here, moving, avatar)) = own_avatar(sight) else { return };
        if sight.now < avatar.stunned_until.time() {
            return;
        }
        wants.extend(self.walk(here, moving, rng));
        if self.is_time(sight, rng) {
            wants.extend(act(&next_action(sight, here, &avatar, rng)));
            self.acts = sight.now + PAUSE;
        }
    }
}

/// The next action: mostly it fires, as all players did in the paper's game.
fn next_action(sight: &BotView<'_>, here: Position, avatar: &Avatar, rng: &mut Rng) -> Action {
    let ready = avatar.ready_at.time() <= sight.now;
    let aim = if ready { aim(sight, here, rng) } else { None };
    match (rng.below(10), aim) {
        (0..=5, Some(heading)) => Action::Fire { heading },
        (6 | 7, _) => match (item_in_reach(sight, here), avatar.bag.is_empty()) {
            (Some(item), true) => Action::PickUp { item },
            (_, false) => Action::Drop { slot: 0 },
            (None, true) => say(),
        },
        _ => say(),
    }
}

/// A direction in which no avatar is hit: avatars that die enter elsewhere, and the experiment wants each near its
/// home.
fn aim(sight: &BotView<'_>, here: Position, rng: &mut Rng) -> Option<Heading> {
    let others: Vec<_> = sight.objects.iter().filter(|it| *it.0 != sight.me && is_avatar(it.1)).collect();
    let mut draw = || Heading(rng.next_u64() as u16);
    (0..8).map(|_| draw()).find(|heading| {
        let (x, y) = heading.unit();
        others.iter().all(|(_, it)| {
            let (dx, dy) = here.step_to(it.motion.position_at(sight.now));
            let (ahead, aside) = (x * dx as f32 + y * dy as f32, x * dy as f32 - y * dx as f32);
            ahead < -CLEAR || CLEAR < aside.abs()
        })
    })
}

fn is_avatar(it: &VisibleObject) -> bool {
    matches!(postcard::from_bytes(&it.shown), Ok(Shown::Avatar { .. }))
}

fn say() -> Action {
    Action::Say { text: "Here I am.".to_owned() }
}

fn item_in_reach(sight: &BotView<'_>, here: Position) -> Option<ObjectId> {
    let in_reach = sight.objects.iter().find(|(_, it)| {
        here.is_within(PICK_UP_REACH, it.motion.position_at(sight.now))
            && matches!(postcard::from_bytes(&it.shown), Ok(Shown::Item(_)))
    });
    in_reach.map(|it| *it.0)
}

/// A bot that stands on a border and fires along it, north and south in turn.
pub struct SentryBot {
    north: bool,
}

impl SentryBot {
    /// A bot that begins with this direction.
    pub const fn new(north: bool) -> Self {
        Self { north }
    }
}

impl Bot for SentryBot {
    fn decide(&mut self, sight: &BotView<'_>, _: &mut Rng, wants: &mut Vec<Intent>) {
        let Some((_, _, avatar)) = own_avatar(sight) else { return };
        if sight.unanswered == 0 && avatar.ready_at.time() <= sight.now {
            let heading = if self.north { Heading::NORTH } else { Heading::NORTH.reversed() };
            wants.extend(act(&Action::Fire { heading }));
            self.north = !self.north;
        }
    }
}

/// Position of the own avatar, whether it walks, and its state; `None` while it is dead or not in the world.
pub(super) fn own_avatar(sight: &BotView<'_>) -> Option<(Position, bool, Avatar)> {
    let mine = sight.objects.get(&sight.me)?;
    let Ok(Shown::Me(avatar)) = postcard::from_bytes(&mine.shown) else { return None };
    let (here, moving) = (mine.motion.position_at(sight.now), mine.motion.velocity != Velocity::ZERO);
    (!avatar.is_dead()).then_some((here, moving, avatar))
}

pub(super) fn act(action: &Action) -> Option<Intent> {
    Some(Intent::Act(postcard::to_stdvec(action).ok()?))
}

/// Velocity and heading from one position to another; `None` if they are the same.
fn towards(here: Position, there: Position) -> Option<(Velocity, Heading)> {
    let (dx, dy) = here.step_to(there);
    let heading = Heading::along(dx, dy)?;
    let (x, y) = heading.unit();
    // A little slower than allowed: velocities are rounded.
    let speed = AVATAR_SPEED.millimetres() as f32 * 0.99;
    Some((Velocity::new((x * speed) as i32, (y * speed) as i32).ok()?, heading))
}

//! NPCs: deer that flee, hounds that follow, nests they hatch from.
//!
//! Walking about is steering, which no log keeps. A slain NPC leaves an item and a letter to some other place of
//! the world: there a nest is made, and when its time has come an NPC hatches. So their number never changes, and
//! a place where many are slain does not fill up again at once.

use crate::KosmosTx;
use crate::action::Letter;
use crate::config::{
    EDGE_MARGIN, HATCH_AFTER, HOUND_HEEL, NPC_HEALTH, NPC_PAUSE, NPC_SIGHT, NPC_SPEED, NPC_TURNS,
};
use crate::ground::{course, draw, stay_in, towards};
use crate::items::mint;
use crate::state::{Npc, NpcKind, State};
use game::Addressee;
use machine::{Rng, Span};
use space::{Heading, ObjectId, Polygon, Position, Velocity};

/// A new NPC with full health.
pub(crate) const fn born(kind: NpcKind) -> Npc {
    Npc { kind, health: NPC_HEALTH }
}

/// Lets an NPC look around and choose its way; returns the time until it does so again.
pub(crate) fn walk(world: &Polygon, tx: &mut KosmosTx<'_, '_>, name: ObjectId, npc: Npc) -> Option<Span> {
    let motion = tx.motion(name)?;
    let here = motion.position_at(tx.now());
    let wish = match nearest_avatar(tx, here) {
        Some(avatar) => react(npc.kind, here, avatar),
        None => roam(tx.chance(), motion.velocity, motion.heading),
    };
    let heading = wish.map(|it| stay_in(world, here, it, EDGE_MARGIN));
    let velocity = heading.map_or(Velocity::ZERO, |it| course(it, NPC_SPEED));
    // Why checked: steering anew at every thought would send every player a pose for nothing.
    if velocity != motion.velocity {
        tx.steer(name, velocity, heading.unwrap_or(motion.heading));
    }
    Some(NPC_PAUSE)
}

/// Removes a slain NPC: an item lies there, and a nest will be elsewhere.
pub(crate) fn slay(world: &Polygon, tx: &mut KosmosTx<'_, '_>, name: ObjectId, kind: NpcKind) {
    let Some(place) = tx.position(name) else { return };
    tx.remove(name);
    mint(tx, place);
    let nest = draw(world, tx.chance());
    tx.send(Addressee::Place(nest), &Letter::Brood(kind));
}

/// Makes a nest that hatches later.
pub(crate) fn brood(tx: &mut KosmosTx<'_, '_>, place: Position, kind: NpcKind) {
    let nest = tx.spawn(&State::Nest(kind), place);
    tx.schedule(nest, HATCH_AFTER, &Letter::Hatch);
}

/// Turns a nest into an NPC, which begins to think.
pub(crate) fn hatch(tx: &mut KosmosTx<'_, '_>, nest: ObjectId) {
    if let Some(State::Nest(kind)) = tx.get(nest) {
        tx.put(nest, &State::Npc(born(kind)));
    }
}

/// The place of the nearest living avatar in sight.
fn nearest_avatar(tx: &mut KosmosTx<'_, '_>, here: Position) -> Option<Position> {
    let near = tx.near(here, NPC_SIGHT);
    let avatars = near.into_iter().filter_map(|it| match tx.get(it)? {
        State::Avatar(avatar) if !avatar.is_dead() => tx.position(it),
        _ => None,
    });
    avatars.min_by_key(|&place| here.distance_squared(place))
}

/// The heading to run because of an avatar there; `None` is standing still.
fn react(kind: NpcKind, here: Position, avatar: Position) -> Option<Heading> {
    let there = towards(here, avatar)?;
    match kind {
        NpcKind::Deer => Some(there.reversed()),
        NpcKind::Hound => (!here.is_within(HOUND_HEEL, avatar)).then_some(there),
    }
}

/// The heading when no avatar is near: on as before, now and then a turn or a rest.
fn roam(rng: &mut Rng, velocity: Velocity, heading: Heading) -> Option<Heading> {
    if rng.below(NPC_TURNS) == 0 {
        return rng.coin().then(|| Heading(rng.next_u64() as u16));
    }
    (velocity != Velocity::ZERO).then_some(heading)
}

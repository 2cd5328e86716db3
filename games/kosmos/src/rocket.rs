//! Rockets: fired, flying, going off.
//!
//! A rocket's flight is its motion, so a flight that only goes on costs nothing but its first announcement. Its
//! zone looks every [`SWEEP_PAUSE`] which objects it met. The impact is one event: the rocket is gone, and every
//! object in the blast is hurt at once.

use crate::action::{Notice, Refusal};
use crate::config::{
    BLAST, BLAST_HEARD, COOLDOWN, DAMAGE, HIT, MUZZLE, ROCKET_FLIGHT, ROCKET_SPEED, SWEEP_PAUSE, SWEEP_REACH,
    SWEEP_WINDOW, VICTIMS_MAX,
};
use crate::death::{credit, hurt};
use crate::ground::{ahead, course, inside};
use crate::state::{Avatar, Rocket, State, Tally};
use crate::sweep::nearest_pass;
use crate::{KosmosTx, living_avatar};
use machine::{Span, Time};
use space::{Heading, Millis, Motion, ObjectId, Polygon, Position};

/// Fires a rocket, if the launcher is ready.
pub(crate) fn fire(
    world: &Polygon,
    tx: &mut KosmosTx<'_, '_>,
    actor: ObjectId,
    heading: Heading,
) -> Result<(), Refusal> {
    let mut avatar = living_avatar(tx, actor)?;
    let now = tx.now();
    is_ready(&avatar, now)?;
    avatar.ready_at = Millis::floor(now + COOLDOWN);
    let here = tx.position(actor).ok_or(Refusal::Gone)?;
    // At the edge of the world a rocket starts at its owner instead of outside.
    let muzzle = inside(world, ahead(here, heading, MUZZLE), here);
    let rocket = Rocket { owner: actor, expires_at: Millis::floor(now + ROCKET_FLIGHT) };
    tx.put(actor, &State::Avatar(avatar));
    tx.spawn_moving(&State::Rocket(rocket), muzzle, course(heading, ROCKET_SPEED), heading);
    Ok(())
}

/// Refuses unless the avatar's launcher is ready.
pub(crate) fn is_ready(avatar: &Avatar, now: Time) -> Result<(), Refusal> {
    if now < avatar.ready_at.time() { Err(Refusal::Cooldown) } else { Ok(()) }
}

/// Lets a rocket look which objects it met; returns the time until it looks again.
pub(crate) fn fly(
    world: &Polygon,
    tx: &mut KosmosTx<'_, '_>,
    name: ObjectId,
    rocket: Rocket,
) -> Option<Span> {
    let motion = tx.motion(name)?;
    let (now, expires_at) = (tx.now(), rocket.expires_at.time());
    // A look that is later than this can no longer tell which objects were there.
    if expires_at + SWEEP_WINDOW < now {
        tx.remove(name);
        return None;
    }
    // A late look must not find hits after the end of the flight.
    let until = now.min(expires_at);
    if let Some(at) = first_hit(tx, name, rocket, &motion, until) {
        blast(world, tx, name, rocket, motion.position_at(at));
        return None;
    }
    if expires_at <= now || !world.contains(motion.position_at(until)) {
        tx.remove(name);
        return None;
    }
    // The last look comes exactly at the end of the flight.
    Some(SWEEP_PAUSE.min(expires_at.since(now)))
}

/// The time at which the rocket first met an object, if any. It spares its owner, in front of whom it starts.
fn first_hit(
    tx: &mut KosmosTx<'_, '_>,
    name: ObjectId,
    rocket: Rocket,
    motion: &Motion,
    until: Time,
) -> Option<Time> {
    let near = tx.near(motion.position_at(until), SWEEP_REACH);
    let others = near.into_iter().filter(|&it| it != name && it != rocket.owner);
    let passes = others.filter_map(|it| {
        let target = tx.motion(it)?;
        let at = nearest_pass(motion, &target, SWEEP_WINDOW, until, HIT)?;
        is_target(&tx.get(it)?).then_some(at)
    });
    passes.min()
}

/// The rocket goes off: every target near is hurt, in one event.
fn blast(world: &Polygon, tx: &mut KosmosTx<'_, '_>, name: ObjectId, rocket: Rocket, centre: Position) {
    let mut toll = Tally::default();
    for (distance, victim) in victims(tx, centre) {
        hurt(world, tx, victim, rocket.owner, damage(distance), &mut toll);
    }
    credit(tx, rocket.owner, toll);
    tx.remove(name);
    tx.notify_near(centre, BLAST_HEARD, &Notice::Blast { place: centre });
}

/// The targets in the blast, the nearest first, with their distance in millimetres.
fn victims(tx: &mut KosmosTx<'_, '_>, centre: Position) -> Vec<(u64, ObjectId)> {
    let near = tx.near(centre, BLAST);
    let found = near.into_iter().filter_map(|it| {
        let place = tx.position(it)?;
        is_target(&tx.get(it)?).then_some((centre.distance_squared(place).isqrt(), it))
    });
    let mut victims: Vec<_> = found.collect();
    // Why sorted by distance, then name: the limit must cut the same ones everywhere.
    victims.sort_unstable();
    victims.truncate(VICTIMS_MAX);
    victims
}

/// True if a blast hurts this object.
const fn is_target(state: &State) -> bool {
    match state {
        State::Avatar(avatar) => !avatar.is_dead(),
        State::Npc(_) => true,
        State::Rocket(_) | State::Item(_) | State::Nest(_) | State::World(_) => false,
    }
}

/// The damage of a blast at this distance: less, the farther.
fn damage(millimetres: u64) -> u8 {
    let (most, least) = DAMAGE;
    let edge = u64::from(BLAST.millimetres());
    most - (u64::from(most - least) * millimetres.min(edge) / edge) as u8
}

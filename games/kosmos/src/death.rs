//! Being hurt, dying, rising again.
//!
//! A dead avatar stays the same object and lies where it fell: its bag falls, its course is set to a halt, which voids
//! the moves its player sent before, and it sets itself a timer. The timer's event gives it
//! its health back and lets it depart to a place drawn anew. So death is one event where it happens, rising is
//! one event, and in between the object, its timer and its player's connection are the same as ever: there
//! is no moment when the avatar is nowhere, whichever zones the two places belong to.

use crate::action::{Letter, Notice};
use crate::config::{AVATAR_HEALTH, AVATAR_POINTS, EARSHOT, NPC_POINTS, RISE_AFTER, STUN};
use crate::items::scatter;
use crate::state::{Avatar, Npc, State, Tally};
use crate::{KosmosTx, ground, npc};
use game::{Addressee, WORLD};
use space::{Millis, ObjectId, Polygon, Velocity};

/// Takes health from an avatar or NPC, and counts it in `toll` if it dies.
pub(crate) fn hurt(
    world: &Polygon,
    tx: &mut KosmosTx<'_, '_>,
    victim: ObjectId,
    by: ObjectId,
    damage: u8,
    toll: &mut Tally,
) {
    match tx.get(victim) {
        Some(State::Avatar(avatar)) if avatar.health <= damage => {
            fell(world, tx, victim, by, avatar);
            // A player who dies of their own rocket earns nothing with it.
            toll.felled += u64::from(victim != by);
        }
        Some(State::Avatar(avatar)) => stun(tx, victim, Avatar { health: avatar.health - damage, ..avatar }),
        Some(State::Npc(npc)) if npc.health <= damage => {
            npc::slay(world, tx, victim, npc.kind);
            toll.slain += 1;
        }
        Some(State::Npc(npc)) => {
            tx.put(victim, &State::Npc(Npc { health: npc.health - damage, ..npc }));
        }
        _ => (),
    }
}

/// Credits the avatar that fired, and reports the deaths to the world. An avatar out of this event's scope gets a
/// letter.
pub(crate) fn credit(tx: &mut KosmosTx<'_, '_>, owner: ObjectId, toll: Tally) {
    let points = toll.felled as u32 * AVATAR_POINTS + toll.slain as u32 * NPC_POINTS;
    if points == 0 {
        return;
    }
    // An event may write only the objects of its scope.
    if tx.objects().contains(&owner) {
        score(tx, owner, points);
    } else {
        tx.send(Addressee::Object(owner), &Letter::Scored(points));
    }
    tx.send(Addressee::World, &Letter::Count(toll));
}

/// Adds points to an avatar's score.
pub(crate) fn score(tx: &mut KosmosTx<'_, '_>, avatar: ObjectId, points: u32) {
    if let Some(State::Avatar(mut it)) = tx.get(avatar) {
        it.score = it.score.saturating_add(points);
        tx.put(avatar, &State::Avatar(it));
    }
}

/// Adds deaths to the world's tally.
pub(crate) fn count(tx: &mut KosmosTx<'_, '_>, toll: Tally) {
    if let Some(State::World(tally)) = tx.get(WORLD) {
        let sum = Tally { felled: tally.felled + toll.felled, slain: tally.slain + toll.slain };
        tx.put(WORLD, &State::World(sum));
    }
}

/// Revives a dead avatar at another place.
pub(crate) fn rise(world: &Polygon, tx: &mut KosmosTx<'_, '_>, name: ObjectId) {
    let Some(State::Avatar(avatar)) = tx.get(name) else { return };
    // Why checked: this letter must never move a living avatar.
    if avatar.is_dead() {
        tx.put(name, &State::Avatar(Avatar { health: AVATAR_HEALTH, ..avatar }));
        let place = ground::draw(world, tx.chance());
        tx.depart(name, place);
    }
}

fn fell(world: &Polygon, tx: &mut KosmosTx<'_, '_>, victim: ObjectId, by: ObjectId, mut avatar: Avatar) {
    let Some(place) = tx.position(victim) else { return };
    avatar.health = 0;
    // The bag falls, so the offer could not be kept.
    avatar.offer = None;
    scatter(world, tx, place, std::mem::take(&mut avatar.bag));
    tx.put(victim, &State::Avatar(avatar));
    halt(tx, victim);
    tx.schedule(victim, RISE_AFTER, &Letter::Rise);
    tx.notify_near(place, EARSHOT, &Notice::Felled { victim, by });
}

fn stun(tx: &mut KosmosTx<'_, '_>, victim: ObjectId, mut avatar: Avatar) {
    avatar.stunned_until = Millis::floor(tx.now() + STUN);
    tx.put(victim, &State::Avatar(avatar));
    halt(tx, victim);
}

/// Stops an object where it is. Moves that its player sent before are void.
fn halt(tx: &mut KosmosTx<'_, '_>, object: ObjectId) {
    let now = tx.now();
    let Some(motion) = tx.motion(object) else { return };
    tx.place(object, motion.position_at(now), Velocity::ZERO, motion.heading);
}

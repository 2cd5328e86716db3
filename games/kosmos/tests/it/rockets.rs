//! Tests of firing, flying and hitting.

use crate::test_world::KosmosTestWorld;
use kosmos::config::{COOLDOWN, NPC_HEALTH, ROCKET_FLIGHT, VICTIMS_MAX};
use kosmos::{Action, ItemKind, Letter, Notice, NpcKind, Refusal, State, Tally};
use machine::Span;
use space::{Heading, Motion, ObjectId, Velocity};

const EAST: Action = Action::Fire { heading: Heading::EAST };

/// Lets a rocket look every `pause`, as a zone does, until it is gone; returns the time since its start.
fn fly(test_world: &mut KosmosTestWorld, rocket: ObjectId, pause: Span) -> Span {
    let start = test_world.now;
    while test_world.get(rocket).is_some() {
        test_world.now += pause;
        let (after, product) = test_world.think(rocket);
        if test_world.get(rocket).is_some() {
            assert!(
                product.is_only_moves() && product.steered.is_empty(),
                "a flight that goes on costs nothing"
            );
            assert!(after.is_some(), "a rocket in flight looks again");
        }
    }
    test_world.now.since(start)
}

fn fired(test_world: &mut KosmosTestWorld, actor: ObjectId) -> ObjectId {
    test_world.act(actor, EAST).unwrap();
    *test_world.rockets().last().unwrap()
}

#[test]
fn a_rocket_crosses_a_walker_between_two_looks_and_hits() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let state = State::Avatar(crate::test_world::avatar("bob"));
    // Bob crosses the line of flight 20 m out at the very moment the rocket does, half way between two looks.
    let bob = test_world.put(&state, (20_000, -2_850), (0, 6_000));
    let rocket = fired(&mut test_world, ann);
    let after = fly(&mut test_world, rocket, Span::from_millis(50));
    assert_eq!(after, Span::from_millis(500));
    assert!(test_world.avatar_state(bob).health < 50, "it went off beside him");
    assert_eq!(test_world.avatar_state(ann).health, 100);
}

#[test]
fn a_walker_who_turns_between_two_looks_is_hit_all_the_same() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let bob = test_world.avatar("bob", (20_000, 900));
    let rocket = fired(&mut test_world, ann);
    // The rocket passes at 475 ms, and is too far at 450 and at 500. Bob turns at 490 ms.
    test_world.now += Span::from_millis(450);
    test_world.think(rocket);
    test_world.now += Span::from_millis(40);
    let velocity = Velocity::new(0, 6_000).unwrap();
    let turned = Motion { velocity, ..test_world.motion(bob).rebased(test_world.now) };
    test_world.table.0.get_mut(&bob).unwrap().0 = turned;
    test_world.now += Span::from_millis(10);
    test_world.think(rocket);
    assert!(test_world.avatar_state(bob).health < 100);
}

#[test]
fn a_miss_flies_on_and_is_spent() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let deer = test_world.npc(NpcKind::Deer, (20_000, 1_001));
    let rocket = fired(&mut test_world, ann);
    assert_eq!(fly(&mut test_world, rocket, Span::from_millis(50)), ROCKET_FLIGHT);
    assert!(test_world.notices.is_empty(), "it does not go off");
    assert_eq!(
        test_world.get(deer).map(|it| matches!(it, State::Npc(npc) if npc.health == NPC_HEALTH)),
        Some(true)
    );
}

#[test]
fn a_rocket_ends_at_the_edge_of_the_world() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (199_500, 0));
    let rocket = fired(&mut test_world, ann);
    assert_eq!(test_world.place(rocket), test_world.place(ann), "not even its start is outside");
    assert_eq!(fly(&mut test_world, rocket, Span::from_millis(50)), Span::from_millis(50));
}

#[test]
fn a_rocket_that_did_not_look_for_seconds_is_gone_without_a_blast() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    test_world.avatar("bob", (40_000, 0));
    let rocket = fired(&mut test_world, ann);
    assert_eq!(fly(&mut test_world, rocket, Span::from_secs(30)), Span::from_secs(30));
    assert!(test_world.notices.is_empty());
}

#[test]
fn a_blast_hurts_all_targets_near_and_less_the_farther() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let hit = test_world.avatar("hit", (20_000, 0));
    let beside = test_world.avatar("beside", (20_000, 4_000));
    let away = test_world.avatar("away", (20_000, 6_000));
    let deer = test_world.npc(NpcKind::Deer, (20_000, -500));
    let rocket = fired(&mut test_world, ann);
    fly(&mut test_world, rocket, Span::from_millis(50));
    // It goes off where the first look finds a target within a metre, here a metre in front of the one it hits.
    let health = |it| test_world.avatar_state(it).health;
    assert_eq!((health(hit), health(beside), health(away)), (48, 72, 100));
    assert_eq!(test_world.get(deer), None);
    assert_eq!(test_world.items().len(), 1, "a slain NPC leaves an item");
    // The avatar that fired is out of the impact's reach: its points come by letter.
    let letters: Vec<_> = test_world.letters.iter().map(|(_, it)| *it).collect();
    let count = Letter::Count(Tally { felled: 0, slain: 1 });
    assert_eq!(letters, [Letter::Brood(NpcKind::Deer), Letter::Scored(1), count]);
    assert!(matches!(test_world.notices[..], [(_, Notice::Blast { .. })]));
}

#[test]
fn the_worst_crowd_fits_one_event() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    for index in 0..40 {
        let it = test_world.avatar("crowd", (20_000, index));
        test_world.change(it, |it| it.health = 1);
        for _ in 0..8 {
            test_world.give(it, ItemKind::Gem);
        }
    }
    let rocket = fired(&mut test_world, ann);
    fly(&mut test_world, rocket, Span::from_millis(50));
    assert_eq!(test_world.items().len(), VICTIMS_MAX * 8);
    let points = Letter::Scored(10 * VICTIMS_MAX as u32);
    assert!(test_world.letters.iter().any(|(_, it)| *it == points));
}

#[test]
fn a_shot_too_close_hurts_its_owner() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    test_world.npc(NpcKind::Hound, (2_000, 0));
    test_world.change(ann, |it| it.health = 1);
    let rocket = fired(&mut test_world, ann);
    fly(&mut test_world, rocket, Span::from_millis(50));
    assert!(test_world.avatar_state(ann).is_dead());
    assert_eq!(test_world.avatar_state(ann).score, 1, "the hound counts, the owner's own death does not");
}

#[test]
fn a_launcher_must_cool_down() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    test_world.act(ann, EAST).unwrap();
    test_world.now = test_world.now + COOLDOWN - Span::from_millis(1);
    assert_eq!(test_world.act(ann, EAST), Err(Refusal::Cooldown));
    test_world.now += Span::from_millis(1);
    assert_eq!(test_world.act(ann, EAST), Ok(()));
    assert_eq!(test_world.rockets().len(), 2);
}

//! Firing, flying, hitting.

use crate::stage::Stage;
use kosmos::config::{COOLDOWN, NPC_HEALTH, ROCKET_FLIGHT, VICTIMS_MAX};
use kosmos::{Action, ItemKind, Letter, Notice, NpcKind, Refusal, State, Tally};
use machine::Span;
use space::{Heading, Motion, ObjectId, Velocity};

const EAST: Action = Action::Fire { heading: Heading::EAST };

/// Lets a rocket look every `pause`, as a zone does, until it is gone; says when that was after its start.
fn fly(stage: &mut Stage, rocket: ObjectId, pause: Span) -> Span {
    let start = stage.now;
    while stage.get(rocket).is_some() {
        stage.now += pause;
        let (after, product) = stage.think(rocket);
        if stage.get(rocket).is_some() {
            assert!(
                product.is_only_moves() && product.steered.is_empty(),
                "a flight that goes on costs nothing"
            );
            assert!(after.is_some(), "whoever flies looks again");
        }
    }
    stage.now.since(start)
}

fn fired(stage: &mut Stage, actor: ObjectId) -> ObjectId {
    stage.act(actor, EAST).unwrap();
    *stage.rockets().last().unwrap()
}

#[test]
fn a_rocket_crosses_a_walker_between_two_looks_and_hits() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let state = State::Avatar(crate::stage::avatar("bob"));
    // Bob crosses the line of flight 20 m out at the very moment the rocket does, half way between two looks.
    let bob = stage.put(&state, (20_000, -2_850), (0, 6_000));
    let rocket = fired(&mut stage, ann);
    let after = fly(&mut stage, rocket, Span::from_millis(50));
    assert_eq!(after, Span::from_millis(500));
    assert!(stage.body(bob).health < 50, "it went off beside him");
    assert_eq!(stage.body(ann).health, 100);
}

#[test]
fn a_walker_who_turns_between_two_looks_is_hit_all_the_same() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let bob = stage.avatar("bob", (20_000, 900));
    let rocket = fired(&mut stage, ann);
    // The rocket passes at 475 ms, and is too far at 450 and at 500. Bob turns at 490 ms.
    stage.now += Span::from_millis(450);
    stage.think(rocket);
    stage.now += Span::from_millis(40);
    let velocity = Velocity::new(0, 6_000).unwrap();
    let turned = Motion { velocity, ..stage.motion(bob).rebased(stage.now) };
    stage.table.0.get_mut(&bob).unwrap().0 = turned;
    stage.now += Span::from_millis(10);
    stage.think(rocket);
    assert!(stage.body(bob).health < 100);
}

#[test]
fn a_miss_flies_on_and_is_spent() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let deer = stage.npc(NpcKind::Deer, (20_000, 1_001));
    let rocket = fired(&mut stage, ann);
    assert_eq!(fly(&mut stage, rocket, Span::from_millis(50)), ROCKET_FLIGHT);
    assert!(stage.notices.is_empty(), "it does not go off");
    assert_eq!(
        stage.get(deer).map(|it| matches!(it, State::Npc(npc) if npc.health == NPC_HEALTH)),
        Some(true)
    );
}

#[test]
fn a_rocket_ends_at_the_edge_of_the_world() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (199_500, 0));
    let rocket = fired(&mut stage, ann);
    assert_eq!(stage.place(rocket), stage.place(ann), "not even its start is outside");
    assert_eq!(fly(&mut stage, rocket, Span::from_millis(50)), Span::from_millis(50));
}

#[test]
fn a_rocket_nobody_looked_after_for_seconds_is_gone_without_a_blast() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    stage.avatar("bob", (40_000, 0));
    let rocket = fired(&mut stage, ann);
    assert_eq!(fly(&mut stage, rocket, Span::from_secs(30)), Span::from_secs(30));
    assert!(stage.notices.is_empty());
}

#[test]
fn a_blast_hurts_everybody_near_and_less_the_farther() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let hit = stage.avatar("hit", (20_000, 0));
    let beside = stage.avatar("beside", (20_000, 4_000));
    let away = stage.avatar("away", (20_000, 6_000));
    let deer = stage.npc(NpcKind::Deer, (20_000, -500));
    let rocket = fired(&mut stage, ann);
    fly(&mut stage, rocket, Span::from_millis(50));
    // It goes off where the first look finds somebody within a metre, here a metre in front of the one it hits.
    let health = |it| stage.body(it).health;
    assert_eq!((health(hit), health(beside), health(away)), (48, 72, 100));
    assert_eq!(stage.get(deer), None);
    assert_eq!(stage.items().len(), 1, "a slain NPC leaves an item");
    // Whoever fired is out of the impact's reach: their points come by letter.
    let told: Vec<_> = stage.letters.iter().map(|(_, it)| *it).collect();
    let count = Letter::Count(Tally { felled: 0, slain: 1 });
    assert_eq!(told, [Letter::Brood(NpcKind::Deer), Letter::Scored(1), count]);
    assert!(matches!(stage.notices[..], [(_, Notice::Blast { .. })]));
}

#[test]
fn the_worst_crowd_fits_one_event() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    for index in 0..40 {
        let it = stage.avatar("crowd", (20_000, index));
        stage.change(it, |it| it.health = 1);
        for _ in 0..8 {
            stage.give(it, ItemKind::Gem);
        }
    }
    let rocket = fired(&mut stage, ann);
    fly(&mut stage, rocket, Span::from_millis(50));
    assert_eq!(stage.items().len(), VICTIMS_MAX * 8);
    let points = Letter::Scored(10 * VICTIMS_MAX as u32);
    assert!(stage.letters.iter().any(|(_, it)| *it == points));
}

#[test]
fn a_shot_too_close_hurts_whoever_fires_it() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    stage.npc(NpcKind::Hound, (2_000, 0));
    stage.change(ann, |it| it.health = 1);
    let rocket = fired(&mut stage, ann);
    fly(&mut stage, rocket, Span::from_millis(50));
    assert!(stage.body(ann).is_dead());
    assert_eq!(stage.body(ann).score, 1, "the hound counts, oneself does not");
}

#[test]
fn a_launcher_must_cool_down() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    stage.act(ann, EAST).unwrap();
    stage.now = stage.now + COOLDOWN - Span::from_millis(1);
    assert_eq!(stage.act(ann, EAST), Err(Refusal::Cooldown));
    stage.now += Span::from_millis(1);
    assert_eq!(stage.act(ann, EAST), Ok(()));
    assert_eq!(stage.rockets().len(), 2);
}

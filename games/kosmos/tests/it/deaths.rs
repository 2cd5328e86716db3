//! Falling and rising.

use crate::stage::Stage;
use game::{Addressee, Rules, WORLD};
use kosmos::config::{AVATAR_HEALTH, AVATAR_POINTS, RISE_AFTER};
use kosmos::{Action, ItemKind, Letter, Notice, Refusal, Rocket, State, Tally};
use machine::Span;
use space::{Heading, Millis, Motion, ObjectId, Velocity};

/// Bob, nearly dead and with a gem, walks into a rocket of Ann, who stands `away` millimetres from him.
fn scene(away: i32) -> (Stage, ObjectId, ObjectId) {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (-away, 0));
    let mut weak = crate::stage::avatar("bob");
    weak.health = 5;
    let bob = stage.put(&State::Avatar(weak), (0, 0), (0, 6_000));
    stage.give(bob, ItemKind::Gem);
    let rocket = Rocket { owner: ann, expires_at: Millis::floor(stage.now + Span::from_secs(1)) };
    let rocket = stage.put(&State::Rocket(rocket), (-2_000, 0), (40_000, 0));
    stage.now += Span::from_millis(50);
    stage.think(rocket);
    (stage, ann, bob)
}

fn walked(before: &Motion) -> Motion {
    Motion { sequence: before.sequence + 1, start: Millis(before.start.0 + 5_000), ..*before }
}

fn allows(stage: &Stage, mover: ObjectId, before: &Motion, after: &Motion) -> Result<(), Refusal> {
    let state = postcard::to_stdvec(&stage.get(mover).unwrap()).unwrap();
    let judged = stage.rules.allows(&state, before, after);
    judged.map_err(|refused| match refused {
        game::Refused::ByGame(bytes) => postcard::from_bytes(&bytes).unwrap(),
        fault => panic!("{fault:?}"),
    })
}

#[test]
fn who_falls_lies_still_and_has_nothing_left() {
    let (mut stage, ann, bob) = scene(10_000);
    let dead = stage.body(bob);
    assert!(dead.is_dead() && dead.bag.is_empty());
    assert_eq!(stage.items().len(), 1);
    let lies = stage.motion(bob);
    assert_eq!((lies.velocity, lies.generation), (Velocity::ZERO, 1));
    assert_eq!(allows(&stage, bob, &lies, &walked(&lies)), Err(Refusal::Dead));
    assert_eq!(stage.act(bob, Action::Fire { heading: Heading::EAST }), Err(Refusal::Dead));
    assert!(stage.notices.iter().any(|(_, it)| *it == Notice::Felled { victim: bob, by: ann }));
    assert_eq!(stage.body(ann).score, AVATAR_POINTS, "the score is part of the same event");
}

#[test]
fn the_dead_rise_elsewhere_and_their_old_moves_are_void() {
    let (mut stage, _, bob) = scene(10_000);
    let sent_before = Motion { sequence: 900, ..stage.motion(bob) };
    let grave = stage.place(bob);
    let [(whose, at, letter)] = stage.timers[..] else { panic!("{:?}", stage.timers) };
    assert_eq!((whose, at, letter), (bob, stage.now + RISE_AFTER, Letter::Rise));
    stage.now = at;
    stage.letter(Addressee::Object(bob), letter);
    assert_eq!(stage.body(bob).health, AVATAR_HEALTH);
    let risen = stage.motion(bob);
    assert!(stage.place(bob) != grave && risen.velocity == Velocity::ZERO);
    assert!(risen.is_newer_than(&sent_before));
    assert_eq!(allows(&stage, bob, &risen, &walked(&risen)), Ok(()));
    stage.letter(Addressee::Object(bob), Letter::Rise);
    assert_eq!(stage.motion(bob), risen, "the living do not rise");
}

#[test]
fn a_killer_far_away_hears_by_letter() {
    let (mut stage, ann, bob) = scene(70_000);
    assert!(stage.body(bob).is_dead());
    assert_eq!(stage.body(ann).score, 0);
    let toll = Tally { felled: 1, slain: 0 };
    let letters =
        [(Addressee::Object(ann), Letter::Scored(AVATAR_POINTS)), (Addressee::World, Letter::Count(toll))];
    assert_eq!(stage.letters, letters);
    for (to, letter) in letters {
        stage.letter(to, letter);
    }
    assert_eq!(stage.body(ann).score, AVATAR_POINTS);
    assert_eq!(stage.get(WORLD), Some(State::World(toll)));
}

#[test]
fn who_is_hurt_stands_still_for_a_moment() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (-10_000, 0));
    let bob = stage.put(&State::Avatar(crate::stage::avatar("bob")), (0, 0), (0, 6_000));
    let rocket = Rocket { owner: ann, expires_at: Millis::floor(stage.now + Span::from_secs(1)) };
    let rocket = stage.put(&State::Rocket(rocket), (-2_000, 0), (40_000, 0));
    stage.now += Span::from_millis(50);
    stage.think(rocket);
    let stands = stage.motion(bob);
    assert_eq!((stands.velocity, stands.generation), (Velocity::ZERO, 1));
    let soon = |millis| Motion { start: Millis(stands.start.0 + millis), sequence: 1, ..stands };
    assert_eq!(allows(&stage, bob, &stands, &soon(399)), Err(Refusal::Stunned));
    assert_eq!(allows(&stage, bob, &stands, &soon(400)), Ok(()));
}

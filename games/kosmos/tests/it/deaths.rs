//! Tests of falling and rising.

use crate::test_world::KosmosTestWorld;
use game::{Addressee, HostedGame, WORLD};
use kosmos::config::{AVATAR_HEALTH, AVATAR_POINTS, RISE_AFTER};
use kosmos::{Action, ItemKind, Letter, Notice, Refusal, Rocket, State, Tally};
use machine::Span;
use space::{Heading, Millis, Motion, ObjectId, Velocity};

/// Bob, nearly dead and with a gem, walks into a rocket of Ann, who stands `away` millimetres from him.
fn setup(away: i32) -> (KosmosTestWorld, ObjectId, ObjectId) {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (-away, 0));
    let mut weak = crate::test_world::avatar("bob");
    weak.health = 5;
    let bob = test_world.put(&State::Avatar(weak), (0, 0), (0, 6_000));
    test_world.give(bob, ItemKind::Gem);
    let rocket = Rocket { owner: ann, expires_at: Millis::floor(test_world.now + Span::from_secs(1)) };
    let rocket = test_world.put(&State::Rocket(rocket), (-2_000, 0), (40_000, 0));
    test_world.now += Span::from_millis(50);
    test_world.think(rocket);
    (test_world, ann, bob)
}

fn walked(before: &Motion) -> Motion {
    Motion { sequence: before.sequence + 1, start: Millis(before.start.0 + 5_000), ..*before }
}

fn allows(
    test_world: &KosmosTestWorld,
    mover: ObjectId,
    before: &Motion,
    after: &Motion,
) -> Result<(), Refusal> {
    let state = postcard::to_stdvec(&test_world.get(mover).unwrap()).unwrap();
    let verdict = test_world.rules.allows(&state, before, after);
    verdict.map_err(|refused| match refused {
        game::CallError::ByGame(bytes) => postcard::from_bytes(&bytes).unwrap(),
        fault => panic!("{fault:?}"),
    })
}

#[test]
fn a_dead_avatar_lies_still_with_an_empty_bag() {
    let (mut test_world, ann, bob) = setup(10_000);
    let dead = test_world.avatar_state(bob);
    assert!(dead.is_dead() && dead.bag.is_empty());
    assert_eq!(test_world.items().len(), 1);
    let lies = test_world.motion(bob);
    assert_eq!((lies.velocity, lies.generation), (Velocity::ZERO, 1));
    assert_eq!(allows(&test_world, bob, &lies, &walked(&lies)), Err(Refusal::Dead));
    assert_eq!(test_world.act(bob, Action::Fire { heading: Heading::EAST }), Err(Refusal::Dead));
    assert!(test_world.notices.iter().any(|(_, it)| *it == Notice::Felled { victim: bob, by: ann }));
    assert_eq!(test_world.avatar_state(ann).score, AVATAR_POINTS, "the score is part of the same event");
}

#[test]
fn dead_avatars_rise_elsewhere_and_their_old_moves_are_void() {
    let (mut test_world, _, bob) = setup(10_000);
    let sent_before = Motion { sequence: 900, ..test_world.motion(bob) };
    let grave = test_world.place(bob);
    let [(whose, at, letter)] = test_world.timers[..] else { panic!("{:?}", test_world.timers) };
    assert_eq!((whose, at, letter), (bob, test_world.now + RISE_AFTER, Letter::Rise));
    test_world.now = at;
    test_world.letter(Addressee::Object(bob), letter);
    assert_eq!(test_world.avatar_state(bob).health, AVATAR_HEALTH);
    let risen = test_world.motion(bob);
    assert!(test_world.place(bob) != grave && risen.velocity == Velocity::ZERO);
    assert!(risen.is_newer_than(&sent_before));
    assert_eq!(allows(&test_world, bob, &risen, &walked(&risen)), Ok(()));
    test_world.letter(Addressee::Object(bob), Letter::Rise);
    assert_eq!(test_world.motion(bob), risen, "the living do not rise");
}

#[test]
fn a_killer_far_away_gets_points_by_letter() {
    let (mut test_world, ann, bob) = setup(70_000);
    assert!(test_world.avatar_state(bob).is_dead());
    assert_eq!(test_world.avatar_state(ann).score, 0);
    let toll = Tally { felled: 1, slain: 0 };
    let letters =
        [(Addressee::Object(ann), Letter::Scored(AVATAR_POINTS)), (Addressee::World, Letter::Count(toll))];
    assert_eq!(test_world.letters, letters);
    for (to, letter) in letters {
        test_world.letter(to, letter);
    }
    assert_eq!(test_world.avatar_state(ann).score, AVATAR_POINTS);
    assert_eq!(test_world.get(WORLD), Some(State::World(toll)));
}

#[test]
fn a_hurt_avatar_stands_still_for_a_moment() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (-10_000, 0));
    let bob = test_world.put(&State::Avatar(crate::test_world::avatar("bob")), (0, 0), (0, 6_000));
    let rocket = Rocket { owner: ann, expires_at: Millis::floor(test_world.now + Span::from_secs(1)) };
    let rocket = test_world.put(&State::Rocket(rocket), (-2_000, 0), (40_000, 0));
    test_world.now += Span::from_millis(50);
    test_world.think(rocket);
    let stands = test_world.motion(bob);
    assert_eq!((stands.velocity, stands.generation), (Velocity::ZERO, 1));
    let soon = |millis| Motion { start: Millis(stands.start.0 + millis), sequence: 1, ..stands };
    assert_eq!(allows(&test_world, bob, &stands, &soon(399)), Err(Refusal::Stunned));
    assert_eq!(allows(&test_world, bob, &stands, &soon(400)), Ok(()));
}

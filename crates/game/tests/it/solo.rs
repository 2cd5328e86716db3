//! `Solo`: whole games, played in one value.

use crate::hive::{self, Hive, HiveAction, HiveNotice, HiveState, VERSION_1};
use crate::orchard::{Orchard, OrchardAction, OrchardRefusal, OrchardState};
use crate::probe::Probe;
use game::machine::{Span, Time};
use game::space::{Distance, Heading, ObjectId, Position, Velocity};
use game::{Hosted, HostedGame, Solo, WORLD};

#[test]
fn the_tutorial_plays() {
    crate::orchard::main();
}

#[test]
fn a_refused_gift_gives_nothing() {
    let mut world = Solo::new(Orchard, 1);
    let tree = world.objects().next().unwrap();
    let (_, ada) = world.join("Ada");
    world.walk(ada, world.position(tree).unwrap(), Distance::of_metres(2)).unwrap();
    world.act(ada, &OrchardAction::Pick { tree }).unwrap();
    let (before, motion) = (world.get(ada), world.motion(ada));
    // The apple is taken from the giver before the transaction finds that a tree cannot take it.
    assert_eq!(
        world.act(ada, &OrchardAction::Give { to: tree, apples: 1 }),
        Err(OrchardRefusal::NothingThere)
    );
    assert_eq!((world.get(ada), world.motion(ada)), (before, motion));
    assert_eq!(world.act(ada, &OrchardAction::Give { to: ada, apples: 1 }), Ok(()));
    assert_eq!(world.get(ada), Some(OrchardState::Picker { name: "Ada".to_owned(), apples: 1 }));
}

#[test]
fn a_player_walks_no_faster_than_the_game_allows() {
    let mut world = Solo::new(Orchard, 1);
    let (_, ada) = world.join("Ada");
    let east = |metres| Velocity::from_metres(metres, 0.0).unwrap();
    assert_eq!(world.steer(ada, east(3.0), Heading::EAST), Err(OrchardRefusal::TooFast));
    assert_eq!(world.steer(ada, east(2.0), Heading::EAST), Ok(()));
    world.advance(Span::from_secs(2));
    assert_eq!(world.position(ada), Some(Position::saturating(4_000, 0)));
    let far = Position::saturating(-80_000, 60_000);
    assert_eq!(world.walk(ada, far, Distance::of_metres(5)), Err(OrchardRefusal::TooFast));
    assert_eq!(world.walk(ada, far, Distance::of_metres(2)), Ok(()));
    assert_eq!(world.position(ada), Some(far));
    assert_eq!(world.motion(ada).unwrap().velocity, Velocity::ZERO);
}

#[test]
fn a_timer_fires_at_its_time_and_not_before() {
    let mut world = Solo::new(Orchard, 1);
    let tree = world.objects().next().unwrap();
    let (_, ada) = world.join("Ada");
    world.walk(ada, Position::saturating(-5_000, 0), Distance::of_metres(2)).unwrap();
    world.act(ada, &OrchardAction::Pick { tree }).unwrap();
    world.advance(Span::from_micros(59_999_999));
    assert_eq!(world.get(tree), Some(OrchardState::Tree { ripe: false }));
    world.advance(Span::from_micros(1));
    assert_eq!(world.get(tree), Some(OrchardState::Tree { ripe: true }));
}

#[test]
fn letters_reach_the_world_and_come_back() {
    let mut world = Solo::new(Hive, 1);
    let (_, near) = world.join("Near");
    let (_, far) = world.join("Far");
    world.act(near, &HiveAction::Harvest).unwrap();
    world.act(far, &HiveAction::Harvest).unwrap();
    assert_eq!(world.notices(), [], "a letter takes a while");
    world.advance(Span::from_millis(100));
    assert_eq!(world.get(WORLD), Some(HiveState::World { honey: 500 }));
    assert_eq!(
        world.notices(),
        [(near, HiveNotice::Honey { total: 250 }), (far, HiveNotice::Honey { total: 500 })]
    );
    assert_eq!(world.notices(), [], "each notice is delivered once");
}

#[test]
fn a_letter_to_a_removed_object_is_dropped() {
    let mut world = Solo::new(Hive, 1);
    let (_, keeper) = world.join("Keeper");
    world.act(keeper, &HiveAction::Ask).unwrap();
    world.leave(keeper);
    world.advance(Span::from_secs(1));
    assert_eq!((world.get(keeper), world.notices()), (None, Vec::new()));
}

#[test]
fn the_stung_wake_up_at_home_and_stay_when_they_leave() {
    let mut world = Solo::new(Hive, 1);
    let (_, one) = world.join("One");
    let (_, other) = world.join("Other");
    let generation = world.motion(other).unwrap().generation;
    world.act(one, &HiveAction::Sting { whom: other }).unwrap();
    assert_eq!(world.position(other), Some(hive::HOME));
    assert_eq!(world.motion(other).unwrap().generation, generation + 1);
    assert_eq!(world.notices(), [(other, HiveNotice::Ouch)]);
    world.leave(other);
    assert!(world.get(other).is_some());
    world.leave(one);
    assert_eq!(world.get(one), None);
}

#[test]
fn a_class_of_viewers_sees_what_it_may() {
    let mut world = Solo::new(Hive, 1);
    let (_, veiled) = world.join("Veiled");
    let (_, open) = world.join("Open");
    world.act(open, &HiveAction::Sting { whom: open }).unwrap();
    world.walk(veiled, Position::saturating(5_000, 0), Distance::of_metres(500)).unwrap();
    let count = |world: &Solo<Hive>, viewer| world.sight(viewer).len();
    assert_eq!(
        (count(&world, veiled), count(&world, open)),
        (2, 3),
        "a veil hides the bee, and WORLD is nowhere"
    );
}

#[test]
fn thinkers_think_until_they_rest_and_again_after() {
    let mut world = Solo::new(Hive, 3);
    let bee = world.objects().find(|&it| it != WORLD).unwrap();
    let mut changes = Vec::new();
    let (mut courses, mut last) = (0, world.motion(bee));
    for _ in 0..600 {
        world.advance(Span::from_millis(100));
        let tired = world.get(bee) == Some(HiveState::Bee { tired: true });
        if changes.last().is_none_or(|&(_, was)| was != tired) {
            changes.push((world.now().as_millis(), tired));
        }
        courses += usize::from(world.motion(bee) != last);
        last = world.motion(bee);
    }
    assert!(20 < courses, "{courses} courses in a minute");
    assert!(4 < changes.len(), "{changes:?}");
    for rest in changes.windows(2).filter(|pair| pair[0].1) {
        assert_eq!(rest[1].0 - rest[0].0, 5_000, "{changes:?}");
    }
}

#[test]
fn one_seed_one_history() {
    let history = |seed| {
        let mut world = Solo::new(Hive, seed);
        world.advance(Span::from_secs(20));
        let objects: Vec<ObjectId> = world.objects().collect();
        objects.into_iter().map(|it| (world.motion(it), world.get(it))).collect::<Vec<_>>()
    };
    assert_eq!(history(5), history(5));
    assert_ne!(history(5), history(6));
}

#[test]
fn time_stands_still_by_itself() {
    let mut world = Solo::new(Hive, 1);
    world.join("Keeper");
    assert_eq!(world.now(), Time::ZERO);
    world.advance(Span::from_secs(3));
    assert_eq!(world.now(), Time::from_millis(3_000));
}

#[test]
fn a_refused_join_gives_the_reason() {
    assert_eq!(Solo::new(Probe(""), 1).try_join("unwelcome"), Err("no such player".to_owned()));
}

#[test]
#[should_panic(expected = "the game panicked: execute is broken")]
fn a_fault_fails_the_test_at_hand() {
    let mut world = Solo::new(Probe("execute"), 1);
    let (_, avatar) = world.join("Ada");
    let _ = world.act(avatar, &"hello".to_owned());
}

#[test]
fn an_older_state_is_brought_up_to_date() {
    let rules = Hosted(Hive);
    assert_eq!(rules.migrate(VERSION_1, &[7, 0, 0, 0]), Ok(vec![0, 7]));
    assert!(rules.migrate(1, &[7]).unwrap_err().to_string().contains("start with --fresh"));
    let default = Hosted(Orchard).migrate(1, &[]).unwrap_err().to_string();
    assert!(default.contains("another version of the game (schema 0000000000000001)"), "{default}");
}

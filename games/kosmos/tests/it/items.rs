//! Tests of picking up and putting down.

use crate::test_world::KosmosTestWorld;
use game::Hearers;
use kosmos::config::BAG_MAX;
use kosmos::{Action, ItemKind, Notice, Refusal, Shown, State};
use space::{Distance, Position};

#[test]
fn of_two_who_reach_for_one_item_exactly_one_gets_it() {
    let mut test_world = KosmosTestWorld::new();
    let (ann, bob) = (test_world.avatar("ann", (0, 0)), test_world.avatar("bob", (2_000, 0)));
    let item = test_world.item(ItemKind::Sword, (1_000, 0));
    assert_eq!(test_world.act(bob, Action::PickUp { item }), Ok(()));
    assert_eq!(test_world.act(ann, Action::PickUp { item }), Err(Refusal::Gone));
    assert_eq!(test_world.avatar_state(bob).bag.len(), 1);
    assert!(test_world.avatar_state(ann).bag.is_empty() && test_world.items().is_empty());
}

#[test]
fn an_item_put_down_is_the_same_under_a_new_object_name() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (5_000, 0));
    let lies = test_world.item(ItemKind::Gem, (5_000, 3_000));
    let (_, item) = test_world.items()[0];
    test_world.act(ann, Action::PickUp { item: lies }).unwrap();
    test_world.act(ann, Action::Drop { slot: 0 }).unwrap();
    let (name, again) = test_world.items()[0];
    assert!(again == item && name != lies);
    assert_eq!(test_world.place(name), test_world.place(ann));
    assert_eq!(test_world.shown(name, false), Shown::Item(ItemKind::Gem));
}

#[test]
fn reach_and_bag_have_limits() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    let (near, far) =
        (test_world.item(ItemKind::Map, (3_000, 0)), test_world.item(ItemKind::Map, (3_001, 0)));
    assert_eq!(test_world.act(ann, Action::PickUp { item: far }), Err(Refusal::TooFar));
    for _ in 0..BAG_MAX {
        test_world.give(ann, ItemKind::Flask);
    }
    assert_eq!(test_world.act(ann, Action::PickUp { item: near }), Err(Refusal::Full));
    assert_eq!(test_world.act(ann, Action::Drop { slot: BAG_MAX as u8 }), Err(Refusal::NoSuchSlot));
    assert_eq!(test_world.items().len(), 2);
}

#[test]
fn a_player_who_leaves_leaves_the_items_behind() {
    let mut test_world = KosmosTestWorld::new();
    // In a corner of the world: no item may fall over its edge.
    let ann = test_world.avatar("ann", (200_000, 200_000));
    for _ in 0..BAG_MAX {
        test_world.give(ann, ItemKind::Shield);
    }
    let bag = test_world.avatar_state(ann).bag;
    test_world.leave(ann);
    assert_eq!(test_world.get(ann), None);
    assert_eq!(test_world.items().iter().map(|(_, item)| *item).collect::<Vec<_>>(), bag);
    let half = kosmos::config::WORLD_HALF.millimetres() as i32;
    assert!(
        test_world
            .items()
            .iter()
            .all(|(it, _)| test_world.place(*it).x() <= half && test_world.place(*it).y() <= half)
    );
}

#[test]
fn words_are_heard_in_earshot() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    test_world.act(ann, Action::Say { text: "hello".to_owned() }).unwrap();
    let near = Hearers::Near(Position::ORIGIN, Distance::of_metres(30));
    assert_eq!(test_world.notices, [(near, Notice::Said { who: ann, text: "hello".to_owned() })]);
}

#[test]
fn others_see_no_purse_and_no_bag() {
    let mut test_world = KosmosTestWorld::new();
    let ann = test_world.avatar("ann", (0, 0));
    test_world.give(ann, ItemKind::Gem);
    assert_eq!(test_world.shown(ann, true), Shown::Me(test_world.avatar_state(ann)));
    let seen = Shown::Avatar { name: "ann".to_owned(), health: 100, score: 0, offer: None };
    assert_eq!(test_world.shown(ann, false), seen);
    assert!(matches!(test_world.get(game::WORLD), Some(State::World(_))));
}

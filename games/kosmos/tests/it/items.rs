//! Picking up, putting down.

use crate::stage::Stage;
use game::Hearers;
use kosmos::config::BAG_MAX;
use kosmos::{Action, ItemKind, Notice, Refusal, Shown, State};
use space::{Distance, Position};

#[test]
fn of_two_who_reach_for_one_item_exactly_one_gets_it() {
    let mut stage = Stage::new();
    let (ann, bob) = (stage.avatar("ann", (0, 0)), stage.avatar("bob", (2_000, 0)));
    let item = stage.item(ItemKind::Sword, (1_000, 0));
    assert_eq!(stage.act(bob, Action::PickUp { item }), Ok(()));
    assert_eq!(stage.act(ann, Action::PickUp { item }), Err(Refusal::Gone));
    assert_eq!(stage.body(bob).bag.len(), 1);
    assert!(stage.body(ann).bag.is_empty() && stage.items().is_empty());
}

#[test]
fn what_is_put_down_is_the_same_item_under_a_new_name() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (5_000, 0));
    let lies = stage.item(ItemKind::Gem, (5_000, 3_000));
    let (_, item) = stage.items()[0];
    stage.act(ann, Action::PickUp { item: lies }).unwrap();
    stage.act(ann, Action::Drop { slot: 0 }).unwrap();
    let (name, again) = stage.items()[0];
    assert!(again == item && name != lies);
    assert_eq!(stage.place(name), stage.place(ann));
    assert_eq!(stage.shown(name, false), Shown::Item(ItemKind::Gem));
}

#[test]
fn an_arm_is_as_long_as_it_is_and_a_bag_holds_what_it_holds() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    let (near, far) = (stage.item(ItemKind::Map, (3_000, 0)), stage.item(ItemKind::Map, (3_001, 0)));
    assert_eq!(stage.act(ann, Action::PickUp { item: far }), Err(Refusal::TooFar));
    for _ in 0..BAG_MAX {
        stage.give(ann, ItemKind::Flask);
    }
    assert_eq!(stage.act(ann, Action::PickUp { item: near }), Err(Refusal::Full));
    assert_eq!(stage.act(ann, Action::Drop { slot: BAG_MAX as u8 }), Err(Refusal::NoSuchSlot));
    assert_eq!(stage.items().len(), 2);
}

#[test]
fn whoever_leaves_leaves_the_items_behind() {
    let mut stage = Stage::new();
    // In a corner of the world: nothing may fall over its edge.
    let ann = stage.avatar("ann", (200_000, 200_000));
    for _ in 0..BAG_MAX {
        stage.give(ann, ItemKind::Shield);
    }
    let bag = stage.body(ann).bag;
    stage.leave(ann);
    assert_eq!(stage.get(ann), None);
    assert_eq!(stage.items().iter().map(|(_, item)| *item).collect::<Vec<_>>(), bag);
    let half = kosmos::config::WORLD_HALF.millimetres() as i32;
    assert!(stage.items().iter().all(|(it, _)| stage.place(*it).x() <= half && stage.place(*it).y() <= half));
}

#[test]
fn words_are_heard_in_earshot() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    stage.act(ann, Action::Say { text: "hello".to_owned() }).unwrap();
    let near = Hearers::Near(Position::ORIGIN, Distance::of_metres(30));
    assert_eq!(stage.notices, [(near, Notice::Said { who: ann, text: "hello".to_owned() })]);
}

#[test]
fn others_see_no_purse_and_no_bag() {
    let mut stage = Stage::new();
    let ann = stage.avatar("ann", (0, 0));
    stage.give(ann, ItemKind::Gem);
    assert_eq!(stage.shown(ann, true), Shown::Me(stage.body(ann)));
    let seen = Shown::Avatar { name: "ann".to_owned(), health: 100, score: 0, offer: None };
    assert_eq!(stage.shown(ann, false), seen);
    assert!(matches!(stage.get(game::WORLD), Some(State::World(_))));
}

//! The sizes of the game's states and actions on the wire.

use crate::test_world::avatar;
use kosmos::{Action, Give, Item, ItemKind, Offer, Rocket, Serial, State, Want};
use serde::Serialize;
use space::{Epoch, Heading, Millis, ObjectId, ZoneId};

fn bytes(data: &impl Serialize) -> usize {
    postcard::to_stdvec(data).unwrap().len()
}

fn name(counter: u32) -> ObjectId {
    ObjectId { zone: ZoneId(12), epoch: Epoch(3), counter }
}

/// An avatar an hour into the game, with three items and some points.
fn typical() -> kosmos::Avatar {
    let mut it = avatar("Hypatia");
    (it.score, it.ready_at, it.stunned_until) = (230, Millis(3_600_000), Millis(3_590_000));
    let item = |counter| Item { serial: Serial(name(counter)), kind: ItemKind::Map };
    it.bag = [20_001, 20_002, 20_003].map(item).to_vec();
    it
}

#[test]
fn states_and_actions_are_small() {
    let mut it = typical();
    let give = Give { coins: 2, item: Some(it.bag[0]) };
    let offer = Offer { to: name(30_000), give, want: Want { coins: 0, kind: Some(ItemKind::Gem) } };
    let rocket = Rocket { owner: name(30_000), expires_at: Millis(3_600_000) };
    let sizes = [
        ("a typical avatar", bytes(&State::Avatar(it.clone())), 60),
        ("an item", bytes(&State::Item(it.bag[0])), 8),
        ("a rocket", bytes(&State::Rocket(rocket)), 12),
        ("a shot", bytes(&Action::Fire { heading: Heading(40_000) }), 4),
        ("a pick-up", bytes(&Action::PickUp { item: name(20_001) }), 8),
    ];
    it.offer = Some(offer);
    let with_offer = ("an avatar that offers", bytes(&State::Avatar(it)), 80);
    for (what, got, most) in sizes.into_iter().chain([with_offer]) {
        println!("{what}: {got} bytes");
        assert!(got <= most, "{what} takes {got} bytes, more than {most}");
    }
}

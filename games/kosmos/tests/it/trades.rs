//! Bargains: all or nothing, on the terms that were seen.

use crate::test_world::KosmosTestWorld;
use kosmos::config::{BAG_MAX, COINS_AT_START};
use kosmos::{Action, Give, Item, ItemKind, Notice, Offer, Refusal, Want};
use space::ObjectId;

/// Ann stands beside Bob with a sword, Bob has a gem.
fn setup() -> (KosmosTestWorld, ObjectId, ObjectId, Item, Item) {
    let mut test_world = KosmosTestWorld::new();
    let (ann, bob) = (test_world.avatar("ann", (0, 0)), test_world.avatar("bob", (5_000, 0)));
    let (sword, gem) = (test_world.give(ann, ItemKind::Sword), test_world.give(bob, ItemKind::Gem));
    (test_world, ann, bob, sword, gem)
}

/// The sword and a coin for a gem and three.
fn terms(to: ObjectId, sword: Item) -> Offer {
    let give = Give { coins: 1, item: Some(sword) };
    Offer { to, give, want: Want { coins: 3, kind: Some(ItemKind::Gem) } }
}

fn offer(test_world: &mut KosmosTestWorld, from: ObjectId, offer: Offer) -> Result<(), Refusal> {
    let Offer { to, give, want } = offer;
    test_world.act(from, Action::OfferTrade { to, give, want })
}

fn accept(
    test_world: &mut KosmosTestWorld,
    who: ObjectId,
    from: ObjectId,
    offer: Offer,
    pay: Option<Item>,
) -> Result<(), Refusal> {
    test_world.act(who, Action::AcceptTrade { from, offer, pay: pay.map(|it| it.serial) })
}

#[test]
fn both_get_the_agreed_goods() {
    let (mut test_world, ann, bob, sword, gem) = setup();
    let seen = terms(bob, sword);
    offer(&mut test_world, ann, seen).unwrap();
    assert_eq!(test_world.avatar_state(ann).offer, Some(seen));
    accept(&mut test_world, bob, ann, seen, Some(gem)).unwrap();
    let (one, other) = (test_world.avatar_state(ann), test_world.avatar_state(bob));
    assert_eq!((one.coins, one.bag, one.offer), (COINS_AT_START + 2, vec![gem], None));
    assert_eq!((other.coins, other.bag), (COINS_AT_START - 2, vec![sword]));
    assert_eq!(test_world.notices.last().unwrap().1, Notice::Traded { from: ann, to: bob });
    assert_eq!(
        accept(&mut test_world, bob, ann, seen, Some(gem)),
        Err(Refusal::OfferChanged),
        "once is enough"
    );
}

#[test]
fn an_offer_that_changed_meanwhile_is_no_bargain() {
    let (mut test_world, ann, bob, sword, gem) = setup();
    let seen = terms(bob, sword);
    offer(&mut test_world, ann, seen).unwrap();
    let dearer = Offer { want: Want { coins: 4, ..seen.want }, ..seen };
    offer(&mut test_world, ann, dearer).unwrap();
    assert_eq!(accept(&mut test_world, bob, ann, seen, Some(gem)), Err(Refusal::OfferChanged));
    test_world.act(ann, Action::WithdrawOffer).unwrap();
    assert_eq!(accept(&mut test_world, bob, ann, dearer, Some(gem)), Err(Refusal::OfferChanged));
    offer(&mut test_world, ann, seen).unwrap();
    test_world.act(ann, Action::Drop { slot: 0 }).unwrap();
    assert_eq!(
        accept(&mut test_world, bob, ann, seen, Some(gem)),
        Err(Refusal::OfferChanged),
        "the sword is gone"
    );
    assert_eq!(
        (test_world.avatar_state(bob).coins, test_world.avatar_state(bob).bag),
        (COINS_AT_START, vec![gem])
    );
}

#[test]
fn only_carried_goods_can_be_offered_or_paid() {
    let (mut test_world, ann, bob, sword, gem) = setup();
    let nothing = Want::default();
    let theirs = Offer { to: bob, give: Give { coins: 0, item: Some(gem) }, want: nothing };
    assert_eq!(offer(&mut test_world, ann, theirs), Err(Refusal::NotCarried));
    let fake = Item { kind: ItemKind::Gem, ..sword };
    let false_kind = Offer { to: bob, give: Give { coins: 0, item: Some(fake) }, want: nothing };
    assert_eq!(offer(&mut test_world, ann, false_kind), Err(Refusal::NotCarried), "a sword is no gem");
    let dear = Offer { to: bob, give: Give { coins: COINS_AT_START + 1, item: None }, want: nothing };
    assert_eq!(offer(&mut test_world, ann, dear), Err(Refusal::Poor));

    let seen = terms(bob, sword);
    offer(&mut test_world, ann, seen).unwrap();
    assert_eq!(accept(&mut test_world, bob, ann, seen, None), Err(Refusal::WrongItem));
    assert_eq!(accept(&mut test_world, bob, ann, seen, Some(sword)), Err(Refusal::NotCarried));
    test_world.change(bob, |it| it.coins = 2);
    assert_eq!(accept(&mut test_world, bob, ann, seen, Some(gem)), Err(Refusal::Poor));
    assert_eq!(
        (test_world.avatar_state(ann).bag, test_world.avatar_state(bob).bag),
        (vec![sword], vec![gem])
    );
}

#[test]
fn offers_are_for_one_avatar_which_is_not_the_seller() {
    let (mut test_world, ann, bob, sword, gem) = setup();
    let eve = test_world.avatar("eve", (0, 5_000));
    let seen = terms(bob, sword);
    assert_eq!(offer(&mut test_world, bob, seen), Err(Refusal::NotForYou));
    offer(&mut test_world, ann, seen).unwrap();
    assert_eq!(accept(&mut test_world, eve, ann, seen, Some(gem)), Err(Refusal::NotForYou));
    assert_eq!(accept(&mut test_world, bob, bob, seen, Some(gem)), Err(Refusal::NotForYou));
    let claimed = Offer { to: eve, ..seen };
    assert_eq!(accept(&mut test_world, eve, ann, claimed, None), Err(Refusal::OfferChanged));
}

#[test]
fn full_bags_can_be_swapped_but_not_filled() {
    let (mut test_world, ann, bob, sword, gem) = setup();
    for _ in 1..BAG_MAX {
        test_world.give(ann, ItemKind::Map);
        test_world.give(bob, ItemKind::Map);
    }
    let gift = Offer { to: bob, give: Give { coins: 0, item: Some(sword) }, want: Want::default() };
    offer(&mut test_world, ann, gift).unwrap();
    assert_eq!(accept(&mut test_world, bob, ann, gift, None), Err(Refusal::Full));
    let swap = terms(bob, sword);
    offer(&mut test_world, ann, swap).unwrap();
    assert_eq!(accept(&mut test_world, bob, ann, swap, Some(gem)), Ok(()));
}

#[test]
fn traders_stand_close() {
    let (mut test_world, ann, _, sword, _) = setup();
    let far = test_world.avatar("far", (8_001, 0));
    let seen = Offer { to: far, give: Give { coins: 0, item: Some(sword) }, want: Want::default() };
    offer(&mut test_world, ann, seen).unwrap();
    assert_eq!(accept(&mut test_world, far, ann, seen, None), Err(Refusal::TooFar));
}

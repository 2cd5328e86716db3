//! Bargains: all or nothing, on the terms that were seen.

use crate::stage::Stage;
use kosmos::config::{BAG_MAX, COINS_AT_START};
use kosmos::{Action, Give, Item, ItemKind, Notice, Offer, Refusal, Want};
use space::ObjectId;

/// Ann stands beside Bob with a sword, Bob has a gem.
fn scene() -> (Stage, ObjectId, ObjectId, Item, Item) {
    let mut stage = Stage::new();
    let (ann, bob) = (stage.avatar("ann", (0, 0)), stage.avatar("bob", (5_000, 0)));
    let (sword, gem) = (stage.give(ann, ItemKind::Sword), stage.give(bob, ItemKind::Gem));
    (stage, ann, bob, sword, gem)
}

/// The sword and a coin for a gem and three.
fn terms(to: ObjectId, sword: Item) -> Offer {
    let give = Give { coins: 1, item: Some(sword) };
    Offer { to, give, want: Want { coins: 3, kind: Some(ItemKind::Gem) } }
}

fn offer(stage: &mut Stage, from: ObjectId, offer: Offer) -> Result<(), Refusal> {
    let Offer { to, give, want } = offer;
    stage.act(from, Action::OfferTrade { to, give, want })
}

fn accept(
    stage: &mut Stage,
    who: ObjectId,
    from: ObjectId,
    offer: Offer,
    pay: Option<Item>,
) -> Result<(), Refusal> {
    stage.act(who, Action::AcceptTrade { from, offer, pay: pay.map(|it| it.serial) })
}

#[test]
fn both_get_what_was_agreed() {
    let (mut stage, ann, bob, sword, gem) = scene();
    let seen = terms(bob, sword);
    offer(&mut stage, ann, seen).unwrap();
    assert_eq!(stage.body(ann).offer, Some(seen));
    accept(&mut stage, bob, ann, seen, Some(gem)).unwrap();
    let (one, other) = (stage.body(ann), stage.body(bob));
    assert_eq!((one.coins, one.bag, one.offer), (COINS_AT_START + 2, vec![gem], None));
    assert_eq!((other.coins, other.bag), (COINS_AT_START - 2, vec![sword]));
    assert_eq!(stage.notices.last().unwrap().1, Notice::Traded { from: ann, to: bob });
    assert_eq!(accept(&mut stage, bob, ann, seen, Some(gem)), Err(Refusal::OfferChanged), "once is enough");
}

#[test]
fn an_offer_that_changed_meanwhile_is_no_bargain() {
    let (mut stage, ann, bob, sword, gem) = scene();
    let seen = terms(bob, sword);
    offer(&mut stage, ann, seen).unwrap();
    let dearer = Offer { want: Want { coins: 4, ..seen.want }, ..seen };
    offer(&mut stage, ann, dearer).unwrap();
    assert_eq!(accept(&mut stage, bob, ann, seen, Some(gem)), Err(Refusal::OfferChanged));
    stage.act(ann, Action::WithdrawOffer).unwrap();
    assert_eq!(accept(&mut stage, bob, ann, dearer, Some(gem)), Err(Refusal::OfferChanged));
    offer(&mut stage, ann, seen).unwrap();
    stage.act(ann, Action::Drop { slot: 0 }).unwrap();
    assert_eq!(
        accept(&mut stage, bob, ann, seen, Some(gem)),
        Err(Refusal::OfferChanged),
        "the sword is gone"
    );
    assert_eq!((stage.body(bob).coins, stage.body(bob).bag), (COINS_AT_START, vec![gem]));
}

#[test]
fn only_what_one_has_can_be_offered_or_paid() {
    let (mut stage, ann, bob, sword, gem) = scene();
    let nothing = Want::default();
    let theirs = Offer { to: bob, give: Give { coins: 0, item: Some(gem) }, want: nothing };
    assert_eq!(offer(&mut stage, ann, theirs), Err(Refusal::NotCarried));
    let fake = Item { kind: ItemKind::Gem, ..sword };
    let false_kind = Offer { to: bob, give: Give { coins: 0, item: Some(fake) }, want: nothing };
    assert_eq!(offer(&mut stage, ann, false_kind), Err(Refusal::NotCarried), "a sword is no gem");
    let dear = Offer { to: bob, give: Give { coins: COINS_AT_START + 1, item: None }, want: nothing };
    assert_eq!(offer(&mut stage, ann, dear), Err(Refusal::Poor));

    let seen = terms(bob, sword);
    offer(&mut stage, ann, seen).unwrap();
    assert_eq!(accept(&mut stage, bob, ann, seen, None), Err(Refusal::WrongItem));
    assert_eq!(accept(&mut stage, bob, ann, seen, Some(sword)), Err(Refusal::NotCarried));
    stage.change(bob, |it| it.coins = 2);
    assert_eq!(accept(&mut stage, bob, ann, seen, Some(gem)), Err(Refusal::Poor));
    assert_eq!((stage.body(ann).bag, stage.body(bob).bag), (vec![sword], vec![gem]));
}

#[test]
fn offers_are_for_somebody_and_nobody_trades_alone() {
    let (mut stage, ann, bob, sword, gem) = scene();
    let eve = stage.avatar("eve", (0, 5_000));
    let seen = terms(bob, sword);
    assert_eq!(offer(&mut stage, bob, seen), Err(Refusal::NotForYou));
    offer(&mut stage, ann, seen).unwrap();
    assert_eq!(accept(&mut stage, eve, ann, seen, Some(gem)), Err(Refusal::NotForYou));
    assert_eq!(accept(&mut stage, bob, bob, seen, Some(gem)), Err(Refusal::NotForYou));
    let claimed = Offer { to: eve, ..seen };
    assert_eq!(accept(&mut stage, eve, ann, claimed, None), Err(Refusal::OfferChanged));
}

#[test]
fn full_bags_can_be_swapped_but_not_filled() {
    let (mut stage, ann, bob, sword, gem) = scene();
    for _ in 1..BAG_MAX {
        stage.give(ann, ItemKind::Map);
        stage.give(bob, ItemKind::Map);
    }
    let gift = Offer { to: bob, give: Give { coins: 0, item: Some(sword) }, want: Want::default() };
    offer(&mut stage, ann, gift).unwrap();
    assert_eq!(accept(&mut stage, bob, ann, gift, None), Err(Refusal::Full));
    let swap = terms(bob, sword);
    offer(&mut stage, ann, swap).unwrap();
    assert_eq!(accept(&mut stage, bob, ann, swap, Some(gem)), Ok(()));
}

#[test]
fn traders_stand_close() {
    let (mut stage, ann, _, sword, _) = scene();
    let far = stage.avatar("far", (8_001, 0));
    let seen = Offer { to: far, give: Give { coins: 0, item: Some(sword) }, want: Want::default() };
    offer(&mut stage, ann, seen).unwrap();
    assert_eq!(accept(&mut stage, far, ann, seen, None), Err(Refusal::TooFar));
}

//! Bargains between two players: both get the agreed goods, or nothing happens.
//!
//! An offer stands in the state of the avatar that makes it, in public. Accepting repeats the whole offer, and is
//! refused unless it still stands exactly so: the seller cannot change the terms while the buyer clicks. The swap is
//! one event over both avatars. Offering locks nothing: goods that were offered can still be lost, and then
//! there is no bargain.

use crate::action::{Notice, Refusal};
use crate::config::{BAG_MAX, EARSHOT, TRADE_REACH};
use crate::state::{Avatar, Item, ItemKind, Serial, State};
use crate::{KosmosTx, living_avatar, near};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::ObjectId;

/// A bargain offered to one avatar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Offer {
    /// The avatar that may accept it.
    pub to: ObjectId,
    /// The goods that it gets.
    pub give: Give,
    /// The goods that it pays.
    pub want: Want,
}

/// The goods that are given: this very item, and coins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Give {
    /// Number of coins that are given.
    pub coins: u32,
    /// The item given, if any.
    pub item: Option<Item>,
}

/// The goods that are wanted: an item of a kind, and coins. Bags are private, so no item of another can be named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Want {
    /// Number of coins that are wanted.
    pub coins: u32,
    /// The kind of item wanted, if any.
    pub kind: Option<ItemKind>,
}

/// Stores an offer, in place of an earlier one.
pub(crate) fn offer(tx: &mut KosmosTx<'_, '_>, actor: ObjectId, offer: Offer) -> Result<(), Refusal> {
    let mut avatar = living_avatar(tx, actor)?;
    if offer.to == actor {
        return Err(Refusal::NotForYou);
    }
    // Why on a clone: this only checks that the goods are there.
    take(&mut avatar.clone(), offer.give.coins, offer.give.item.map(|it| it.serial))?;
    if offer.give.item.is_some_and(|item| !avatar.bag.contains(&item)) {
        return Err(Refusal::NotCarried);
    }
    avatar.offer = Some(offer);
    tx.put(actor, &State::Avatar(avatar));
    Ok(())
}

/// Takes an offer back. Without one it does nothing.
pub(crate) fn withdraw(tx: &mut KosmosTx<'_, '_>, actor: ObjectId) -> Result<(), Refusal> {
    let mut avatar = living_avatar(tx, actor)?;
    if avatar.offer.take().is_some() {
        tx.put(actor, &State::Avatar(avatar));
    }
    Ok(())
}

/// Carries a bargain out, if the offer still stands exactly as `seen`.
pub(crate) fn accept(
    tx: &mut KosmosTx<'_, '_>,
    actor: ObjectId,
    from: ObjectId,
    seen: Offer,
    pay: Option<Serial>,
) -> Result<(), Refusal> {
    let mut buyer = living_avatar(tx, actor)?;
    // Why refused: with one avatar on both sides, the second write would undo the first.
    if seen.to != actor || from == actor {
        return Err(Refusal::NotForYou);
    }
    let Some(State::Avatar(mut seller)) = tx.get(from) else { return Err(Refusal::Gone) };
    near(tx, actor, from, TRADE_REACH)?;
    if seller.offer != Some(seen) {
        return Err(Refusal::OfferChanged);
    }
    // Nothing is written before this: a refusal leaves both avatars as they are.
    swap(&mut seller, &mut buyer, seen, pay)?;
    seller.offer = None;
    tx.put(from, &State::Avatar(seller));
    tx.put(actor, &State::Avatar(buyer));
    if let Some(place) = tx.position(actor) {
        tx.notify_near(place, EARSHOT, &Notice::Traded { from, to: actor });
    }
    Ok(())
}

/// Hands the goods over. Both bags give before they get, so that full bags can be swapped.
fn swap(seller: &mut Avatar, buyer: &mut Avatar, terms: Offer, pay: Option<Serial>) -> Result<(), Refusal> {
    let Offer { give, want, .. } = terms;
    // Why another reason: the seller's lack of goods is no mistake of the buyer.
    let given = take(seller, give.coins, give.item.map(|it| it.serial)).map_err(|_| Refusal::OfferChanged)?;
    let paid = take(buyer, want.coins, pay)?;
    if paid.map(|it| it.kind) != want.kind {
        return Err(Refusal::WrongItem);
    }
    put(buyer, give.coins, given)?;
    put(seller, want.coins, paid)
}

fn take(avatar: &mut Avatar, coins: u32, serial: Option<Serial>) -> Result<Option<Item>, Refusal> {
    avatar.coins = avatar.coins.checked_sub(coins).ok_or(Refusal::Poor)?;
    let Some(serial) = serial else { return Ok(None) };
    let slot = avatar.bag.iter().position(|item| item.serial == serial);
    slot.map(|slot| Some(avatar.bag.remove(slot))).ok_or(Refusal::NotCarried)
}

fn put(avatar: &mut Avatar, coins: u32, item: Option<Item>) -> Result<(), Refusal> {
    avatar.coins = avatar.coins.checked_add(coins).ok_or(Refusal::Full)?;
    avatar.bag.extend(item);
    if BAG_MAX < avatar.bag.len() { Err(Refusal::Full) } else { Ok(()) }
}

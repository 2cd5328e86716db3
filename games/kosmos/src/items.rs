//! Items: lying about, picked up, put down.
//!
//! A carried item is no object: it is in its carrier's bag, and changes zones with it. Picking up removes the
//! object and writes the carrier, putting down does the reverse, each in one event. So of two players who reach for one
//! item exactly one gets it (Assiotis and Tzanov, section 3.4): the other's event finds no object there.

use crate::action::Refusal;
use crate::config::{BAG_MAX, PICK_UP_REACH, SCATTER};
use crate::ground::{ahead, inside};
use crate::state::{Avatar, Item, ItemKind, Serial, State};
use crate::{KosmosTx, living_avatar, near};
use game::WORLD;
use space::{Heading, ObjectId, Polygon, Position};

/// Takes an item from the ground.
pub(crate) fn pick_up(tx: &mut KosmosTx<'_, '_>, actor: ObjectId, object: ObjectId) -> Result<(), Refusal> {
    let mut avatar = living_avatar(tx, actor)?;
    let Some(State::Item(item)) = tx.get(object) else { return Err(Refusal::Gone) };
    near(tx, actor, object, PICK_UP_REACH)?;
    has_room(&avatar)?;
    avatar.bag.push(item);
    tx.remove(object);
    tx.put(actor, &State::Avatar(avatar));
    Ok(())
}

/// Puts an item down where its carrier stands.
pub(crate) fn put_down(tx: &mut KosmosTx<'_, '_>, actor: ObjectId, slot: u8) -> Result<(), Refusal> {
    let mut avatar = living_avatar(tx, actor)?;
    let slot = slot_of(&avatar, slot)?;
    let item = avatar.bag.remove(slot);
    let place = tx.position(actor).ok_or(Refusal::Gone)?;
    tx.put(actor, &State::Avatar(avatar));
    tx.spawn(&State::Item(item), place);
    Ok(())
}

/// Refuses unless an avatar's bag has room for another item.
pub(crate) fn has_room(avatar: &Avatar) -> Result<(), Refusal> {
    if avatar.bag.len() < BAG_MAX { Ok(()) } else { Err(Refusal::Full) }
}

/// The place of a slot in an avatar's bag. Refuses an empty one.
pub(crate) fn slot_of(avatar: &Avatar, slot: u8) -> Result<usize, Refusal> {
    let slot = usize::from(slot);
    if slot < avatar.bag.len() { Ok(slot) } else { Err(Refusal::NoSuchSlot) }
}

/// Makes a new item. No other function brings items into the world.
pub(crate) fn mint(tx: &mut KosmosTx<'_, '_>, place: Position) {
    let kind = ItemKind::ALL[tx.chance().below(ItemKind::ALL.len() as u64) as usize];
    // Why written twice: its serial is the name of this object, which is known only after the spawn.
    let name = tx.spawn(&State::Item(Item { serial: Serial(WORLD), kind }), place);
    tx.put(name, &State::Item(Item { serial: Serial(name), kind }));
}

/// Lets items fall in a ring, so that each can be seen and clicked.
pub(crate) fn scatter(world: &Polygon, tx: &mut KosmosTx<'_, '_>, place: Position, items: Vec<Item>) {
    // An eighth of a turn is 2^13.
    for (turn, item) in (0..).map(|eighth: u16| Heading(eighth << 13)).zip(items) {
        tx.spawn(&State::Item(item), inside(world, ahead(place, turn, SCATTER), place));
    }
}

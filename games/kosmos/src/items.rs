//! Items: lying about, picked up, put down.
//!
//! What is carried is no object: it is in its carrier's bag, and changes zones with it. Picking up removes the
//! object and writes the carrier, putting down does the reverse, each in one event. So of two who reach for one
//! item exactly one gets it (Assiotis and Tzanov, section 3.4): the other's event finds nothing there.

use crate::action::Refusal;
use crate::config::{BAG_MAX, PICK_UP_REACH, STREW};
use crate::ground::{ahead, inside};
use crate::state::{Item, ItemKind, Serial, State};
use crate::{Tx, living, near};
use game::WORLD;
use space::{Heading, ObjectId, Polygon, Position};

/// Takes an item from the ground.
pub(crate) fn pick_up(tx: &mut Tx<'_, '_>, actor: ObjectId, object: ObjectId) -> Result<(), Refusal> {
    let mut avatar = living(tx, actor)?;
    let Some(State::Item(item)) = tx.get(object) else { return Err(Refusal::Gone) };
    near(tx, actor, object, PICK_UP_REACH)?;
    if BAG_MAX <= avatar.bag.len() {
        return Err(Refusal::Full);
    }
    avatar.bag.push(item);
    tx.remove(object);
    tx.put(actor, &State::Avatar(avatar));
    Ok(())
}

/// Puts an item down where its carrier stands.
pub(crate) fn put_down(tx: &mut Tx<'_, '_>, actor: ObjectId, slot: u8) -> Result<(), Refusal> {
    let mut avatar = living(tx, actor)?;
    let slot = usize::from(slot);
    if avatar.bag.len() <= slot {
        return Err(Refusal::NoSuchSlot);
    }
    let item = avatar.bag.remove(slot);
    let place = tx.position(actor).ok_or(Refusal::Gone)?;
    tx.put(actor, &State::Avatar(avatar));
    tx.spawn(&State::Item(item), place);
    Ok(())
}

/// Makes a new item. The only way items come into the world.
pub(crate) fn mint(tx: &mut Tx<'_, '_>, place: Position) {
    let kind = ItemKind::ALL[tx.chance().below(ItemKind::ALL.len() as u64) as usize];
    // Its serial is the name of this object, which is known only once it is there.
    let name = tx.spawn(&State::Item(Item { serial: Serial(WORLD), kind }), place);
    tx.put(name, &State::Item(Item { serial: Serial(name), kind }));
}

/// Lets items fall in a ring, so that each can be seen and clicked.
pub(crate) fn strew(world: &Polygon, tx: &mut Tx<'_, '_>, place: Position, items: Vec<Item>) {
    for (turn, item) in (0..).map(|eighth: u16| Heading(eighth << 13)).zip(items) {
        tx.spawn(&State::Item(item), inside(world, ahead(place, turn, STREW), place));
    }
}

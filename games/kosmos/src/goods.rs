//! The goods that must neither appear nor vanish, for checkers of a world.
//!
//! - Items are made when a new world is filled, and one by every NPC that is slain. No event destroys an item:
//!   items that their carrier loses or leaves behind lie on the ground.
//! - Coins are made when a player joins, `COINS_AT_START` each, and gone when a player leaves, with the avatar.
//! - Every other event only hands them on. So over all objects the serials are unique and
//!   never disappear, and the coins are those of the players present.

use crate::state::{Avatar, Serial, State};

/// The coins and items in an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KosmosGoods {
    /// Number of coins it holds.
    pub coins: u64,
    /// The serials of its items: the one it is, or those it carries.
    pub items: Vec<Serial>,
}

/// The goods in one object. Add them up over all objects to check a world.
pub fn conserved(state: &State) -> KosmosGoods {
    match state {
        State::Avatar(Avatar { coins, bag, .. }) => {
            KosmosGoods { coins: u64::from(*coins), items: bag.iter().map(|item| item.serial).collect() }
        }
        State::Item(item) => KosmosGoods { coins: 0, items: vec![item.serial] },
        State::Rocket(_) | State::Npc(_) | State::Nest(_) | State::World(_) => KosmosGoods::default(),
    }
}

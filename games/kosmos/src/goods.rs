//! What must neither appear nor vanish, for whoever checks a world.
//!
//! - Items are made when a new world is filled, and one by every NPC that is slain. Nothing destroys an item:
//!   what its carrier loses or leaves behind lies on the ground.
//! - Coins are made when a player joins, `COINS_AT_START` each, and gone when a player leaves, with the avatar.
//! - Everything else only hands them on, within one event. So over all objects the serials are unique and
//!   never disappear, and the coins are those of the players present.

use crate::state::{Avatar, Serial, State};

/// What an object holds of lasting worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goods {
    /// Coins.
    pub coins: u64,
    /// Items: the one it is, or those it carries.
    pub items: Vec<Serial>,
}

/// The goods in one object. Add them up over all objects to check a world.
pub fn conserved(state: &State) -> Goods {
    match state {
        State::Avatar(Avatar { coins, bag, .. }) => {
            Goods { coins: u64::from(*coins), items: bag.iter().map(|item| item.serial).collect() }
        }
        State::Item(item) => Goods { coins: 0, items: vec![item.serial] },
        State::Rocket(_) | State::Npc(_) | State::Nest(_) | State::World(_) => Goods::default(),
    }
}

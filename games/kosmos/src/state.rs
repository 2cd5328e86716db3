//! The objects of the world, and what players may see of them.

use crate::trade::Offer;
use game::Viewer;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Millis, ObjectId};

/// The state of an object, by kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum State {
    /// The avatar of a player.
    Avatar(Avatar),
    /// A rocket between launch and impact.
    Rocket(Rocket),
    /// An item on the ground. Carried items are in their carrier's bag instead.
    Item(Item),
    /// An NPC, which the game moves.
    Npc(Npc),
    /// A place where an NPC will hatch.
    Nest(NpcKind),
    /// The world as a whole.
    World(Tally),
}

/// The avatar of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Avatar {
    /// The name of the player.
    pub name: String,
    /// Remaining health, up to `AVATAR_HEALTH`; 0 is dead.
    pub health: u8,
    /// Points that it has earned so far.
    pub score: u32,
    /// Number of coins in the purse.
    pub coins: u32,
    /// The carried items, at most `BAG_MAX`.
    pub bag: Vec<Item>,
    /// The standing offer, if there is one.
    pub offer: Option<Offer>,
    /// The time from which it may fire again.
    pub ready_at: Millis,
    /// The time until which it cannot walk.
    pub stunned_until: Millis,
}

impl Avatar {
    /// True if the avatar has no health left.
    pub const fn is_dead(&self) -> bool {
        self.health == 0
    }
}

/// A rocket between launch and impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Rocket {
    /// The avatar that fired it.
    pub owner: ObjectId,
    /// The time at which it is spent. Not counted from its motion's start, which a change of zone renews.
    pub expires_at: Millis,
}

/// An item that can be carried. There is one of each serial, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Item {
    /// The identity of the item.
    pub serial: Serial,
    /// The kind of the item.
    pub kind: ItemKind,
}

/// An item's identity: the name of the first object that was this item. Each time the item is put down the object
/// gets a new name, the item never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct Serial(pub ObjectId);

/// Kinds of items. They differ in name and picture only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub enum ItemKind {
    /// A sword, without effect on fights.
    Sword,
    /// A shield, without effect on fights.
    Shield,
    /// A gem, without effect on score.
    Gem,
    /// A map, without effect on sight.
    Map,
    /// A flask, without effect on health.
    Flask,
}

impl ItemKind {
    /// All kinds of items, in order.
    pub const ALL: [Self; 5] = [Self::Sword, Self::Shield, Self::Gem, Self::Map, Self::Flask];
}

/// An NPC: an object that the game itself moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Npc {
    /// The kind of the NPC.
    pub kind: NpcKind,
    /// Remaining health, up to `NPC_HEALTH`.
    pub health: u8,
}

/// Kinds of NPCs, by their behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub enum NpcKind {
    /// A deer, which runs from avatars.
    Deer,
    /// A hound, which runs after avatars.
    Hound,
}

/// The deaths that the world has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Tally {
    /// Number of avatars felled so far.
    pub felled: u64,
    /// Number of NPCs slain so far.
    pub slain: u64,
}

/// The part of an object that a player may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Shown {
    /// The player's own avatar, all of it.
    Me(Avatar),
    /// The avatar of another player.
    Avatar {
        /// The name of the player.
        name: String,
        /// Remaining health; 0 is dead.
        health: u8,
        /// Points that it has earned so far.
        score: u32,
        /// The standing offer. Offers are made in public: every player near can see that a bargain
        /// is fair, and the avatar it is for needs no message of its own.
        offer: Option<Offer>,
    },
    /// A rocket between launch and impact.
    Rocket {
        /// The avatar that fired it.
        owner: ObjectId,
    },
    /// An item on the ground, by its kind.
    Item(ItemKind),
    /// An NPC, which the game moves.
    Npc(Npc),
    /// A place where an NPC will hatch.
    Nest(NpcKind),
    /// The world as a whole.
    World(Tally),
}

/// The part of `state` that a viewer sees.
pub(crate) fn shown(state: &State, to: Viewer) -> Shown {
    match state {
        State::Avatar(avatar) if to.owns => Shown::Me(avatar.clone()),
        State::Avatar(Avatar { name, health, score, offer, .. }) => {
            Shown::Avatar { name: name.clone(), health: *health, score: *score, offer: *offer }
        }
        State::Rocket(rocket) => Shown::Rocket { owner: rocket.owner },
        State::Item(item) => Shown::Item(item.kind),
        State::Npc(npc) => Shown::Npc(*npc),
        State::Nest(kind) => Shown::Nest(*kind),
        State::World(tally) => Shown::World(*tally),
    }
}

//! What there is: the objects of the world, and what players may see of them.

use crate::trade::Offer;
use game::Viewer;
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Millis, ObjectId};

/// What an object is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum State {
    /// A player's body.
    Avatar(Avatar),
    /// On its way.
    Rocket(Rocket),
    /// Lies on the ground. What is carried is in its carrier's bag instead.
    Item(Item),
    /// Lives by itself.
    Npc(Npc),
    /// Where an NPC will hatch.
    Nest(NpcKind),
    /// The world as a whole.
    World(Tally),
}

/// A player's body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Avatar {
    /// What the player is called.
    pub name: String,
    /// What it can still take; 0 is dead.
    pub health: u8,
    /// Points.
    pub score: u32,
    /// Its purse.
    pub coins: u32,
    /// What it carries.
    pub bag: Vec<Item>,
    /// What it offers, and to whom.
    pub offer: Option<Offer>,
    /// When it may fire again.
    pub ready_at: Millis,
    /// Until when it cannot walk.
    pub stunned_until: Millis,
}

impl Avatar {
    /// Whether it lies dead.
    pub const fn is_dead(&self) -> bool {
        self.health == 0
    }
}

/// A rocket on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Rocket {
    /// Who fired it.
    pub owner: ObjectId,
    /// When it is spent. Not counted from its motion's start: a change of zone tells motions anew.
    pub expires_at: Millis,
}

/// A thing that can be carried. There is one of each serial, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Item {
    /// Which one.
    pub serial: Serial,
    /// What it is.
    pub kind: ItemKind,
}

/// An item's identity: the name of the first object that was it. Objects get a new name each time the item is
/// put down, items never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub struct Serial(pub ObjectId);

/// Kinds of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub enum ItemKind {
    /// To swing.
    Sword,
    /// To hide behind.
    Shield,
    /// To look at.
    Gem,
    /// To find one's way.
    Map,
    /// To drink from.
    Flask,
}

impl ItemKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sword, Self::Shield, Self::Gem, Self::Map, Self::Flask];
}

/// Something that lives by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Npc {
    /// What it is.
    pub kind: NpcKind,
    /// What it can still take.
    pub health: u8,
}

/// Kinds of NPCs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema)]
pub enum NpcKind {
    /// Runs from avatars.
    Deer,
    /// Runs after avatars.
    Hound,
}

/// What the world remembers as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub struct Tally {
    /// Avatars felled so far.
    pub felled: u64,
    /// NPCs slain so far.
    pub slain: u64,
}

/// What a player may see of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Shown {
    /// The player's own avatar, all of it.
    Me(Avatar),
    /// Somebody else.
    Avatar {
        /// What the player is called.
        name: String,
        /// What it can still take; 0 is dead.
        health: u8,
        /// Points.
        score: u32,
        /// What it offers, and to whom. Offers are made in public: whoever is near can see that a bargain
        /// is fair, and those it is for need no message of their own.
        offer: Option<Offer>,
    },
    /// On its way.
    Rocket {
        /// Who fired it.
        owner: ObjectId,
    },
    /// Lies there.
    Item(ItemKind),
    /// Lives by itself.
    Npc(Npc),
    /// Where an NPC will hatch.
    Nest(NpcKind),
    /// The world as a whole.
    World(Tally),
}

/// What a viewer sees of `state`.
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

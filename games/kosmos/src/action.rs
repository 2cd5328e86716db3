//! Actions of players, notices to players, and letters to other places and later times.

use crate::config::TEXT_MAX;
use crate::state::{NpcKind, Serial, Tally};
use crate::trade::{Give, Offer, Want};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Heading, ObjectId, Position};
use thiserror::Error;

/// An action that a player asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Action {
    /// Fire a rocket from where the avatar stands.
    Fire {
        /// The direction of the flight.
        heading: Heading,
    },
    /// Take an item from the ground into the bag.
    PickUp {
        /// The object that lies on the ground.
        item: ObjectId,
    },
    /// Put an item of the bag on the ground.
    Drop {
        /// The item's place in the bag, from 0.
        slot: u8,
    },
    /// Offer a bargain to another avatar. It replaces an earlier offer.
    OfferTrade {
        /// The avatar that may accept.
        to: ObjectId,
        /// The goods that the other avatar gets.
        give: Give,
        /// The goods that the other avatar pays.
        want: Want,
    },
    /// Take the standing offer back, if there is one.
    WithdrawOffer,
    /// Accept another avatar's offer, exactly as it was seen.
    AcceptTrade {
        /// The avatar that made the offer.
        from: ObjectId,
        /// The offer as the player saw it.
        offer: Offer,
        /// The item to pay with, if one is wanted.
        pay: Option<Serial>,
    },
    /// Say something to all players in earshot.
    Say {
        /// The text, at most `TEXT_MAX` bytes.
        text: String,
    },
}

/// News for players, besides the objects that they see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Notice {
    /// A rocket went off near the player.
    Blast {
        /// The centre of the blast.
        place: Position,
    },
    /// An avatar died of a rocket.
    Felled {
        /// The avatar that has died.
        victim: ObjectId,
        /// The avatar that fired the rocket.
        by: ObjectId,
    },
    /// An avatar said something in earshot.
    Said {
        /// The avatar that said it.
        who: ObjectId,
        /// The text that it said.
        text: String,
    },
    /// Two avatars made a bargain near the player.
    Traded {
        /// The avatar that had offered it.
        from: ObjectId,
        /// The avatar that accepted it.
        to: ObjectId,
    },
}

/// The reasons why an action or a move is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema, Error)]
pub enum Refusal {
    /// The other object is out of reach.
    #[error("too far away: go nearer")]
    TooFar,
    /// Another player was quicker, or the object never existed.
    #[error("it is gone")]
    Gone,
    /// The pause after the last shot is not over.
    #[error("not loaded yet: wait half a second between shots")]
    Cooldown,
    /// A bag or purse would run over.
    #[error("no room in the bag: drop something first")]
    Full,
    /// The bag has no item in that slot.
    #[error("that slot of the bag is empty")]
    NoSuchSlot,
    /// The player does not have the goods.
    #[error("you do not carry that")]
    NotCarried,
    /// The player does not have that many coins.
    #[error("not enough coins")]
    Poor,
    /// The offer no longer stands as it was seen.
    #[error("the offer has changed: look again")]
    OfferChanged,
    /// The offer is for another avatar.
    #[error("that offer is not for you")]
    NotForYou,
    /// The item that was paid is of another kind than the offer wants.
    #[error("that is not what the offer asks for")]
    WrongItem,
    /// A dead avatar can do nothing.
    #[error("you are dead: you rise again in a moment")]
    Dead,
    /// The avatar was hurt a moment ago.
    #[error("you are stunned: wait a moment")]
    Stunned,
    /// The move is faster than an avatar can go.
    #[error("too fast: an avatar cannot walk like that")]
    TooFast,
    /// The text is longer than `TEXT_MAX` bytes.
    #[error("too long: say it in at most {TEXT_MAX} bytes")]
    TooLong,
    /// The object is no avatar: only avatars act and are moved by players.
    #[error("that is no avatar")]
    NoAvatar,
}

/// A letter of an event to another place, an object, the world or a later time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Letter {
    /// To a place: fill this rectangle of a new world.
    Settle {
        /// The south-western corner of the rectangle.
        low: Position,
        /// The north-eastern corner of the rectangle.
        high: Position,
    },
    /// To a place: an NPC of this kind died elsewhere, make a nest.
    Brood(NpcKind),
    /// To a nest, as a timer: hatch.
    Hatch,
    /// To a dead avatar, as a timer: rise.
    Rise,
    /// To an avatar: its rocket earned points far away.
    Scored(u32),
    /// To the world: add these deaths.
    Count(Tally),
}

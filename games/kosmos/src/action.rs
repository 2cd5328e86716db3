//! What is said: by players to the world, by the world to players, and by events to elsewhere and later.

use crate::config::TEXT_MAX;
use crate::state::{NpcKind, Serial, Tally};
use crate::trade::{Give, Offer, Want};
use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use space::{Heading, ObjectId, Position};
use thiserror::Error;

/// What a player can want.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Action {
    /// Fire a rocket.
    Fire {
        /// Which way.
        heading: Heading,
    },
    /// Take an item from the ground.
    PickUp {
        /// The object that lies there.
        item: ObjectId,
    },
    /// Put an item down.
    Drop {
        /// Its place in the bag, from 0.
        slot: u8,
    },
    /// Offer a bargain to somebody. It replaces an earlier offer.
    OfferTrade {
        /// To whom.
        to: ObjectId,
        /// What they get.
        give: Give,
        /// What they pay.
        want: Want,
    },
    /// Take an offer back.
    WithdrawOffer,
    /// Accept somebody's offer, exactly as it was seen.
    AcceptTrade {
        /// Whose.
        from: ObjectId,
        /// The offer that was seen.
        offer: Offer,
        /// The item to pay with, if one is wanted.
        pay: Option<Serial>,
    },
    /// Say something to everybody in earshot.
    Say {
        /// What.
        text: String,
    },
}

/// What players are told besides what they see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Notice {
    /// A rocket went off.
    Blast {
        /// Where.
        place: Position,
    },
    /// Somebody fell.
    Felled {
        /// Who.
        victim: ObjectId,
        /// Whose rocket it was.
        by: ObjectId,
    },
    /// Somebody said something.
    Said {
        /// Who.
        who: ObjectId,
        /// What.
        text: String,
    },
    /// Two made a bargain.
    Traded {
        /// Who had offered it.
        from: ObjectId,
        /// Who accepted.
        to: ObjectId,
    },
}

/// Why something does not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema, Error)]
pub enum Refusal {
    /// Out of reach.
    #[error("too far away: go nearer")]
    TooFar,
    /// Somebody else was quicker, or it never was there.
    #[error("it is gone")]
    Gone,
    /// The launcher is still hot.
    #[error("not loaded yet: wait half a second between shots")]
    Cooldown,
    /// A bag or purse would run over.
    #[error("no room in the bag: drop something first")]
    Full,
    /// There is nothing in that slot.
    #[error("that slot of the bag is empty")]
    NoSuchSlot,
    /// Goods that the player does not have.
    #[error("you do not carry that")]
    NotCarried,
    /// More coins than there are.
    #[error("not enough coins")]
    Poor,
    /// The offer no longer stands as it was seen.
    #[error("the offer has changed: look again")]
    OfferChanged,
    /// The offer is somebody else's.
    #[error("that offer is not for you")]
    NotForYou,
    /// Paid with another kind of item than was wanted.
    #[error("that is not what the offer asks for")]
    WrongItem,
    /// The dead do nothing.
    #[error("you are dead: you rise again in a moment")]
    Dead,
    /// Hurt a moment ago.
    #[error("you are stunned: wait a moment")]
    Stunned,
    /// Faster than anybody can go.
    #[error("nobody walks that fast")]
    TooFast,
    /// Too much to say.
    #[error("too long: say it in at most {TEXT_MAX} bytes")]
    TooLong,
    /// Only avatars act and are moved by players.
    #[error("that is no avatar")]
    NoAvatar,
}

/// What an event says to elsewhere, or to later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Schema)]
pub enum Letter {
    /// To a place: fill this part of a new world.
    Settle {
        /// Its south-western corner.
        low: Position,
        /// Its north-eastern corner.
        high: Position,
    },
    /// To a place: an NPC of this kind died elsewhere, make a nest.
    Brood(NpcKind),
    /// To a nest, from its past: it is time.
    Hatch,
    /// To a dead avatar, from its past: rise.
    Rise,
    /// To an avatar: its rocket felled somebody far away.
    Scored(u32),
    /// To the world: add these.
    Count(Tally),
}

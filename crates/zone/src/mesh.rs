//! What zones say to each other.
//!
//! Two kinds of talk. *Posts* are items of a log: whoever sends one has it in its records until the other has it in
//! its own, so each arrives exactly once and in order, whatever fails at either end. Decisions, passages of objects
//! and letters travel like this, and none of them needs a protocol of its own for doubt. Everything else (locks
//! wanted, ghosts, who is there) may be lost, and is asked for again.

use crate::state::Player;
use crate::table::Object;
use game::{Addressee, Hearers, PlayerId, Scope};
use machine::{Address, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, ZoneId};
use std::fmt;

/// Names an event for ever: the zone that decides it, the reign in which it was wanted, a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    /// Who decides.
    pub zone: ZoneId,
    /// In which epoch it was wanted. Undecided when that epoch is over, it never happens.
    pub epoch: Epoch,
    /// 1, 2, 3 …
    pub number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.zone.0, self.epoch.0, self.number)
    }
}

/// An object with everything a zone knows of it, as it is said to another zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Known {
    /// Which.
    pub object: ObjectId,
    /// Counts its owners.
    pub incarnation: u32,
    /// Counts its states.
    pub version: u32,
    /// How it moves.
    pub motion: Motion,
    /// What it is.
    pub state: ByteBuf,
}

impl Known {
    /// An object as its zone knows it.
    pub(crate) fn of(object: &Object) -> Self {
        let Object { id, incarnation, version, motion, state } = object.clone();
        Self { object: id, incarnation, version, motion, state }
    }
}

/// What an event made of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Written {
    /// Whose object it is.
    pub zone: ZoneId,
    /// Which.
    pub object: ObjectId,
    /// Counts its owners.
    pub incarnation: u32,
    /// Counts its states: one more than the event found.
    pub version: u32,
    /// How it moves now, unless that stays.
    pub motion: Option<Motion>,
    /// What it is now; `None` if it is gone.
    pub state: Option<ByteBuf>,
    /// What will be said to it, and when.
    pub timers: Vec<(Time, ByteBuf)>,
}

/// A decided event, all of it: who takes part applies what is theirs, and shows their players the whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Whole {
    /// Which.
    pub event: EventId,
    /// Its moment.
    pub time: Time,
    /// What became of whom.
    pub writes: Vec<Written>,
    /// What players are told.
    pub notices: Vec<(Hearers, ByteBuf)>,
}

/// An object that changes its owner, with everything that hangs on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Passage {
    /// The object, as its old owner knew it.
    pub known: Known,
    /// What will be said to it, and when.
    pub timers: Vec<(Time, ByteBuf)>,
    /// Whose avatar it is: their session, cursor and kept results.
    pub player: Option<(PlayerId, Player)>,
    /// Where that player listens, to be let in at once.
    pub listens: Option<Address>,
    /// The event as which it waited for its turn, if it did. Its locks end with the offer.
    pub event: Option<EventId>,
}

/// Something with a name that changes zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Being {
    /// An object, known by the zone it was born in.
    Object(ObjectId),
    /// A player, known by the zone of their entrance.
    Player(PlayerId),
}

/// What is posted: it arrives exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Item {
    /// An event in which you take part is decided. Your locks for it end.
    Decided(Whole),
    /// Take this object over.
    Offer(Box<Passage>),
    /// What became of an offer: whether it was taken.
    Answer {
        /// Which object.
        object: ObjectId,
        /// Its incarnation as it was offered.
        incarnation: u32,
        /// Whether it has a new owner.
        taken: bool,
    },
    /// A letter on its way.
    Letter {
        /// For whom.
        to: Addressee,
        /// What it says.
        letter: ByteBuf,
        /// How many zones have passed it on.
        hops: u8,
    },
    /// Somebody you are asked for lives in this zone now, or nowhere.
    Lives {
        /// Who.
        being: Being,
        /// Its owner; `None` if it is gone.
        zone: Option<ZoneId>,
        /// As which incarnation.
        incarnation: u32,
    },
}

impl Item {
    /// About how many bytes it has.
    pub fn weight(&self) -> usize {
        const PLAIN: usize = 64;
        match self {
            Self::Decided(whole) => {
                let written = |it: &Written| it.state.as_ref().map_or(0, |it| it.len()) + PLAIN;
                whole.writes.iter().map(written).sum::<usize>()
                    + whole.notices.iter().map(|it| it.1.len() + PLAIN).sum::<usize>()
                    + PLAIN
            }
            Self::Offer(passage) => {
                passage.known.state.len()
                    + passage.timers.iter().map(|it| it.1.len() + PLAIN).sum::<usize>()
                    + 16 * PLAIN
            }
            Self::Letter { letter, .. } => letter.len() + PLAIN,
            Self::Answer { .. } | Self::Lives { .. } => PLAIN,
        }
    }
}

/// Why a lock was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Denial {
    /// Somebody holds or waits for a part of it.
    Taken,
    /// Too many wait.
    Busy,
    /// The world is divided otherwise: plan anew.
    Stale,
    /// What moved then is no longer known: ask for a later moment. It is this late here.
    TooOld(Time),
}

/// Locks that an event wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Which event.
    pub event: EventId,
    /// Which attempt.
    pub attempt: u32,
    /// Where.
    pub scope: Scope,
    /// At which moment; unless said, when the locks are given.
    pub time: Option<Time>,
    /// The partition by which the zone was found.
    pub map: u64,
    /// Whether to wait in the queue.
    pub waits: bool,
}

/// What became true near a border.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// What is new or has changed.
    pub shown: Vec<Known>,
    /// What left: its incarnation and version.
    pub gone: Vec<(ObjectId, u32, u32)>,
    /// What goes over to another owner, who will tell more: the incarnation it has there.
    pub moved: Vec<(ObjectId, u32, ZoneId)>,
    /// What players are told.
    pub notices: Vec<(Hearers, ByteBuf)>,
}

/// Between the primaries of two zones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mesh {
    /// Who decides in your zone?
    Seek,
    /// I do.
    Here,
    /// I post: items in order, from this number on.
    Post {
        /// The first one's number.
        first: u64,
        /// The items.
        items: Vec<Item>,
    },
    /// I have your items up to this number.
    Posted {
        /// The last one's number.
        upto: u64,
    },
    /// I want these locks for an event.
    Lock(Wanted),
    /// You have them. This is what is there.
    Granted {
        /// Which event.
        event: EventId,
        /// Which attempt.
        attempt: u32,
        /// The event's moment.
        time: Time,
        /// Every object in the scope, as it was then.
        objects: Vec<Known>,
    },
    /// You do not get them.
    Denied {
        /// Which event.
        event: EventId,
        /// Which attempt.
        attempt: u32,
        /// Why.
        why: Denial,
    },
    /// I want them no longer.
    Release {
        /// Which event.
        event: EventId,
        /// Up to which attempt.
        attempt: u32,
    },
    /// What becomes of this event? I hold locks for it.
    Ask {
        /// Which event.
        event: EventId,
        /// Which attempt.
        attempt: u32,
    },
    /// Tell me what is near my border.
    Watch,
    /// All of it: forget the rest.
    Ghosts(Vec<Known>),
    /// What became true, and what players of yours hear of it.
    Told(Told),
    /// How they move.
    Motions(Vec<(ObjectId, Motion)>),
}

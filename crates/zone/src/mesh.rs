//! Messages between zones.
//!
//! There are two kinds. *Post items* are part of a log: the sender has an item in its records until the receiver has it
//! in its own, so each arrives exactly once and in order, whatever fails at either end. Decisions, transfers of objects
//! and letters travel like this, and none of them needs a protocol of its own for doubt. Every other message (lock
//! requests, ghosts, who is primary) may be lost; the zone that misses it asks again, except for notices.

use crate::object_table::Object;
use crate::zone_state::PlayerState;
use game::{Addressee, Hearers, PlayerId, Scope};
use machine::{Address, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, ZoneId};
use std::fmt;

/// Permanent name of an event: its coordinator, the epoch in which it was requested, a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    /// The coordinator: the zone that decides the event.
    pub zone: ZoneId,
    /// Epoch of the coordinator when the event was requested. Undecided when that epoch ends, it never happens.
    pub epoch: Epoch,
    /// 1, 2, 3 … within the epoch.
    pub number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.zone.0, self.epoch.0, self.number)
    }
}

/// A copy of one object with everything a zone stores about it, for another zone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ObjectSnapshot {
    /// Permanent name of the object.
    pub object: ObjectId,
    /// Number of owners so far: 1 from its birth on.
    pub incarnation: u32,
    /// Number of states so far; a change of owner counts as one.
    pub version: u32,
    /// Newest motion that the owner knows.
    pub motion: Motion,
    /// State of the object, encoded by the game.
    pub state: ByteBuf,
}

impl ObjectSnapshot {
    pub(crate) fn of(object: &Object) -> Self {
        let Object { id, incarnation, version, motion, state } = object.clone();
        Self { object: id, incarnation, version, motion, state }
    }
}

/// The effect of an event on one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ObjectWrite {
    /// The owner of the object.
    pub zone: ZoneId,
    /// Permanent name of the object.
    pub object: ObjectId,
    /// Number of owners so far: 1 from its birth on.
    pub incarnation: u32,
    /// Number of states so far: one more than the event found.
    pub version: u32,
    /// New motion; `None` if the event leaves it as it is.
    pub motion: Option<Motion>,
    /// New state; `None` if the event removes the object.
    pub state: Option<ByteBuf>,
    /// Timers that the event sets on the object: due time and letter.
    pub timers: Vec<(Time, ByteBuf)>,
}

/// A decided event, all of it: each participant applies the effects on its own objects, and shows its players all of
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DecidedEvent {
    /// Permanent name of the event.
    pub event: EventId,
    /// World time of the event.
    pub time: Time,
    /// Effects on the objects of all participants.
    pub writes: Vec<ObjectWrite>,
    /// Notices of the game, with the players who hear them.
    pub notices: Vec<(Hearers, ByteBuf)>,
}

/// An object that changes its owner, with everything that hangs on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Transfer {
    /// The object as its old owner knew it.
    pub snapshot: ObjectSnapshot,
    /// Pending timers of the object: due time and letter.
    pub timers: Vec<(Time, ByteBuf)>,
    /// The player whose avatar it is, with session, cursor and kept results.
    pub player: Option<(PlayerId, PlayerState)>,
    /// Address of that player, so that the new owner lets the player in unasked.
    pub player_address: Option<Address>,
    /// The event under which the transfer waited for locks, if it did. Its locks end with the offer.
    pub event: Option<EventId>,
}

/// An object or a player: everything that has a permanent name and changes zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EntityId {
    /// An object. Its birth zone knows its owner.
    Object(ObjectId),
    /// A player. The zone in which they entered the world knows where they are.
    Player(PlayerId),
}

/// An item of the post. Arrives exactly once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PostItem {
    /// An event in which the receiver takes part is decided. Its locks at the receiver end.
    Decided(DecidedEvent),
    /// The sender asks the receiver to take an object over.
    Offer(Box<Transfer>),
    /// The answer to an offer.
    Answer {
        /// The object that was offered.
        object: ObjectId,
        /// Incarnation under which it was offered.
        incarnation: u32,
        /// Whether the sender of the answer owns the object now.
        taken: bool,
    },
    /// A letter that leaves its zone.
    Letter {
        /// The object, place or world it is for.
        to: Addressee,
        /// The letter, encoded by the game.
        letter: ByteBuf,
        /// Number of zones that have forwarded it.
        hops: u8,
    },
    /// The new owner of an entity, for the zone that other zones ask about it.
    Location {
        /// The object or player that moved.
        entity: EntityId,
        /// The new owner; `None` if the entity is gone.
        zone: Option<ZoneId>,
        /// Incarnation under which the new owner has it.
        incarnation: u32,
    },
}

impl PostItem {
    /// Estimated size in bytes, to limit the size of a message.
    pub fn weight(&self) -> usize {
        const PLAIN: usize = 64;
        match self {
            Self::Decided(event) => {
                let write = |it: &ObjectWrite| it.state.as_ref().map_or(0, |it| it.len()) + PLAIN;
                event.writes.iter().map(write).sum::<usize>()
                    + event.notices.iter().map(|it| it.1.len() + PLAIN).sum::<usize>()
                    + PLAIN
            }
            Self::Offer(transfer) => {
                transfer.snapshot.state.len()
                    + transfer.timers.iter().map(|it| it.1.len() + PLAIN).sum::<usize>()
                    // A flat allowance for the player's state: most kept results are one byte each.
                    + 16 * PLAIN
            }
            Self::Letter { letter, .. } => letter.len() + PLAIN,
            Self::Answer { .. } | Self::Location { .. } => PLAIN,
        }
    }
}

/// The reason why a zone does not grant locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LockDenial {
    /// Another event holds or waits for a part of it.
    Taken,
    /// Too many requests wait already.
    Busy,
    /// The zone has another version of the partition: plan the event anew.
    Stale,
    /// The zone no longer knows the motions of that moment: ask for a later one. Carries the zone's world time.
    TooOld(Time),
}

/// A coordinator's request for locks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRequest {
    /// The event that needs the locks.
    pub event: EventId,
    /// Number of the event's attempt to get all its locks.
    pub attempt: u32,
    /// The area or the objects to be locked.
    pub scope: Scope,
    /// Moment of the event; `None` for the moment of the grant.
    pub time: Option<Time>,
    /// Version of the partition by which the coordinator chose the zone.
    pub map: u64,
    /// Whether the request waits in the queue if it cannot be granted at once.
    pub waits: bool,
}

/// Announced changes of objects near a border.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BorderUpdate {
    /// Objects that are new or have changed.
    pub shown: Vec<ObjectSnapshot>,
    /// Objects of which the sender tells no more, and the incarnation and version up to which that holds. The incarnation is
    /// the largest number for an object that was removed, the version for one that the receiver owns now.
    pub gone: Vec<(ObjectId, u32, u32)>,
    /// Objects with a new owner, which will tell more: the incarnation they have there, and that zone.
    pub moved: Vec<(ObjectId, u32, ZoneId)>,
    /// Notices of the game, with the players who hear them.
    pub notices: Vec<(Hearers, ByteBuf)>,
}

/// A message from the primary of one zone to the primary of another; `Seek` goes to all replicas of the other zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BetweenZones {
    /// Asks a replica whether it is the primary of its zone.
    Seek,
    /// Answers `Seek`: the sender is the primary.
    Here,
    /// Items of the post, in order.
    Post {
        /// Number of the first item.
        first: u64,
        /// The items, numbered on from `first`.
        items: Vec<PostItem>,
    },
    /// Acknowledges items of the post.
    Posted {
        /// Number of the last item that the sender has in its log.
        upto: u64,
    },
    /// Requests locks for an event.
    Lock(LockRequest),
    /// Grants the locks, with everything the event may read there.
    Granted {
        /// The event that holds the locks.
        event: EventId,
        /// The attempt that the grant answers.
        attempt: u32,
        /// World time of the event.
        time: Time,
        /// Every object in the scope, as it was at that time.
        objects: Vec<ObjectSnapshot>,
    },
    /// Denies the locks, with a reason.
    Denied {
        /// The event that does not get them.
        event: EventId,
        /// The attempt that the denial answers.
        attempt: u32,
        /// The reason for the denial.
        why: LockDenial,
    },
    /// The coordinator does not need the locks any more.
    Release {
        /// The event whose locks end.
        event: EventId,
        /// The last attempt whose locks end.
        attempt: u32,
    },
    /// A grantor asks the coordinator what becomes of an event that holds locks.
    Ask {
        /// The event that holds locks.
        event: EventId,
        /// The attempt that holds them.
        attempt: u32,
    },
    /// Subscribes to the objects near the border.
    Watch,
    /// The announced objects near the border, or the first part of them, which a `BorderUpdate` continues: the receiver
    /// forgets every other ghost of this zone.
    Ghosts(Vec<ObjectSnapshot>),
    /// Changes near the border, and the notices that the receiver's players hear.
    BorderUpdate(BorderUpdate),
    /// New motions of objects near the border.
    Motions(Vec<(ObjectId, Motion)>),
}

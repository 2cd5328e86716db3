//! Records: every committed change of a zone, as plain data.
//!
//! One mechanism for replication, durability, recovery and (later) splits: a zone's state is what its records
//! say, applied in order. Records hold effects, not inputs, so that no replica has to compute what another
//! computed.

use crate::mesh::{EntityId, EventId, ObjectWrite, PostItem};
use crate::zone_state::PlayerState;
use game::{Addressee, Hearers, PlayerId, Scope};
use machine::{Address, Span, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, ZoneId};

/// The number of a record in its zone's log; the first is 1.
pub type Index = u64;

/// Interval at which the cut number rises. All zones of a world close the same cuts, so that a whole world can be
/// recovered to one consistent moment.
pub const CUT_INTERVAL: Span = Span::from_millis(50);

/// One entry of a zone's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Number in the log: one more than the record before.
    pub index: Index,
    /// Epoch in which it was written. Number and epoch together name one record for ever.
    pub epoch: Epoch,
    /// Number of the cut it belongs to; see [`cut_at`].
    pub cut: u64,
    /// World time; never less than that of the record before.
    pub time: Time,
    /// The reason why it was written.
    pub cause: Cause,
    /// Changes of the state, which become true all at once.
    pub changes: Vec<Change>,
    /// Notices of the game, with the players who hear them.
    pub notices: Vec<(Hearers, ByteBuf)>,
    /// The motions that the event read and that no earlier record holds: a replica that applies this knows
    /// them too.
    pub motions: Vec<(ObjectId, Motion)>,
}

/// The reason why a record was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// The game filled a new world.
    Founding,
    /// A new epoch of leadership began.
    Leadership,
    /// A player's action, done or refused: the player and the action's number.
    Act(PlayerId, u64),
    /// A letter arrived at its object or place.
    Letter(Stamp),
    /// A timer of an object came due.
    Timer(Stamp),
    /// A thought of an NPC (`Game::think`).
    Think(ObjectId),
    /// A player entered, or came back with a new session.
    Join(PlayerId),
    /// A player left the world.
    Leave(PlayerId),
    /// A checkpoint of the state's hash, for replicas to compare.
    Checkpoint,
    /// An event that another zone decided and in which this one takes part.
    Joint(EventId),
    /// Locks for an event of another zone were granted or released.
    Lock(EventId),
    /// An object comes from another zone, or goes there.
    Transfer(ObjectId),
    /// Post from another zone was taken, or post to it was delivered.
    Post(ZoneId),
    /// Actions that had waited for too long at a zone that is late were answered "busy".
    Busy,
}

/// Permanent name of a letter or timer: the record that made it, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Epoch of the record that made it.
    pub epoch: Epoch,
    /// Number of the record that made it.
    pub index: Index,
    /// The place among the letters and timers of that record.
    pub place: u16,
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// The action became an event.
    Done,
    /// The game refused it: its encoded `Refusal`.
    Refused(ByteBuf),
    /// The game's code failed (with this message); nothing happened.
    Fault(String),
    /// Too many events want the same objects; nothing happened. Try again.
    Busy,
}

/// One change of a zone's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// An object is now this, all of it.
    Put {
        /// Permanent name of the object.
        object: ObjectId,
        /// Number of owners so far: 1 from its birth on.
        incarnation: u32,
        /// Number of states so far; a change of owner counts as one.
        version: u32,
        /// Motion of the object from now on.
        motion: Motion,
        /// State of the object, encoded by the game.
        state: ByteBuf,
    },
    /// An object is gone for good.
    Removed {
        /// Permanent name of the object.
        object: ObjectId,
        /// One more than the version of its last state.
        version: u32,
    },
    /// A player has this session and avatar.
    Entered {
        /// The player who entered the zone.
        player: PlayerId,
        /// Number of the session; a higher one replaces a lower.
        session: u64,
        /// Display name of the player.
        name: String,
        /// The object that the player steers.
        avatar: ObjectId,
    },
    /// A player's session ended. If the game removed the avatar, the player has none.
    Left {
        /// The player whose session ended.
        player: PlayerId,
    },
    /// A player's action was dealt with: the cursor moves on, the result is kept.
    Acted {
        /// The player who asked for it.
        player: PlayerId,
        /// Number of the action: one more than the last.
        number: u64,
        /// Done, refused, busy or fault.
        outcome: Outcome,
        /// Results up to this number have arrived at the player and need not be kept.
        acked: u64,
    },
    /// A timer was set on an object.
    TimerSet {
        /// Permanent name of the timer.
        stamp: Stamp,
        /// World time at which it is due.
        at: Time,
        /// The object that receives it.
        object: ObjectId,
        /// The letter, encoded by the game.
        letter: ByteBuf,
    },
    /// A timer was delivered, or its object is gone.
    TimerDone {
        /// Permanent name of the timer.
        stamp: Stamp,
        /// World time at which it was due.
        at: Time,
    },
    /// A letter is on its way.
    LetterSent {
        /// Permanent name of the letter.
        stamp: Stamp,
        /// The object or place it is for.
        to: Addressee,
        /// The letter, encoded by the game.
        letter: ByteBuf,
    },
    /// A letter was delivered or forwarded, or its object is gone.
    LetterDone {
        /// Permanent name of the letter.
        stamp: Stamp,
    },
    /// A new epoch begins with these replicas.
    Leads {
        /// The replica that decides from now on.
        primary: Address,
        /// The replica that must acknowledge each record; `None` while the primary is alone.
        backup: Option<Address>,
    },
    /// The hash of the state that everything before this record led to.
    Checkpoint {
        /// Hash of that state ([`ZoneState::hash`](crate::ZoneState::hash)).
        hash: u64,
    },
    /// This zone granted locks to an event of another zone.
    Granted {
        /// The event that holds the locks.
        event: EventId,
        /// Number of the event's attempt to get all its locks.
        attempt: u32,
        /// The area or the objects that are locked.
        scope: Scope,
        /// The objects found in the scope: they stay locked wherever they go meanwhile.
        objects: Vec<ObjectId>,
    },
    /// The locks of an event ended.
    Released {
        /// The event that held the locks.
        event: EventId,
    },
    /// The effect of the same event on an object of another zone. No part of this zone's state.
    Elsewhere(ObjectWrite),
    /// An item is on its way to another zone.
    Posted {
        /// The zone that receives it.
        to: ZoneId,
        /// Number among the items to that zone: one more than the last.
        number: u64,
        /// The item on its way.
        item: PostItem,
    },
    /// Another zone has everything posted to it up to this number.
    Delivered {
        /// The zone that acknowledged the items.
        to: ZoneId,
        /// Number of the last item that it has.
        upto: u64,
    },
    /// An item that another zone posted was dealt with, in this record.
    Taken {
        /// The zone that posted it.
        from: ZoneId,
        /// Number among the items from that zone.
        number: u64,
    },
    /// An object is offered to another zone. Until the offer is answered no event touches the object here (moves still count).
    Offered {
        /// The object that is offered.
        object: ObjectId,
        /// The zone that it is offered to.
        to: ZoneId,
    },
    /// The offer of an object was declined.
    Kept {
        /// The object that stays here.
        object: ObjectId,
    },
    /// An object has another owner, and with it its timers and its player.
    Departed {
        /// The object that left this zone.
        object: ObjectId,
        /// The zone that owns it now.
        to: ZoneId,
        /// Incarnation under which the new owner has it.
        incarnation: u32,
    },
    /// A player came over with their avatar.
    Brought {
        /// The player who came over.
        player: PlayerId,
        /// The player's session, cursor and kept results.
        row: PlayerState,
    },
    /// The owner of an entity that was born, or entered the world, here.
    Location {
        /// The object or player that moved.
        entity: EntityId,
        /// The owner; `None` if the entity is gone.
        zone: Option<ZoneId>,
        /// Incarnation under which the owner has it.
        incarnation: u32,
    },
}

impl Record {
    /// Encodes the record for the backup and the disk.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a record has no kind of data that postcard lacks")
    }

    /// Decodes a record. `None` if `bytes` is not exactly one record.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match postcard::take_from_bytes(bytes) {
            Ok((record, [])) => Some(record),
            _ => None,
        }
    }
}

/// Number of the cut that a moment of world time lies in.
pub fn cut_at(time: Time) -> u64 {
    time.as_micros() / CUT_INTERVAL.as_micros()
}

#[cfg(test)]
mod mesh_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Distance, Heading, Millis, Position, Velocity, ZoneId};

    pub(super) fn object(counter: u32) -> ObjectId {
        ObjectId { zone: ZoneId(3), epoch: Epoch(2), counter }
    }

    pub(super) fn motion() -> Motion {
        Motion {
            position: Position::new(-70_000, 123_456).unwrap(),
            velocity: Velocity::new(1_500, -300).unwrap(),
            heading: Heading(40_000),
            start: Millis(987_654_321),
            generation: 4,
            sequence: 300,
        }
    }

    pub(super) fn bytes(it: &[u8]) -> ByteBuf {
        ByteBuf::from(it.to_vec())
    }

    pub(super) fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|it| format!("{it:02x}")).collect()
    }

    pub(super) fn from_hex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    /// One record with every kind of change inside a zone.
    fn everything() -> Record {
        let motion = motion();
        let stamp = Stamp { epoch: Epoch(2), index: 77, place: 1 };
        let player = PlayerId(1 << 40);
        let at = Time::from_micros(5_000_000_000);
        let changes = vec![
            Change::Put { object: object(1), incarnation: 1, version: 9, motion, state: bytes(b"state") },
            Change::Removed { object: object(2), version: 3 },
            Change::Entered { player, session: 2, name: "Zoë".to_owned(), avatar: object(5) },
            Change::Left { player },
            Change::Acted { player, number: 12, outcome: Outcome::Done, acked: 11 },
            Change::Acted { player, number: 13, outcome: Outcome::Refused(bytes(b"no")), acked: 12 },
            Change::Acted { player, number: 14, outcome: Outcome::Fault("bug".to_owned()), acked: 13 },
            Change::TimerSet { stamp, at, object: object(1), letter: bytes(b"wake") },
            Change::TimerDone { stamp, at },
            Change::LetterSent { stamp, to: Addressee::Object(object(7)), letter: bytes(b"hi") },
            Change::LetterSent { stamp, to: Addressee::Place(motion.position), letter: bytes(b"") },
            Change::LetterSent { stamp, to: Addressee::World, letter: bytes(b"score") },
            Change::LetterDone { stamp },
            Change::Leads { primary: Address(4), backup: Some(Address(5)) },
            Change::Checkpoint { hash: 0xdead_beef_0123_4567 },
        ];
        let notices = vec![
            (Hearers::Player(object(1)), bytes(b"psst")),
            (Hearers::Near(motion.position, Distance::of_metres(60)), bytes(b"boom")),
        ];
        let (time, cause) = (Time::from_micros(6_000_000_000), Cause::Act(player, 12));
        Record {
            index: 78,
            epoch: Epoch(2),
            cut: cut_at(time),
            time,
            cause,
            changes,
            notices,
            motions: vec![(object(1), motion)],
        }
    }

    /// Logs on disks outlive programs: these bytes mean this record for ever.
    #[test]
    fn an_old_record_decodes_for_ever() {
        let golden = include_str!("../testdata/record-v1.hex").trim();
        assert_eq!(hex(&everything().to_bytes()), golden, "today's writer writes them, too");
        let bytes = from_hex(golden);
        assert_eq!(Record::from_bytes(&bytes), Some(everything()));
        for cut in 0..bytes.len() {
            assert_eq!(Record::from_bytes(&bytes[..cut]), None, "cut at {cut}");
        }
    }
}

//! The record log: every committed change of a zone, as plain data.
//!
//! One mechanism for replication, durability, recovery and (later) splits: a zone's state is what its records
//! say, applied in order. Records hold effects, not inputs, so that no replica has to compute what another
//! computed.

use crate::mesh::{Being, EventId, Item, Written};
use crate::state::Player;
use game::{Addressee, Hearers, PlayerId, Scope};
use machine::{Address, Span, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, ZoneId};

/// The number of a record in its zone's log; the first is 1.
pub type Index = u64;

/// How often the cut number rises. All zones of a world close the same cuts, so that a whole world can be
/// recovered to one consistent moment.
pub const CUT_INTERVAL: Span = Span::from_millis(50);

/// One entry of a zone's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its number: one more than the one before.
    pub index: Index,
    /// The reign in which it was written. Number and epoch together name one record for ever.
    pub epoch: Epoch,
    /// The cut it belongs to.
    pub cut: u64,
    /// World time; never less than the one before.
    pub time: Time,
    /// Why it was written.
    pub cause: Cause,
    /// What became true, all at once.
    pub changes: Vec<Change>,
    /// What players are told.
    pub notices: Vec<(Hearers, ByteBuf)>,
    /// The motions that the event read and that no earlier record holds: a replica that applies this knows
    /// them too.
    pub motions: Vec<(ObjectId, Motion)>,
}

/// Why a record was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// A new world is filled.
    Founding,
    /// A reign begins.
    Reign,
    /// A player's action, done or refused.
    Act(PlayerId, u64),
    /// A letter arrived.
    Letter(Stamp),
    /// A timer came due.
    Timer(Stamp),
    /// An object thought of something.
    Think(ObjectId),
    /// A player came, or came back with a new session.
    Join(PlayerId),
    /// A player is gone.
    Leave(PlayerId),
    /// The state's hash, to compare.
    Checkpoint,
    /// An event that another zone decided and in which this one takes part.
    Joint(EventId),
    /// Locks for an event of another zone were given or taken back.
    Lock(EventId),
    /// An object comes from another zone, or goes there.
    Transfer(ObjectId),
    /// Something came by post, or was delivered.
    Post(ZoneId),
}

/// Names a letter or timer for ever: the record that made it, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The record's epoch.
    pub epoch: Epoch,
    /// The record's number.
    pub index: Index,
    /// The place among the letters and timers of that record.
    pub place: u16,
}

/// What became of an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It happened.
    Done,
    /// The game refused it: its encoded `Refusal`.
    Refused(ByteBuf),
    /// The game failed at it; nothing happened.
    Fault(String),
    /// Too many want the same; nothing happened. Try again.
    Busy,
}

/// One thing that became true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// An object is now this, all of it.
    Put {
        /// Which.
        object: ObjectId,
        /// Counts its owners.
        incarnation: u32,
        /// Counts its states.
        version: u32,
        /// How it moves.
        motion: Motion,
        /// What it is.
        state: ByteBuf,
    },
    /// An object is gone.
    Removed {
        /// Which.
        object: ObjectId,
        /// Counts on from its last state.
        version: u32,
    },
    /// A player has this session and avatar.
    Entered {
        /// Who.
        player: PlayerId,
        /// Which session; a higher one replaces a lower.
        session: u64,
        /// What they are called.
        name: String,
        /// Their avatar.
        avatar: ObjectId,
    },
    /// A player's session ended. If the game removed the avatar, the player has none.
    Left {
        /// Who.
        player: PlayerId,
    },
    /// A player's action was dealt with: the cursor moves on, the result is kept.
    Acted {
        /// Who.
        player: PlayerId,
        /// Which action: one more than the last.
        number: u64,
        /// What became of it.
        outcome: Outcome,
        /// Results up to this number have arrived at the player and need not be kept.
        acked: u64,
    },
    /// Something will be said to an object.
    TimerSet {
        /// Its name.
        stamp: Stamp,
        /// When.
        at: Time,
        /// To whom.
        object: ObjectId,
        /// What.
        letter: ByteBuf,
    },
    /// It was said, or its object is gone.
    TimerDone {
        /// Its name.
        stamp: Stamp,
        /// When it was due.
        at: Time,
    },
    /// A letter is on its way.
    LetterSent {
        /// Its name.
        stamp: Stamp,
        /// For whom.
        to: Addressee,
        /// What it says.
        letter: ByteBuf,
    },
    /// It was delivered, or there was nobody to deliver it to.
    LetterDone {
        /// Its name.
        stamp: Stamp,
    },
    /// A reign begins.
    Reigns {
        /// Who decides from now on.
        primary: Address,
        /// Who must acknowledge first; nobody while the primary is alone.
        backup: Option<Address>,
    },
    /// The hash of the state that everything before this record led to.
    Checkpoint {
        /// The hash.
        hash: u64,
    },
    /// Locks for an event of another zone are held.
    Granted {
        /// Which event.
        event: EventId,
        /// Which attempt of it.
        attempt: u32,
        /// What is locked,
        scope: Scope,
        /// and who was in it, wherever they go meanwhile.
        objects: Vec<ObjectId>,
    },
    /// They are held no longer.
    Released {
        /// Which event.
        event: EventId,
    },
    /// What the same event made of an object of another zone. No part of this zone's state.
    Elsewhere(Written),
    /// Something is on its way to another zone.
    Posted {
        /// Which zone.
        to: ZoneId,
        /// Its number on the way there: one more than the last.
        number: u64,
        /// What.
        item: Item,
    },
    /// The other zone has everything up to this number.
    Delivered {
        /// Which zone.
        to: ZoneId,
        /// The number.
        upto: u64,
    },
    /// What another zone posted was dealt with, in this record.
    Taken {
        /// Which zone.
        from: ZoneId,
        /// The number of what it posted.
        number: u64,
    },
    /// An object is offered to another zone. Until it is answered nothing happens to it.
    Offered {
        /// Which.
        object: ObjectId,
        /// To whom.
        to: ZoneId,
    },
    /// The offer was declined.
    Kept {
        /// Which.
        object: ObjectId,
    },
    /// An object has another owner, and with it its timers and its player.
    Departed {
        /// Which.
        object: ObjectId,
        /// Whose it is now.
        to: ZoneId,
        /// As which incarnation.
        incarnation: u32,
    },
    /// A player came over with their avatar.
    Brought {
        /// Who.
        player: PlayerId,
        /// With their cursor and kept results.
        row: Player,
    },
    /// Where somebody lives who was born, or came in, here.
    Lives {
        /// Who.
        being: Being,
        /// In which zone; `None` if nowhere.
        zone: Option<ZoneId>,
        /// As which incarnation.
        incarnation: u32,
    },
}

impl Record {
    /// Its bytes, for the backup and the disk.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a record has no kind of data that postcard lacks")
    }

    /// The record that `bytes`, all of them, stand for.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match postcard::take_from_bytes(bytes) {
            Ok((record, [])) => Some(record),
            _ => None,
        }
    }
}

/// The cut that a moment of world time lies in.
pub fn cut_at(time: Time) -> u64 {
    time.as_micros() / CUT_INTERVAL.as_micros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Distance, Heading, Millis, Position, Velocity, ZoneId};

    /// One record with every kind of change, cause-independent.
    fn everything() -> Record {
        let object = |counter| ObjectId { zone: ZoneId(3), epoch: Epoch(2), counter };
        let motion = Motion {
            position: Position::new(-70_000, 123_456).unwrap(),
            velocity: Velocity::new(1_500, -300).unwrap(),
            heading: Heading(40_000),
            start: Millis(987_654_321),
            generation: 4,
            sequence: 300,
        };
        let stamp = Stamp { epoch: Epoch(2), index: 77, place: 1 };
        let bytes = |it: &[u8]| ByteBuf::from(it.to_vec());
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
            Change::Reigns { primary: Address(4), backup: Some(Address(5)) },
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
        let golden = include_str!("../testdata/record-v1.hex");
        let hex = |bytes: &[u8]| bytes.iter().map(|it| format!("{it:02x}")).collect::<String>();
        assert_eq!(hex(&everything().to_bytes()), golden.trim(), "today's writer writes them, too");
        let bytes: Vec<u8> = (0..golden.trim().len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&golden[at..at + 2], 16).unwrap())
            .collect();
        assert_eq!(Record::from_bytes(&bytes), Some(everything()));
        for cut in 0..bytes.len() {
            assert_eq!(Record::from_bytes(&bytes[..cut]), None, "cut at {cut}");
        }
    }
}

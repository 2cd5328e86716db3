//! Everything that goes over a zone's links: between replicas, between zones, and between a zone and its players.
//!
//! Every message of a replica carries its epoch. Replicas and zones ignore an epoch below the highest they know. A player
//! believes only its home, in the epoch in which it was let in or a later one; another replica may only let the player in
//! or refuse to, and not in an epoch below the highest that the player knows of its zone. (`LogEnd` and `NotHere`, which
//! say nothing about the world, are always read.) So an old primary that wakes up reaches no replica, zone or player that
//! has heard of the new one.

use crate::load_level::LoadLevel;
use crate::mesh::BetweenZones;
use crate::record::{Index, Outcome};
use game::PlayerId;
use machine::{Address, Span, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, ZoneId};
use wire::{DecodeError, Message};

/// Size limit of a message in bytes. A record of the largest event, or a part of a snapshot, fits.
pub const MESSAGE_MAX: usize = 2 * 1024 * 1024;

/// Size limit of a message from a player, in bytes.
pub const PLAYER_MESSAGE_MAX: usize = 4 * 1024;

/// A message on a zone's links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ZoneMsg {
    /// Between replicas of one zone, in the sender's epoch.
    BetweenReplicas(Epoch, BetweenReplicas),
    /// From a player to a replica.
    FromPlayer(FromPlayer),
    /// To a player, from a replica of this zone in this epoch.
    ToPlayer(ZoneId, Epoch, ToPlayer),
    /// Between primaries of different zones: the sender's zone, epoch and world time.
    BetweenZones(ZoneId, Epoch, Time, BetweenZones),
}

/// A message between replicas of one zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BetweenReplicas {
    /// Primary to backup: the next records of the log.
    Append {
        /// Number of the first record.
        first: Index,
        /// The records, encoded, numbered on from `first`.
        records: Vec<ByteBuf>,
    },
    /// Backup to primary: acknowledges every record up to these.
    Acked {
        /// Number of the last record in memory.
        index: Index,
        /// Number of the last record on disk.
        synced: Index,
    },
    /// Backup to primary: the records sent do not follow from the backup's log. The primary sends again from here.
    Missing {
        /// Number of the last record that the backup has.
        after: Index,
    },
    /// Primary to backup: a sign of life of this zone's primary, not of its host: another zone's says nothing about it.
    Beacon {
        /// The primary's own time, to be echoed.
        sent: Time,
        /// How late the primary is. The backup waits so much longer before it takes over.
        late: Span,
    },
    /// Backup to primary: answers a beacon.
    Heard {
        /// The time that the beacon carried.
        sent: Time,
        /// The last record on the backup's disk.
        synced: Index,
        /// How late the backup is. The primary waits so much longer before it gives the backup up.
        late: Span,
        /// Time for which the primary may be silent before the backup asks the directory.
        grace: Span,
    },
    /// Primary to backup: motions that are newer than the log's.
    Motions(Vec<(ObjectId, Motion)>),
    /// A replica without a role, to all other replicas of its zone: the end of its log.
    LogEnd {
        /// Epoch of the last record.
        epoch: Epoch,
        /// Number of the last record.
        index: Index,
    },
    /// Primary to a replica without a role whose log is a prefix of the primary's: become the backup.
    Follow {
        /// Epoch of the last record that the replica said it has.
        epoch: Epoch,
        /// Number of that last record.
        index: Index,
    },
    /// Primary to a new backup: a part of a snapshot.
    Copy {
        /// Number of the last record that the snapshot stands for.
        index: Index,
        /// Position of the part in the snapshot, in bytes.
        offset: u32,
        /// Length of the whole snapshot in bytes.
        total: u32,
        /// Bytes of the snapshot from `offset` on.
        bytes: ByteBuf,
    },
}

/// A message from a player to a zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromPlayer {
    /// Asks to be let in.
    Enter {
        /// The player who asks. (The token that proves it is checked before this is read.)
        player: PlayerId,
        /// Number of the session; a higher one replaces a lower.
        session: u64,
        /// Display name of the player.
        name: String,
        /// The last record that the player has received from its home, with the home's zone and epoch. That zone sends what
        /// the player missed; any other zone ignores it.
        seen: Option<(ZoneId, Epoch, Index)>,
    },
    /// Asks the zone for an action.
    Act {
        /// 1, 2, 3 … per player.
        number: u64,
        /// The player has the results up to this number.
        acked: u64,
        /// The avatar's motion when the player acted.
        motion: Motion,
        /// The action, encoded by the game.
        action: ByteBuf,
    },
    /// Steers the avatar: its motion from now on.
    Move(Motion),
    /// The player has the results up to this number.
    Ack(u64),
    /// The player leaves the world.
    Leave,
}

/// A message from a zone to a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToPlayer {
    /// The zone lets the player in.
    Entered {
        /// The object that the player steers.
        avatar: ObjectId,
        /// Number of owners of the avatar so far: a player believes the latest one.
        incarnation: u32,
        /// Whether the world has lost its last moments, and with them some of what the player has seen.
        lost: bool,
        /// The avatar's motion as the zone knows it.
        motion: Motion,
        /// Number of the player's last action that was dealt with.
        cursor: u64,
        /// World time of the zone.
        time: Time,
    },
    /// This replica does not play with this player; ask another one.
    NotHere {
        /// The primary, as far as this replica knows.
        primary: Option<Address>,
    },
    /// The zone does not let the player in.
    Closed(Closed),
    /// Everything in sight: the player forgets the rest.
    Sight {
        /// Number of the last record that this stands for.
        index: Index,
        /// All objects that the player sees.
        objects: Vec<ShownObject>,
    },
    /// An event happened: apply all of it at once.
    Told {
        /// Number of the event's record; 0 if it happened in a neighbouring zone.
        index: Index,
        /// Objects that changed or came into sight.
        shown: Vec<ShownObject>,
        /// Objects that are gone, each with the version after its last.
        gone: Vec<(ObjectId, u32)>,
        /// Notices, encoded by the game.
        notices: Vec<ByteBuf>,
    },
    /// The result of an action.
    Result {
        /// Number of the action, per player.
        number: u64,
        /// Done, refused, busy or fault.
        outcome: Outcome,
        /// Number of the event's record; 0 if it is told again from what was kept.
        index: Index,
    },
    /// Objects that came into sight, or left it, because objects moved.
    Views {
        /// Objects that came into sight.
        shown: Vec<ShownObject>,
        /// Objects that left the sight.
        hidden: Vec<ObjectId>,
    },
    /// Echo of a move that arrived.
    Moved {
        /// Generation of the move's motion.
        generation: u32,
        /// Sequence of the move's motion.
        sequence: u32,
        /// World time, for the player's clock.
        time: Time,
    },
    /// A correction: the zone or the game does not allow the move, or the avatar must stop. The avatar moves like this.
    Corrected(Motion),
    /// The replicas that the player should be able to reach at once: the zone's primary and backup, and the primaries of
    /// zones whose border is near.
    Contacts(Vec<Address>),
    /// The load level of the zone's primary, when it changes, and to a client that is let in.
    Load(LoadLevel),
    /// The sender has become the zone's primary. A player whose home was another replica of this zone asks it at once to
    /// be let in.
    Leads,
}

/// The reason why a zone does not let a player in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Closed {
    /// A newer session of the same player plays.
    Superseded,
    /// The zone has its maximum of players.
    Full,
    /// The game does not let the player in.
    Refused,
}

/// An object as a player may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownObject {
    /// Permanent name of the object.
    pub object: ObjectId,
    /// Number of owners so far: 1 from its birth on.
    pub incarnation: u32,
    /// Number of states so far; a change of owner counts as one.
    pub version: u32,
    /// Newest motion that the zone knows.
    pub motion: Motion,
    /// The visible part of the state: the game's `Shown`, encoded.
    pub shown: ByteBuf,
}

impl Message for ZoneMsg {
    /// What others did, and who comes into sight. The result of an own action never waits, and takes along what does. And
    /// the player's word that it has a result: the zone keeps results until then.
    fn can_wait(&self) -> bool {
        match self {
            Self::ToPlayer(_, _, msg) => matches!(msg, ToPlayer::Told { .. } | ToPlayer::Views { .. }),
            Self::FromPlayer(msg) => matches!(msg, FromPlayer::Ack(_)),
            _ => false,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        // `to_extend` owns its buffer: lend ours to it and take it back, without a copy.
        let taken = std::mem::take(out);
        *out = postcard::to_extend(self, taken).expect("plain data encodes");
        debug_assert!(out.len() - start <= MESSAGE_MAX, "a message of {} bytes", out.len() - start);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if MESSAGE_MAX < bytes.len() {
            return Err(DecodeError::TooLong { length: bytes.len(), limit: MESSAGE_MAX });
        }
        let (msg, rest) = postcard::take_from_bytes(bytes).map_err(|_| DecodeError::Malformed)?;
        if !rest.is_empty() {
            return Err(DecodeError::TrailingBytes);
        }
        // Only after decoding: the kind of a message stands in its bytes.
        if matches!(msg, Self::FromPlayer(_)) && PLAYER_MESSAGE_MAX < bytes.len() {
            return Err(DecodeError::TooLong { length: bytes.len(), limit: PLAYER_MESSAGE_MAX });
        }
        Ok(msg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Heading, Millis, Position, Velocity};

    /// Messages between players and zones, each with the value that `web/client` must decode from it. Times are
    /// milliseconds there, and an address is its host and zone.
    fn examples() -> Vec<(ZoneMsg, String)> {
        let object = |counter| ObjectId { zone: ZoneId(3), epoch: Epoch(2), counter };
        let motion = Motion {
            position: Position::new(-70_000, 123_456).unwrap(),
            velocity: Velocity::new(1_500, -300).unwrap(),
            heading: Heading(40_000),
            start: Millis(1_790_000_000_123),
            generation: 4,
            sequence: 300,
        };
        let bytes = |it: &[u8]| ByteBuf::from(it.to_vec());
        let shown =
            ShownObject { object: object(7), incarnation: 1, version: 9, motion, shown: bytes(b"look") };
        let (time, player) = (Time::from_micros(1_790_000_000_456_789), PlayerId(u64::MAX));
        let backup = Some(Address((7 << 32) + 1));
        let enter = FromPlayer::Enter {
            player,
            session: 1 << 63,
            name: "Zoë".to_owned(),
            seen: Some((ZoneId(3), Epoch(2), 77)),
        };
        let act = FromPlayer::Act { number: 12, acked: 11, motion, action: bytes(b"go") };
        let entered =
            ToPlayer::Entered { avatar: object(5), incarnation: 2, lost: false, motion, cursor: 300, time };
        let alone =
            ToPlayer::Entered { avatar: object(5), incarnation: 1, lost: true, motion, cursor: 0, time };
        let sight = ToPlayer::Sight { index: 78, objects: vec![shown.clone(), shown.clone()] };
        let (gone, notices) = (vec![(object(8), 3)], vec![bytes(b"boom"), bytes(b"")]);
        let told = ToPlayer::Told { index: 79, shown: vec![shown.clone()], gone, notices };
        let result = |outcome| ToPlayer::Result { number: 12, outcome, index: 80 };
        let views = ToPlayer::Views { shown: vec![shown], hidden: vec![object(9)] };
        let moved = ToPlayer::Moved { generation: 4, sequence: 300, time };

        let m = r#"{"position":{"x":-70000,"y":123456},"velocity":{"x":1500,"y":-300},"heading":40000,"start":1790000000123,"generation":4,"sequence":300}"#;
        let o = |counter: u32| format!(r#"{{"zone":3,"epoch":2,"counter":{counter}}}"#);
        let s =
            format!(r#"{{"object":{},"incarnation":1,"version":9,"motion":{m},"shown":"6c6f6f6b"}}"#, o(7));
        let (avatar, time) = (o(5), "1790000000456.789");
        let up = |up, value: String| (ZoneMsg::FromPlayer(up), value);
        let down = |down, value: String| (ZoneMsg::ToPlayer(ZoneId(3), Epoch(2), down), value);
        vec![
            up(
                enter,
                r#"{"kind":"Enter","player":"18446744073709551615","session":"9223372036854775808","name":"Zoë","seen":{"zone":3,"epoch":2,"index":77}}"#
                    .to_owned(),
            ),
            up(act, format!(r#"{{"kind":"Act","number":12,"acked":11,"motion":{m},"action":"676f"}}"#)),
            up(FromPlayer::Move(motion), format!(r#"{{"kind":"Move","motion":{m}}}"#)),
            up(FromPlayer::Ack(300), r#"{"kind":"Ack","acked":300}"#.to_owned()),
            up(FromPlayer::Leave, r#"{"kind":"Leave"}"#.to_owned()),
            down(
                entered,
                format!(
                    r#"{{"kind":"Entered","avatar":{avatar},"incarnation":2,"lost":false,"motion":{m},"cursor":300,"time":{time}}}"#
                ),
            ),
            down(
                alone,
                format!(
                    r#"{{"kind":"Entered","avatar":{avatar},"incarnation":1,"lost":true,"motion":{m},"cursor":0,"time":{time}}}"#
                ),
            ),
            down(
                ToPlayer::NotHere { primary: backup },
                r#"{"kind":"NotHere","primary":{"host":7,"zone":1}}"#.to_owned(),
            ),
            down(ToPlayer::Closed(Closed::Superseded), r#"{"kind":"Closed","why":"Superseded"}"#.to_owned()),
            down(ToPlayer::Closed(Closed::Full), r#"{"kind":"Closed","why":"Full"}"#.to_owned()),
            down(ToPlayer::Closed(Closed::Refused), r#"{"kind":"Closed","why":"Refused"}"#.to_owned()),
            down(ToPlayer::Load(LoadLevel::Overloaded), r#"{"kind":"Load","load":"Overloaded"}"#.to_owned()),
            down(ToPlayer::Leads, r#"{"kind":"Leads"}"#.to_owned()),
            down(sight, format!(r#"{{"kind":"Sight","index":78,"objects":[{s},{s}]}}"#)),
            down(
                told,
                format!(
                    r#"{{"kind":"Told","index":79,"shown":[{s}],"gone":[{{"object":{},"version":3}}],"notices":["626f6f6d",""]}}"#,
                    o(8)
                ),
            ),
            down(
                result(Outcome::Done),
                r#"{"kind":"Result","number":12,"outcome":{"kind":"Done"},"index":80}"#.to_owned(),
            ),
            down(
                result(Outcome::Refused(bytes(b"no"))),
                r#"{"kind":"Result","number":12,"outcome":{"kind":"Refused","refusal":"6e6f"},"index":80}"#
                    .to_owned(),
            ),
            down(
                result(Outcome::Fault("bug".to_owned())),
                r#"{"kind":"Result","number":12,"outcome":{"kind":"Fault","why":"bug"},"index":80}"#.to_owned(),
            ),
            down(
                result(Outcome::Busy),
                r#"{"kind":"Result","number":12,"outcome":{"kind":"Busy"},"index":80}"#.to_owned(),
            ),
            down(views, format!(r#"{{"kind":"Views","shown":[{s}],"hidden":[{}]}}"#, o(9))),
            down(moved, format!(r#"{{"kind":"Moved","generation":4,"sequence":300,"time":{time}}}"#)),
            down(ToPlayer::Corrected(motion), format!(r#"{{"kind":"Corrected","motion":{m}}}"#)),
            down(
                ToPlayer::Contacts(vec![Address((2 << 32) + 1), Address((7 << 32) + 1)]),
                r#"{"kind":"Contacts","replicas":[{"host":2,"zone":1},{"host":7,"zone":1}]}"#.to_owned(),
            ),
        ]
    }

    /// Browsers are updated later than zones: these bytes mean these messages. `web/client` reads the same table.
    #[test]
    fn messages_of_players_keep_their_bytes() {
        let golden = include_str!("../testdata/messages-v2.txt");
        let mut text = String::new();
        for (msg, value) in examples() {
            let mut bytes = Vec::new();
            msg.encode(&mut bytes);
            assert_eq!(ZoneMsg::decode(&bytes), Ok(msg));
            text += &bytes.iter().map(|it| format!("{it:02x}")).collect::<String>();
            text += &format!(" {value}\n");
        }
        if std::env::var_os("UPDATE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/messages-v2.txt");
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(text, golden, "UPDATE=1 rewrites the table");
    }
}

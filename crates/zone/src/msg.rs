//! Everything that goes over a zone's links: between replicas, and between a zone and its players.
//!
//! Every message of a replica carries its epoch, and whoever hears a lower one than the highest it knows does
//! not listen: so an old primary that wakes up is talking to itself.

use crate::mesh::Mesh;
use crate::record::{Index, Outcome};
use game::PlayerId;
use machine::{Address, Time};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Epoch, Motion, ObjectId, ZoneId};
use wire::{DecodeError, Message};

/// The most bytes a message may have. A record of the largest event, or a part of a snapshot, fits.
pub const MESSAGE_MAX: usize = 2 * 1024 * 1024;

/// The most bytes a message from a player may have.
pub const PLAYER_MESSAGE_MAX: usize = 4 * 1024;

/// A message of a zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Msg {
    /// Between replicas.
    Peer(Epoch, Peer),
    /// From a player.
    Up(Up),
    /// To a player, from a replica that reigns over this zone in this epoch.
    Down(ZoneId, Epoch, Down),
    /// Between primaries of different zones: who says it, in which epoch, and how late it is there.
    Mesh(ZoneId, Epoch, Time, Mesh),
}

/// Between replicas of one zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Peer {
    /// Primary to backup: these records come next.
    Append {
        /// The number of the first.
        first: Index,
        /// The records.
        records: Vec<ByteBuf>,
    },
    /// Backup to primary: I have everything up to here.
    Acked {
        /// In memory.
        index: Index,
        /// On disk.
        synced: Index,
    },
    /// Backup to primary: what you sent does not follow from what I have. Go back.
    Missing {
        /// The last record I have.
        after: Index,
    },
    /// Primary to backup: I am here.
    Beacon {
        /// The primary's own time.
        sent: Time,
    },
    /// Backup to primary: I heard you.
    Heard {
        /// What the beacon said.
        sent: Time,
    },
    /// Primary to backup: where things are now.
    Motions(Vec<(ObjectId, Motion)>),
    /// A replica without a role, to everybody: this is how far my log goes.
    Standing {
        /// The last record's epoch.
        epoch: Epoch,
        /// The last record's number.
        index: Index,
    },
    /// Primary to a replica without a role: your log is the beginning of mine. Follow me.
    Follow {
        /// The epoch of the last record you said you have.
        epoch: Epoch,
        /// Its number.
        index: Index,
    },
    /// Primary to a new backup: a part of a snapshot.
    Copy {
        /// The last record the snapshot stands for.
        index: Index,
        /// Where the part belongs.
        offset: u32,
        /// How long the whole is.
        total: u32,
        /// The part.
        bytes: ByteBuf,
    },
}

/// From a player to a zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Up {
    /// I want to play here.
    Enter {
        /// Who I am. (The token that proves it is checked before this is read.)
        player: PlayerId,
        /// Which session; a higher one replaces a lower.
        session: u64,
        /// What I am called.
        name: String,
        /// The last record of this zone that I heard of, and in which epoch: to hear what I missed.
        seen: Option<(ZoneId, Epoch, Index)>,
    },
    /// I want to do this.
    Act {
        /// 1, 2, 3 … per player.
        number: u64,
        /// I have the results up to this number.
        acked: u64,
        /// How my avatar moves.
        motion: Motion,
        /// The game's action.
        action: ByteBuf,
    },
    /// My avatar moves like this from now on.
    Move(Motion),
    /// I have the results up to this number.
    Ack(u64),
    /// I leave.
    Leave,
}

/// From a zone to a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Down {
    /// You are in.
    Entered {
        /// Your avatar.
        avatar: ObjectId,
        /// Counts its owners: a later owner is believed.
        incarnation: u32,
        /// Whether the world has lost its last moments, and with them some of what you have seen.
        lost: bool,
        /// How it moves.
        motion: Motion,
        /// The last of your actions that was dealt with.
        cursor: u64,
        /// World time.
        time: Time,
        /// Who takes over if this zone is lost, to keep a connection warm.
        backup: Option<Address>,
    },
    /// Nobody reigns here that you could play with; ask somebody else.
    NotHere {
        /// Who may reign, as far as is known here.
        primary: Option<Address>,
    },
    /// You cannot enter: another session of yours is newer, or the zone is full.
    Closed(Closed),
    /// What you see now, all of it: forget the rest.
    Sight {
        /// The last record this stands for.
        index: Index,
        /// Everything in sight.
        objects: Vec<Shown>,
    },
    /// An event happened: apply all of it at once.
    Told {
        /// The event's record.
        index: Index,
        /// Objects that changed or came into sight.
        shown: Vec<Shown>,
        /// Objects that are gone.
        gone: Vec<(ObjectId, u32)>,
        /// What the game says.
        notices: Vec<ByteBuf>,
    },
    /// What became of your action.
    Result {
        /// Which.
        number: u64,
        /// What.
        outcome: Outcome,
        /// The event's record; 0 if it is told again from what was kept.
        index: Index,
    },
    /// These came into sight, or left it, because somebody moved.
    Views {
        /// They came.
        shown: Vec<Shown>,
        /// They left.
        hidden: Vec<ObjectId>,
    },
    /// Your move was heard.
    Moved {
        /// Its generation.
        generation: u32,
        /// Its sequence.
        sequence: u32,
        /// World time, to set your clock by.
        time: Time,
    },
    /// Your move was refused: your avatar moves like this.
    Corrected(Motion),
}

/// Why a player cannot enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Closed {
    /// A newer session of the same player plays.
    Superseded,
    /// There are too many players.
    Full,
    /// The game lets nobody in, or not this one.
    Refused,
}

/// An object as a player may see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Which.
    pub object: ObjectId,
    /// Counts its owners.
    pub incarnation: u32,
    /// Counts its states.
    pub version: u32,
    /// How it moves.
    pub motion: Motion,
    /// The game's `Shown`.
    pub shown: ByteBuf,
}

impl Message for Msg {
    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
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
        if matches!(msg, Self::Up(_)) && PLAYER_MESSAGE_MAX < bytes.len() {
            return Err(DecodeError::TooLong { length: bytes.len(), limit: PLAYER_MESSAGE_MAX });
        }
        Ok(msg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Heading, Millis, Position, Velocity};

    /// What players and zones say to each other, each with the value that `web/client` must make of it. Times are
    /// milliseconds there, and an address is its host and zone.
    fn talk() -> Vec<(Msg, String)> {
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
        let shown = Shown { object: object(7), incarnation: 1, version: 9, motion, shown: bytes(b"look") };
        let (time, player) = (Time::from_micros(1_790_000_000_456_789), PlayerId(u64::MAX));
        let backup = Some(Address((7 << 32) + 1));
        let enter = Up::Enter {
            player,
            session: 1 << 63,
            name: "Zoë".to_owned(),
            seen: Some((ZoneId(3), Epoch(2), 77)),
        };
        let act = Up::Act { number: 12, acked: 11, motion, action: bytes(b"go") };
        let entered = Down::Entered {
            avatar: object(5),
            incarnation: 2,
            lost: false,
            motion,
            cursor: 300,
            time,
            backup,
        };
        let alone = Down::Entered {
            avatar: object(5),
            incarnation: 1,
            lost: true,
            motion,
            cursor: 0,
            time,
            backup: None,
        };
        let sight = Down::Sight { index: 78, objects: vec![shown.clone(), shown.clone()] };
        let (gone, notices) = (vec![(object(8), 3)], vec![bytes(b"boom"), bytes(b"")]);
        let told = Down::Told { index: 79, shown: vec![shown.clone()], gone, notices };
        let result = |outcome| Down::Result { number: 12, outcome, index: 80 };
        let views = Down::Views { shown: vec![shown], hidden: vec![object(9)] };
        let moved = Down::Moved { generation: 4, sequence: 300, time };

        let m = r#"{"position":{"x":-70000,"y":123456},"velocity":{"x":1500,"y":-300},"heading":40000,"start":1790000000123,"generation":4,"sequence":300}"#;
        let o = |counter: u32| format!(r#"{{"zone":3,"epoch":2,"counter":{counter}}}"#);
        let s =
            format!(r#"{{"object":{},"incarnation":1,"version":9,"motion":{m},"shown":"6c6f6f6b"}}"#, o(7));
        let (avatar, time) = (o(5), "1790000000456.789");
        let up = |up, value: String| (Msg::Up(up), value);
        let down = |down, value: String| (Msg::Down(ZoneId(3), Epoch(2), down), value);
        vec![
            up(
                enter,
                r#"{"kind":"Enter","player":"18446744073709551615","session":"9223372036854775808","name":"Zoë","seen":{"zone":3,"epoch":2,"index":77}}"#
                    .to_owned(),
            ),
            up(act, format!(r#"{{"kind":"Act","number":12,"acked":11,"motion":{m},"action":"676f"}}"#)),
            up(Up::Move(motion), format!(r#"{{"kind":"Move","motion":{m}}}"#)),
            up(Up::Ack(300), r#"{"kind":"Ack","acked":300}"#.to_owned()),
            up(Up::Leave, r#"{"kind":"Leave"}"#.to_owned()),
            down(
                entered,
                format!(
                    r#"{{"kind":"Entered","avatar":{avatar},"incarnation":2,"lost":false,"motion":{m},"cursor":300,"time":{time},"backup":{{"host":7,"zone":1}}}}"#
                ),
            ),
            down(
                alone,
                format!(
                    r#"{{"kind":"Entered","avatar":{avatar},"incarnation":1,"lost":true,"motion":{m},"cursor":0,"time":{time},"backup":null}}"#
                ),
            ),
            down(
                Down::NotHere { primary: backup },
                r#"{"kind":"NotHere","primary":{"host":7,"zone":1}}"#.to_owned(),
            ),
            down(Down::Closed(Closed::Superseded), r#"{"kind":"Closed","why":"Superseded"}"#.to_owned()),
            down(Down::Closed(Closed::Full), r#"{"kind":"Closed","why":"Full"}"#.to_owned()),
            down(Down::Closed(Closed::Refused), r#"{"kind":"Closed","why":"Refused"}"#.to_owned()),
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
            down(Down::Corrected(motion), format!(r#"{{"kind":"Corrected","motion":{m}}}"#)),
        ]
    }

    /// Browsers are updated later than zones: these bytes mean these messages. `web/client` reads the same table.
    #[test]
    fn what_is_said_to_players_stays_as_it_is() {
        let golden = include_str!("../testdata/messages-v1.txt");
        let mut text = String::new();
        for (msg, value) in talk() {
            let mut bytes = Vec::new();
            msg.encode(&mut bytes);
            assert_eq!(Msg::decode(&bytes), Ok(msg));
            text += &bytes.iter().map(|it| format!("{it:02x}")).collect::<String>();
            text += &format!(" {value}\n");
        }
        if std::env::var_os("UPDATE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/messages-v1.txt");
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(text, golden, "UPDATE=1 rewrites the table");
    }
}

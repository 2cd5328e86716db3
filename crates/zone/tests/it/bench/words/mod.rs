//! Messages, records and requests in words. A reader of a table sees these, and no number that only the code uses.

mod mesh;
mod msg;
mod record;

pub use msg::{closed, load};

use super::game::{NumbersLetter, TableObject};
use super::names::{self, TableNames};
use machine::directory::{DirectoryReply, DirectoryRequest};
use machine::{Address, disk};
use space::{Epoch, ObjectId, ZoneId};
use zone::{BetweenReplicas, FromPlayer, Leadership, Outcome, ZoneMsg};

/// Kinds of messages and requests that a table may hide. Most are hidden at first: they repeat all the time that all is
/// well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HiddenKind {
    /// Beacons of a primary and their answers.
    Beacons,
    /// Moves of players, and streams of motions.
    Moves,
    /// Acknowledgements of results by players.
    Acks,
    /// Questions of primaries for the primaries of other zones, and the answers.
    Seeks,
    /// Updates between neighbouring zones about objects near their border.
    Borders,
    /// The replicas that clients should be able to reach.
    Contacts,
    /// Reads of the directory by replicas without a role.
    Reads,
    /// Requests to disks that do not wait for the table.
    Disks,
    /// Records on their way to the backup, acknowledgements and announcements.
    Replication,
}

impl HiddenKind {
    /// The kinds that are hidden at first.
    pub const QUIET: [Self; 8] = [
        Self::Beacons,
        Self::Moves,
        Self::Acks,
        Self::Seeks,
        Self::Borders,
        Self::Contacts,
        Self::Reads,
        Self::Disks,
    ];

    pub fn parse(word: &str) -> Self {
        match word {
            "beacons" => Self::Beacons,
            "moves" => Self::Moves,
            "acks" => Self::Acks,
            "seeks" => Self::Seeks,
            "borders" => Self::Borders,
            "contacts" => Self::Contacts,
            "reads" => Self::Reads,
            "disks" => Self::Disks,
            "replication" => Self::Replication,
            _ => panic!("nothing to show: {word}"),
        }
    }

    /// The kind of a message; `None` if it is always shown.
    pub fn of(msg: &ZoneMsg) -> Option<Self> {
        use zone::{BetweenZones, ToPlayer};
        match msg {
            ZoneMsg::BetweenReplicas(_, BetweenReplicas::Beacon { .. } | BetweenReplicas::Heard { .. }) => {
                Some(Self::Beacons)
            }
            ZoneMsg::BetweenReplicas(_, BetweenReplicas::Motions(_))
            | ZoneMsg::FromPlayer(FromPlayer::Move(_)) => Some(Self::Moves),
            ZoneMsg::ToPlayer(_, _, ToPlayer::Moved { .. })
            | ZoneMsg::BetweenZones(_, _, _, BetweenZones::Motions(_)) => Some(Self::Moves),
            ZoneMsg::BetweenReplicas(_, BetweenReplicas::Append { .. } | BetweenReplicas::Acked { .. }) => {
                Some(Self::Replication)
            }
            ZoneMsg::FromPlayer(FromPlayer::Ack(_)) => Some(Self::Acks),
            ZoneMsg::BetweenZones(_, _, _, BetweenZones::Seek | BetweenZones::Here) => Some(Self::Seeks),
            ZoneMsg::BetweenZones(
                _,
                _,
                _,
                BetweenZones::Watch | BetweenZones::Ghosts(_) | BetweenZones::BorderUpdate(_),
            ) => Some(Self::Borders),
            ZoneMsg::ToPlayer(_, _, ToPlayer::Contacts(_)) => Some(Self::Contacts),
            _ => None,
        }
    }
}

/// `7`, or `7 to 9`.
pub fn range(first: u64, count: usize) -> String {
    match count as u64 {
        1 => first.to_string(),
        count => format!("{first} to {}", first + count - 1),
    }
}

/// The items with commas between them; `nothing` if there are none.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    if items.is_empty() { "nothing".to_owned() } else { items.join(", ") }
}

pub fn zone(zone: ZoneId) -> String {
    format!("z{}", zone.0)
}

/// `b leads with backup c`.
pub fn leads(primary: Address, backup: Option<Address>) -> String {
    let backup = backup.map_or("alone".to_owned(), |it| format!("with backup {}", names::host(it)));
    format!("{} leads {backup}", names::host(primary))
}

pub fn leadership(leadership: Leadership) -> String {
    let suspects = leadership.suspects.iter().count();
    let suspects = if suspects == 0 { String::new() } else { format!(", {suspects} suspect") };
    format!("{}, epoch {}{suspects}", leads(leadership.primary, leadership.backup), leadership.epoch.0)
}

pub fn log_end(epoch: Epoch, index: u64) -> String {
    format!("the log ends at {index} of epoch {}", epoch.0)
}

/// `ann is 3`.
pub fn object_state(state: &[u8]) -> String {
    match postcard::from_bytes::<TableObject>(state) {
        Ok(state) => format!("{} is {}", state.name, state.value),
        Err(error) => format!("no state: {error}"),
    }
}

pub fn letter(bytes: &[u8]) -> String {
    postcard::from_bytes::<NumbersLetter>(bytes).map_or("no letter".to_owned(), |it| format!("add {}", it.0))
}

/// A notice or a refusal.
pub fn said(bytes: &[u8]) -> String {
    postcard::from_bytes::<String>(bytes).unwrap_or_else(|error| format!("no text: {error}"))
}

pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::Refused(why) => format!("refused, {}", said(why)),
        Outcome::Fault(why) => format!("fault, {why}"),
        Outcome::Busy => "busy".to_owned(),
    }
}

/// A request for the directory.
pub fn directory_request(request: &DirectoryRequest) -> String {
    match request {
        DirectoryRequest::Read { .. } => "who leads?".to_owned(),
        DirectoryRequest::Swap { writes, .. } => {
            let request = writes.first().and_then(|it| Leadership::from_bytes(it.value.as_deref()?));
            format!("let it be: {}", request.map_or("nothing".to_owned(), leadership))
        }
        DirectoryRequest::Clock { .. } => "what time is it?".to_owned(),
    }
}

/// An answer of the directory.
pub fn directory_reply(done: &DirectoryReply) -> String {
    let entry = |it: Option<&machine::directory::DirectoryEntry>| {
        it.and_then(|it| Leadership::from_bytes(&it.value)).map_or("nothing is known".to_owned(), leadership)
    };
    match done {
        DirectoryReply::Read { entries, .. } => entry(entries.first()),
        DirectoryReply::Won { .. } => "won".to_owned(),
        DirectoryReply::Lost { entries, .. } => format!("lost, {}", entry(entries.first())),
        DirectoryReply::Clock { time, .. } => format!("it is {time}"),
        DirectoryReply::Unknown { .. } => "unknown".to_owned(),
    }
}

/// A request for a disk.
pub fn disk(request: &disk::DiskRequest) -> String {
    match request {
        disk::DiskRequest::Append { first, records, .. } => format!("write {}", range(*first, records.len())),
        disk::DiskRequest::Cut { from, .. } => format!("forget everything from {from} on"),
        disk::DiskRequest::Keep { index, .. } => format!("keep a snapshot up to {index}"),
        disk::DiskRequest::Replace { index, .. } => {
            format!("hold a snapshot up to {index}, and nothing else")
        }
        disk::DiskRequest::Recall { .. } => "what do you hold?".to_owned(),
    }
}

impl TableNames {
    fn objects(&self, objects: &[ObjectId]) -> String {
        list(objects.iter().map(|&it| self.object(it)))
    }
}

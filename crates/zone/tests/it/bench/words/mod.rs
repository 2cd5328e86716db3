//! What happened, in words. A reader of a table sees these and never a number that means something only to the code.

mod mesh;
mod msg;
mod record;

pub use msg::closed;

use super::game::{Letter, Thing};
use super::names::{self, Names};
use machine::directory::{Done, Request};
use machine::{Address, disk};
use space::{Epoch, ObjectId, ZoneId};
use zone::{Msg, Outcome, Peer, Reign, Up};

/// Kinds of messages and requests that a table may hide. Most are hidden unless it asks for them: they say that all is
/// well, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Beacons of a primary and their answers.
    Beacons,
    /// How things move.
    Moves,
    /// Players who have their results.
    Acks,
    /// Primaries of different zones that look for each other.
    Seeks,
    /// What neighbouring zones tell each other of what is near the border.
    Borders,
    /// Reads of the directory by replicas without a role.
    Reads,
    /// Disks that do not wait for the table.
    Disks,
    /// How records reach the backup, and are announced.
    Replication,
}

impl Kind {
    /// Those that are hidden at first.
    pub const QUIET: [Self; 7] =
        [Self::Beacons, Self::Moves, Self::Acks, Self::Seeks, Self::Borders, Self::Reads, Self::Disks];

    pub fn parse(word: &str) -> Self {
        match word {
            "beacons" => Self::Beacons,
            "moves" => Self::Moves,
            "acks" => Self::Acks,
            "seeks" => Self::Seeks,
            "borders" => Self::Borders,
            "reads" => Self::Reads,
            "disks" => Self::Disks,
            "replication" => Self::Replication,
            _ => panic!("nothing to show: {word}"),
        }
    }

    /// The kind of a message; `None` if it is always shown.
    pub fn of(msg: &Msg) -> Option<Self> {
        use zone::{Down, Mesh};
        match msg {
            Msg::Peer(_, Peer::Beacon { .. } | Peer::Heard { .. }) => Some(Self::Beacons),
            Msg::Peer(_, Peer::Motions(_)) | Msg::Up(Up::Move(_)) => Some(Self::Moves),
            Msg::Down(_, _, Down::Moved { .. }) | Msg::Mesh(_, _, _, Mesh::Motions(_)) => Some(Self::Moves),
            Msg::Peer(_, Peer::Append { .. } | Peer::Acked { .. }) => Some(Self::Replication),
            Msg::Up(Up::Ack(_)) => Some(Self::Acks),
            Msg::Mesh(_, _, _, Mesh::Seek | Mesh::Here) => Some(Self::Seeks),
            Msg::Mesh(_, _, _, Mesh::Watch | Mesh::Ghosts(_) | Mesh::Told(_)) => Some(Self::Borders),
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

/// Things one after the other; `nothing` if there are none.
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

pub fn reign(reign: Reign) -> String {
    format!("{}, epoch {}", leads(reign.primary, reign.backup), reign.epoch.0)
}

pub fn log_end(epoch: Epoch, index: u64) -> String {
    format!("the log ends at {index} of epoch {}", epoch.0)
}

/// `ann is 3`.
pub fn thing(state: &[u8]) -> String {
    match postcard::from_bytes::<Thing>(state) {
        Ok(thing) => format!("{} is {}", thing.name, thing.value),
        Err(error) => format!("no state: {error}"),
    }
}

pub fn letter(bytes: &[u8]) -> String {
    postcard::from_bytes::<Letter>(bytes).map_or("no letter".to_owned(), |it| format!("add {}", it.0))
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
pub fn asked(request: &Request) -> String {
    match request {
        Request::Read { .. } => "who leads?".to_owned(),
        Request::Swap { writes, .. } => {
            let wanted = writes.first().and_then(|it| Reign::from_bytes(it.value.as_deref()?));
            format!("let it be: {}", wanted.map_or("nothing".to_owned(), reign))
        }
        Request::Clock { .. } => "what time is it?".to_owned(),
    }
}

/// The directory's answer.
pub fn answered(done: &Done) -> String {
    let entry = |it: Option<&machine::directory::Entry>| {
        it.and_then(|it| Reign::from_bytes(&it.value)).map_or("nothing is known".to_owned(), reign)
    };
    match done {
        Done::Read { entries, .. } => entry(entries.first()),
        Done::Won { .. } => "won".to_owned(),
        Done::Lost { entries, .. } => format!("lost, {}", entry(entries.first())),
        Done::Clock { time, .. } => format!("it is {time}"),
        Done::Unknown { .. } => "unknown".to_owned(),
    }
}

/// A request for a disk.
pub fn disk(request: &disk::Request) -> String {
    match request {
        disk::Request::Append { first, records, .. } => format!("keep {}", range(*first, records.len())),
        disk::Request::Cut { from, .. } => format!("forget everything from {from} on"),
        disk::Request::Keep { index, .. } => format!("keep a snapshot up to {index}"),
        disk::Request::Recall { .. } => "what do you hold?".to_owned(),
    }
}

impl Names {
    fn objects(&self, objects: &[ObjectId]) -> String {
        list(objects.iter().map(|&it| self.object(it)))
    }
}

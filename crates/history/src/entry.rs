//! One thing that happened, and how requests for disks and directories become entries.

use machine::{Address, Time, directory, disk};
use serde::{Deserialize, Serialize};
use space::{Epoch, ZoneId};
use std::fmt;
use zone::{Index, Note, Record, Reign, Snapshot};

/// The name of a record.
pub type Name = (Epoch, Index);

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When, by the clock that all processes share.
    pub time: Time,
    /// To whom: a replica, a player's session, a directory.
    pub by: Address,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// A new life begins. If there was an earlier one that did not stop, it was killed.
    Started,
    /// The disk that a life begins with would give back this record as its last one.
    Holds(Option<Name>),
    /// It says something about itself.
    Said(Note),
    /// Records up to this one are on its disk.
    Kept(Name),
    /// A snapshot that stands for this record is on its disk.
    Pictured(Name),
    /// Its disk has forgotten the records from this number on.
    Cut(Index),
    /// The directory made this swap.
    Reign(ZoneId, Reign),
    /// It was killed. Written by whoever killed it; a life that is followed by another need not be mentioned.
    Crashed,
    /// It ended by itself. Nothing follows in this life.
    Stopped,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12} µs  {}  ", self.time.as_micros(), self.by.0)?;
        match &self.what {
            What::Said(Note::Wrote { record, ran }) => match Record::from_bytes(record) {
                Some(it) => {
                    let asked = ran.as_ref().map_or("", |_| ", asked the game");
                    write!(f, "wrote record {} of {:?}: {:?}{asked}", it.index, it.epoch, it.cause)
                }
                None => write!(f, "wrote {} bytes that are no record", record.len()),
            },
            What::Said(note) => write!(f, "{note:?}"),
            what => write!(f, "{what:?}"),
        }
    }
}

/// What a disk will have done when it has carried out a request; `None` for one that only reads. To be written when it
/// answers [`disk::Done::Persisted`], and not if it fails.
pub fn disk_keeps(request: &disk::Request) -> Option<What> {
    match request {
        disk::Request::Append { records, .. } => name_of_record(records.last()?).map(What::Kept),
        disk::Request::Keep { snapshot, .. } => name_of_snapshot(snapshot).map(What::Pictured),
        disk::Request::Cut { from, .. } => Some(What::Cut(*from)),
        disk::Request::Recall { .. } => None,
    }
}

/// What a disk gives back at the beginning of a life.
pub fn disk_recalled(recalled: &disk::Recalled) -> What {
    let record = recalled.records.last().and_then(|it| name_of_record(it));
    let snapshot = || recalled.snapshot.as_ref().and_then(|(_, bytes)| name_of_snapshot(bytes));
    What::Holds(record.or_else(snapshot))
}

fn name_of_record(bytes: &[u8]) -> Option<Name> {
    Record::from_bytes(bytes).map(|it| (it.epoch, it.index))
}

fn name_of_snapshot(bytes: &[u8]) -> Option<Name> {
    postcard::from_bytes::<Snapshot>(bytes).ok().map(|it| (it.epoch, it.head))
}

/// The reigns that begin with what the directory has just done. To be written before its answer leaves.
pub fn directory_swapped(request: &directory::Request, done: &directory::Done) -> Vec<What> {
    match (request, done) {
        (directory::Request::Swap { writes, .. }, directory::Done::Won { .. }) => {
            writes.iter().filter_map(|it| reign_of(&it.key, it.value.as_deref()?)).collect()
        }
        _ => Vec::new(),
    }
}

/// The reigns that a directory finds on its disk when it starts: the last swap may be one that nobody was told of.
pub fn directory_holds(entries: impl IntoIterator<Item = directory::Entry>) -> Vec<What> {
    entries.into_iter().filter_map(|it| reign_of(&it.key, &it.value)).collect()
}

fn reign_of(key: &directory::Key, value: &[u8]) -> Option<What> {
    let zone = ZoneId(key.0.strip_prefix("zone/")?.parse().ok()?);
    (zone::key(zone) == *key).then_some(())?;
    Reign::from_bytes(value).map(|reign| What::Reign(zone, reign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Ticket;
    use machine::directory::{Key, Revision, Write};

    fn record(index: u64) -> Vec<u8> {
        let (epoch, time) = (Epoch(2), Time::from_millis(index));
        let (changes, notices, motions) = (Vec::new(), Vec::new(), Vec::new());
        let cut = zone::cut_at(time);
        Record { index, epoch, cut, time, cause: zone::Cause::Reign, changes, notices, motions }.to_bytes()
    }

    #[test]
    fn requests_say_what_a_disk_will_hold() {
        let ticket = Ticket(1);
        let append = disk::Request::Append { ticket, first: 6, records: vec![record(6), record(7)] };
        assert_eq!(disk_keeps(&append), Some(What::Kept((Epoch(2), 7))));
        assert_eq!(disk_keeps(&disk::Request::Cut { ticket, from: 3 }), Some(What::Cut(3)));
        assert_eq!(disk_keeps(&disk::Request::Recall { ticket }), None);
        let recalled = disk::Recalled { snapshot: None, first: 1, records: vec![record(1)] };
        assert_eq!(disk_recalled(&recalled), What::Holds(Some((Epoch(2), 1))));
        assert_eq!(disk_recalled(&disk::Recalled::default()), What::Holds(None));
    }

    #[test]
    fn swaps_that_happened_are_reigns() {
        let reign = Reign::first(Address(9));
        let write = |key: &str| Write {
            key: Key(key.to_owned()),
            expected: Revision(0),
            value: Some(reign.to_bytes()),
        };
        let ticket = Ticket(1);
        let swap =
            directory::Request::Swap { ticket, writes: vec![write("zone/4"), write("zone/x"), write("map")] };
        let won = directory::Done::Won { ticket, revision: Revision(1) };
        assert_eq!(directory_swapped(&swap, &won), [What::Reign(ZoneId(4), reign)]);
        let lost = directory::Done::Lost { ticket, entries: Vec::new() };
        assert_eq!(directory_swapped(&swap, &lost), []);
        let held =
            directory::Entry { key: zone::key(ZoneId(4)), revision: Revision(1), value: reign.to_bytes() };
        assert_eq!(directory_holds([held]), [What::Reign(ZoneId(4), reign)]);
    }
}

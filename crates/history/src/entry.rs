//! An entry of a history, and the entries that requests to disks and directories become.

use machine::{Address, Time, directory, disk};
use serde::{Deserialize, Serialize};
use space::{Epoch, ZoneId};
use std::fmt;
use zone::{Index, Leadership, Note, Record, StateSnapshot, Suspect};

/// The name of a record: its epoch and its number.
pub type RecordName = (Epoch, Index);

/// One line of a history: something that happened in a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The time by the clock that all processes share.
    pub time: Time,
    /// The machine it happened to: a replica, a player's session, a directory.
    pub by: Address,
    /// The kind of entry, with its details.
    pub what: EntryKind,
}

/// The kind of an entry, with its details.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryKind {
    /// A new life of the process begins. If there was an earlier one that did not stop, it was killed.
    Started,
    /// The last record on the disk with which a life begins.
    Holds(Option<RecordName>),
    /// The machine reports something about itself.
    Said(Note),
    /// Records up to this one are on the machine's disk.
    Kept(RecordName),
    /// A snapshot that covers this record is on the machine's disk.
    Pictured(RecordName),
    /// The machine's disk has deleted the records from this number on.
    Cut(Index),
    /// The directory made this swap.
    Leadership(ZoneId, Leadership),
    /// The process was killed. Written by the process that killed it; not needed if another life follows.
    Crashed,
    /// The process ended by itself. Nothing follows in this life.
    Stopped,
    /// The suspects of the leadership of this epoch. Stands before the leadership, and is missing where there are none.
    Suspects(ZoneId, Epoch, Vec<Suspect>),
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>12} µs  {}  ", self.time.as_micros(), self.by.0)?;
        match &self.what {
            EntryKind::Said(Note::Wrote { record, execution }) => match Record::from_bytes(record) {
                Some(it) => {
                    let asked = execution.as_ref().map_or("", |_| ", asked the game");
                    write!(f, "wrote record {} of {:?}: {:?}{asked}", it.index, it.epoch, it.cause)
                }
                None => write!(f, "wrote {} bytes that are no record", record.len()),
            },
            // Why `{:?}`: people read these lines, and checkers read the bytes.
            EntryKind::Said(note) => write!(f, "{note:?}"),
            what => write!(f, "{what:?}"),
        }
    }
}

/// The entry for a disk request once the disk has carried it out; `None` for one that only reads. To be written when
/// the disk answers [`disk::DiskReply::Persisted`], and not if it fails.
pub fn disk_keeps(request: &disk::DiskRequest) -> Option<EntryKind> {
    match request {
        disk::DiskRequest::Append { records, .. } => name_of_record(records.last()?).map(EntryKind::Kept),
        disk::DiskRequest::Keep { snapshot, .. } => name_of_snapshot(snapshot).map(EntryKind::Pictured),
        // Why not `Pictured`: that leaves the records after the snapshot in place.
        disk::DiskRequest::Replace { snapshot, .. } => name_of_snapshot(snapshot).map(EntryKind::Kept),
        disk::DiskRequest::Cut { from, .. } => Some(EntryKind::Cut(*from)),
        disk::DiskRequest::Recall { .. } => None,
    }
}

/// The entry for the contents of a disk at the beginning of a life.
pub fn disk_recalled(recalled: &disk::DiskContents) -> EntryKind {
    // The last record names the end of the log; without records the snapshot does.
    let record = recalled.records.last().and_then(|it| name_of_record(it));
    let snapshot = || recalled.snapshot.as_ref().and_then(|(_, bytes)| name_of_snapshot(bytes));
    EntryKind::Holds(record.or_else(snapshot))
}

fn name_of_record(bytes: &[u8]) -> Option<RecordName> {
    Record::from_bytes(bytes).map(|it| (it.epoch, it.index))
}

fn name_of_snapshot(bytes: &[u8]) -> Option<RecordName> {
    postcard::from_bytes::<StateSnapshot>(bytes).ok().map(|it| (it.epoch, it.head))
}

/// The leaderships that begin with a swap that the directory has just made. To be written before its answer leaves.
pub fn directory_swapped(
    request: &directory::DirectoryRequest,
    done: &directory::DirectoryReply,
) -> Vec<EntryKind> {
    match (request, done) {
        (directory::DirectoryRequest::Swap { writes, .. }, directory::DirectoryReply::Won { .. }) => {
            writes.iter().filter_map(|it| leadership_of(&it.key, it.value.as_deref()?)).flatten().collect()
        }
        // Reads, and swaps that did not happen, change no leadership.
        _ => Vec::new(),
    }
}

/// The leaderships that a directory finds on its disk when it starts: the last swap may be one that was never answered.
pub fn directory_holds(entries: impl IntoIterator<Item = directory::DirectoryEntry>) -> Vec<EntryKind> {
    entries.into_iter().filter_map(|it| leadership_of(&it.key, &it.value)).flatten().collect()
}

fn leadership_of(key: &directory::Key, value: &[u8]) -> Option<impl Iterator<Item = EntryKind> + use<>> {
    let zone = ZoneId(key.0.strip_prefix("zone/")?.parse().ok()?);
    // Why compared again: `zone/07` parses, too, but is no zone's key.
    (zone::leadership_key(zone) == *key).then_some(())?;
    let leadership = Leadership::from_bytes(value)?;
    let suspects: Vec<_> = leadership.suspects.iter().collect();
    let suspects = (!suspects.is_empty()).then_some(EntryKind::Suspects(zone, leadership.epoch, suspects));
    Some(suspects.into_iter().chain([EntryKind::Leadership(zone, leadership)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Ticket;
    use machine::directory::{DirectoryWrite, Key, Revision};

    fn record(index: u64) -> Vec<u8> {
        let (epoch, time) = (Epoch(2), Time::from_millis(index));
        let (changes, notices, motions) = (Vec::new(), Vec::new(), Vec::new());
        let cut = zone::cut_at(time);
        Record { index, epoch, cut, time, cause: zone::Cause::Leadership, changes, notices, motions }
            .to_bytes()
    }

    #[test]
    fn requests_say_what_a_disk_will_hold() {
        let ticket = Ticket(1);
        let append = disk::DiskRequest::Append { ticket, first: 6, records: vec![record(6), record(7)] };
        assert_eq!(disk_keeps(&append), Some(EntryKind::Kept((Epoch(2), 7))));
        assert_eq!(disk_keeps(&disk::DiskRequest::Cut { ticket, from: 3 }), Some(EntryKind::Cut(3)));
        let snapshot = postcard::to_stdvec(&zone::ZoneState::new(ZoneId(1)).snapshot()).unwrap();
        let replace = disk::DiskRequest::Replace { ticket, index: 0, snapshot };
        assert_eq!(disk_keeps(&replace), Some(EntryKind::Kept((Epoch(0), 0))));
        assert_eq!(disk_keeps(&disk::DiskRequest::Recall { ticket }), None);
        let recalled = disk::DiskContents { snapshot: None, first: 1, records: vec![record(1)] };
        assert_eq!(disk_recalled(&recalled), EntryKind::Holds(Some((Epoch(2), 1))));
        assert_eq!(disk_recalled(&disk::DiskContents::default()), EntryKind::Holds(None));
    }

    #[test]
    fn swaps_that_happened_are_leaderships() {
        let leadership = Leadership::first(Address(9));
        let write = |key: &str| DirectoryWrite {
            key: Key(key.to_owned()),
            expected: Revision(0),
            value: Some(leadership.to_bytes()),
        };
        let ticket = Ticket(1);
        let swap = directory::DirectoryRequest::Swap {
            ticket,
            writes: vec![write("zone/4"), write("zone/x"), write("map")],
        };
        let won = directory::DirectoryReply::Won { ticket, revision: Revision(1) };
        assert_eq!(directory_swapped(&swap, &won), [EntryKind::Leadership(ZoneId(4), leadership)]);
        let lost = directory::DirectoryReply::Lost { ticket, entries: Vec::new() };
        assert_eq!(directory_swapped(&swap, &lost), []);
        let held = directory::DirectoryEntry {
            key: zone::leadership_key(ZoneId(4)),
            revision: Revision(1),
            value: leadership.to_bytes(),
        };
        assert_eq!(directory_holds([held]), [EntryKind::Leadership(ZoneId(4), leadership)]);
    }

    #[test]
    fn suspects_stand_before_their_leadership() {
        let suspect = Suspect::Act { player: game::PlayerId(3), session: 1, number: 2 };
        let leadership = Leadership::first(Address(9)).accusing(suspect);
        let held = directory::DirectoryEntry {
            key: zone::leadership_key(ZoneId(4)),
            revision: Revision(1),
            value: leadership.to_bytes(),
        };
        let suspects = EntryKind::Suspects(ZoneId(4), Epoch(1), vec![suspect]);
        assert_eq!(directory_holds([held]), [suspects, EntryKind::Leadership(ZoneId(4), leadership)]);
    }
}

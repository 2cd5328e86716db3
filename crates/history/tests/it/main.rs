//! The bytes of a history are the same as when version 1 was fixed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use game::PlayerId;
use history::{Entry, EntryKind, Header, MemoryFolder, WorldHeader, read_files};
use machine::{Address, Time};
use space::{Epoch, Position, ZoneId};
use zone::{Durability, Note, Outcome};

fn header() -> Header {
    let world = WorldHeader {
        game: "kosmos".to_owned(),
        schema: 0x0123_4567_89ab_cdef,
        zone: ZoneId(1),
        region: vec![Position::ORIGIN],
        hosts: vec![Address(1)],
        durability: Durability::Batched,
    };
    Header { process: "host-1".to_owned(), world: Some(world) }
}

fn entries() -> Vec<Entry> {
    let answered = Note::Answered { player: PlayerId(7), number: 300, outcome: Outcome::Done };
    let all = [
        EntryKind::Started,
        EntryKind::Holds(None),
        EntryKind::Said(answered),
        EntryKind::Kept((Epoch(3), 9)),
        EntryKind::Stopped,
    ];
    let by = Address(1 << 32 | 1);
    let at = |micros: u64| Time::from_micros(micros * 100);
    (1..).zip(all).map(|(micros, what)| Entry { time: at(micros), by, what }).collect()
}

/// A change of these bytes is a change of the format: it needs another version.
#[test]
fn the_format_is_what_it_was() {
    let mut folder = MemoryFolder::default();
    let file = folder.begin(&header());
    entries().iter().for_each(|it| folder.write(file, it));
    let files = folder.into_files();
    let hex: String = files[0].1.iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!(hex, include_str!("../../testdata/v1.hex").trim());
    let lives = read_files(files).unwrap();
    assert_eq!((lives[0].0.as_str(), &lives[0].1.header), ("host-1.1.history", &Some(header())));
    assert_eq!(lives[0].1.entries, entries());
}

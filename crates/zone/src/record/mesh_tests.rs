//! Golden bytes of what records say about other zones: causes 9 to 12, changes 11 to 21, and every item of the post.

use super::tests::{bytes, from_hex, hex, motion, object};
use super::*;
use crate::mesh::{DecidedEvent, ObjectSnapshot, Transfer};
use space::Distance;
use std::collections::{BTreeSet, VecDeque};

const EVENT: EventId = EventId { zone: ZoneId(3), epoch: Epoch(2), number: 300 };
const PLAYER: PlayerId = PlayerId(1 << 40);
const AT: Time = Time::from_micros(5_000_000_000);
const OTHER: ZoneId = ZoneId(4);

fn record(cause: Cause, changes: Vec<Change>) -> Record {
    let time = Time::from_micros(6_000_000_000);
    Record {
        index: 78,
        epoch: Epoch(2),
        cut: cut_at(time),
        time,
        cause,
        changes,
        notices: Vec::new(),
        motions: Vec::new(),
    }
}

fn boom() -> (Hearers, ByteBuf) {
    (Hearers::Near(motion().position, Distance::of_metres(60)), bytes(b"boom"))
}

fn changed() -> ObjectWrite {
    ObjectWrite {
        zone: OTHER,
        object: object(1),
        incarnation: 2,
        version: 9,
        motion: Some(motion()),
        state: Some(bytes(b"state")),
        timers: vec![(AT, bytes(b"wake"))],
    }
}

fn removed() -> ObjectWrite {
    ObjectWrite {
        zone: OTHER,
        object: object(2),
        incarnation: 0,
        version: 3,
        motion: None,
        state: None,
        timers: Vec::new(),
    }
}

fn present_player() -> PlayerState {
    let kept =
        [Outcome::Done, Outcome::Refused(bytes(b"no")), Outcome::Fault("bug".to_owned()), Outcome::Busy];
    PlayerState {
        name: "Zoë".to_owned(),
        session: 2,
        present: true,
        avatar: Some(object(5)),
        place: motion().position,
        cursor: 14,
        kept: kept.into(),
    }
}

fn absent_player() -> PlayerState {
    PlayerState {
        name: "Ada".to_owned(),
        session: 1,
        present: false,
        avatar: None,
        place: motion().position,
        cursor: 0,
        kept: VecDeque::new(),
    }
}

/// Every kind of item, with and without what is optional.
fn items() -> Vec<PostItem> {
    let notices = vec![(Hearers::Player(object(1)), bytes(b"psst")), boom()];
    let decided = DecidedEvent { event: EVENT, time: AT, writes: vec![changed(), removed()], notices };
    let snapshot = ObjectSnapshot {
        object: object(5),
        incarnation: 2,
        version: 9,
        motion: motion(),
        state: bytes(b"state"),
    };
    let avatar = Transfer {
        snapshot: snapshot.clone(),
        timers: vec![(AT, bytes(b"wake"))],
        player: Some((PLAYER, present_player())),
        player_address: Some(Address(6)),
        event: Some(EVENT),
    };
    let thing = Transfer { snapshot, timers: Vec::new(), player: None, player_address: None, event: None };
    let letter = |to, text: &[u8], hops| PostItem::Letter { to, letter: bytes(text), hops };
    vec![
        PostItem::Decided(decided),
        PostItem::Offer(Box::new(avatar)),
        PostItem::Offer(Box::new(thing)),
        PostItem::Answer { object: object(5), incarnation: 2, taken: true },
        letter(Addressee::Object(object(7)), b"hi", 1),
        letter(Addressee::Place(motion().position), b"", 0),
        letter(Addressee::World, b"score", 2),
        PostItem::Location { entity: EntityId::Object(object(5)), zone: Some(OTHER), incarnation: 2 },
        PostItem::Location { entity: EntityId::Player(PLAYER), zone: None, incarnation: 3 },
    ]
}

/// One record for each cause that lies in another zone.
fn records() -> Vec<Record> {
    let joint = vec![
        Change::Elsewhere(changed()),
        Change::Elsewhere(removed()),
        Change::Released { event: EVENT },
        Change::Taken { from: OTHER, number: 300 },
    ];
    let area = Scope::Area { centre: motion().position, radius: Distance::of_metres(60) };
    let lock = vec![
        Change::Granted { event: EVENT, attempt: 2, scope: area, objects: vec![object(1), object(2)] },
        Change::Granted {
            event: EVENT,
            attempt: 3,
            scope: Scope::Objects(vec![object(7)]),
            objects: Vec::new(),
        },
    ];
    let transfer = vec![
        Change::Offered { object: object(5), to: OTHER },
        Change::Kept { object: object(5) },
        Change::Departed { object: object(5), to: OTHER, incarnation: 2 },
        Change::Brought { player: PLAYER, row: present_player() },
        Change::Brought { player: PLAYER, row: absent_player() },
    ];
    let posted = |(item, number)| Change::Posted { to: OTHER, number, item };
    let mut post: Vec<_> = items().into_iter().zip(300..).map(posted).collect();
    post.extend([
        Change::Delivered { to: OTHER, upto: 300 },
        Change::Location { entity: EntityId::Object(object(5)), zone: Some(OTHER), incarnation: 2 },
        Change::Location { entity: EntityId::Player(PLAYER), zone: None, incarnation: 3 },
        Change::Acted { player: PLAYER, number: 15, outcome: Outcome::Busy, acked: 14 },
    ]);
    vec![
        Record {
            notices: vec![boom()],
            motions: vec![(object(1), motion())],
            ..record(Cause::Joint(EVENT), joint)
        },
        record(Cause::Lock(EVENT), lock),
        record(Cause::Transfer(object(5)), transfer),
        record(Cause::Post(OTHER), post),
    ]
}

/// Logs on disks outlive programs: these bytes mean these records for ever.
#[test]
fn old_records_about_other_zones_decode_for_ever() {
    let golden: Vec<&str> = include_str!("../../testdata/record-mesh-v1.hex").lines().collect();
    let written: Vec<String> = records().iter().map(|it| hex(&it.to_bytes())).collect();
    assert_eq!(written, golden, "today's writer writes them, too");
    for (line, record) in golden.into_iter().zip(records()) {
        let old = from_hex(line);
        for cut in 0..old.len() {
            assert_eq!(Record::from_bytes(&old[..cut]), None, "cut at {cut}");
        }
        assert_eq!(Record::from_bytes(&old), Some(record));
    }
}

/// The first byte of a variant is its number.
#[test]
fn every_change_and_item_between_zones_has_golden_bytes() {
    let number = |bytes: Vec<u8>| u32::from(bytes[0]);
    let changes: BTreeSet<u32> = records()
        .iter()
        .flat_map(|it| &it.changes)
        .map(|it| number(postcard::to_stdvec(it).unwrap()))
        .collect();
    assert_eq!(changes, [4].into_iter().chain(11..=21).collect());
    let items: BTreeSet<u32> = items().iter().map(|it| number(postcard::to_stdvec(it).unwrap())).collect();
    assert_eq!(items, (0..=4).collect());
}

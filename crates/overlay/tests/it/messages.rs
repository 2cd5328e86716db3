//! The peer's messages, byte by byte, compared with the committed table. `UPDATE=1` rewrites it.

use machine::Address;
use overlay::{Flags, Info, Knows, OverlayMsg, SearchPurpose};
use space::{Distance, Position};
use std::fmt::Write as _;
use wire::Message as _;

fn info(number: u64) -> Info {
    let position = Position::new(-5_000_000, 4_999_999).expect("a place");
    let aoi = Distance::of_metres(60);
    Info { address: Address(number), life: 1, sequence: 300, position, aoi, group: 3 }
}

/// One message of each kind, and of each shape that a kind has.
pub fn all() -> Vec<OverlayMsg> {
    let position = Position::new(-5_000_000, 4_999_999).expect("a place");
    let list = || vec![info(1), info(400)];
    let credential = || vec![7, 8, 9];
    let (none, some) =
        (Knows::default(), Knows { names: vec![1, 300], within: Some(Distance::of_metres(20)) });
    let step =
        |before, flags, aoi, met| OverlayMsg::Move { sequence: 32_400, position, before, flags, aoi, met };
    let seek = |purpose| OverlayMsg::Seek { who: info(7), purpose, hops: 9, credential: credential() };
    vec![
        seek(SearchPurpose::Join),
        seek(SearchPurpose::Check),
        seek(SearchPurpose::Leap),
        OverlayMsg::Welcome { from: info(7), list: list(), again: false },
        step(None, Flags::WANT, None, vec![]),
        step(
            Some(Position::new(0, -1).expect("a place")),
            Flags::SPARSE.with(Flags::BOUNDARY, true),
            Some(Distance::of_metres(20)),
            vec![1, 300],
        ),
        OverlayMsg::Nodes(list()),
        OverlayMsg::Hello {
            who: info(7),
            want: true,
            answer: false,
            knows: some,
            nodes: list(),
            credential: credential(),
        },
        OverlayMsg::Sum { knows: none, enclosing: vec![Address(9)] },
        OverlayMsg::Stranger,
        OverlayMsg::Leave(Vec::new()),
        OverlayMsg::Ping,
        OverlayMsg::Pong { who: info(8) },
    ]
}

#[test]
fn messages_are_what_they_were() {
    let mut text = String::new();
    for msg in all() {
        let mut bytes = Vec::new();
        msg.encode(&mut bytes);
        assert_eq!(OverlayMsg::decode(&bytes).as_ref(), Ok(&msg));
        let hex: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
        writeln!(text, "{hex} {msg:?}").unwrap();
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/messages-v1.txt"), &text).unwrap();
        return;
    }
    assert_eq!(text, include_str!("../../testdata/messages-v1.txt"), "UPDATE=1 rewrites the table");
}

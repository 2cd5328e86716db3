//! [wire-06] The formats as tables: `testdata/` holds values and their bytes, which programs in other languages check
//! themselves against, and `docs/wire.md` shows one of them.

use crate::sample::encoded;
use space::{Epoch, Heading, Millis, Motion, ObjectId, Position, Velocity, ZoneId};
use std::collections::BTreeMap;
use std::str::FromStr;
use wire::{Message, Packer, Pose, QUIC_DATAGRAM_OVERHEAD, frames};

const POSES: &str = include_str!("../../testdata/pose.txt");
const REFUSED: &str = include_str!("../../testdata/refused.txt");
const DATAGRAMS: &str = include_str!("../../testdata/datagram.txt");
const MANUAL: &str = include_str!("../../../../docs/wire.md");

/// The lines of a table that are neither empty nor a comment.
fn lines(table: &str) -> Vec<&str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Each pose of the table with its bytes, in hex.
fn golden_poses() -> Vec<(Pose, &'static str)> {
    let lines = lines(POSES);
    let (vectors, rest) = lines.as_chunks::<2>();
    assert!(rest.is_empty(), "a pose without bytes: {rest:?}");
    vectors.iter().map(|&[words, hex]| (pose_of(words), hex)).collect()
}

fn pose_of(words: &str) -> Pose {
    let words: BTreeMap<_, _> = words.split(' ').map(|word| word.split_once('=').unwrap()).collect();
    let motion = Motion {
        position: Position::new(number(&words, "x"), number(&words, "y")).unwrap(),
        velocity: velocity_of(&words),
        heading: Heading(number(&words, "heading")),
        start: Millis(number(&words, "start")),
        generation: number(&words, "generation"),
        sequence: number(&words, "sequence"),
    };
    let tag = words.get("tag").map(|tag| unhex(tag).try_into().unwrap());
    Pose { object: object_of(words["object"]), motion, tag }
}

fn number<T: FromStr<Err: std::fmt::Debug>>(words: &BTreeMap<&str, &str>, name: &str) -> T {
    words[name].parse().unwrap()
}

fn velocity_of(words: &BTreeMap<&str, &str>) -> Velocity {
    if !words.contains_key("vx") {
        return Velocity::ZERO;
    }
    Velocity::new(number(words, "vx"), number(words, "vy")).unwrap()
}

fn object_of(name: &str) -> ObjectId {
    let parts: Vec<u32> = name.split('.').map(|part| part.parse().unwrap()).collect();
    let &[zone, epoch, counter] = parts.as_slice() else { panic!("{name} has no three parts") };
    ObjectId { zone: ZoneId(zone), epoch: Epoch(epoch), counter }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.as_chunks().0.iter().map(|&[high, low]| digit(high) << 4 | digit(low)).collect()
}

#[test]
fn golden_poses_keep_their_bytes() {
    for (pose, expected) in golden_poses() {
        assert_eq!(hex(&encoded(&pose)), expected, "{pose:?}");
        assert_eq!(Pose::decode(&unhex(expected)), Ok(pose), "{expected}");
    }
}

#[test]
fn golden_refusals_stay_refused() {
    for line in lines(REFUSED) {
        let (why, bytes) = line.split_once('=').unwrap();
        let refusal = Pose::decode(&unhex(bytes)).unwrap_err();
        assert_eq!(refusal.to_string(), why.trim_end(), "{bytes}");
    }
}

#[test]
fn golden_datagrams_are_read_and_refused_as_they_were() {
    for line in lines(DATAGRAMS) {
        let (expected, bytes) = line.split_once('=').unwrap();
        let bytes = unhex(bytes);
        let found = match frames(&bytes) {
            Ok(frames) => frames.count().to_string(),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(found, expected.trim_end(), "{}", hex(&bytes));
    }
}

/// The manual shows the walker, tagged and untagged, and both in one datagram, as the code makes them.
#[test]
fn the_manual_shows_what_the_code_does() {
    let poses = golden_poses();
    let (walker, tagged) = (encoded(&poses[1].0), encoded(&poses[2].0));
    let mut packer = Packer::new();
    packer.push(&walker);
    packer.push(&tagged);
    let datagram = packer.datagrams().next().unwrap();
    assert_eq!(frames(datagram).unwrap().count(), 2);
    let shown: String = MANUAL.split_whitespace().collect::<Vec<_>>().join(" ");
    for bytes in [&walker, &tagged, datagram] {
        assert!(shown.contains(&hex(bytes)), "docs/wire.md lacks {}", hex(bytes));
    }
}

/// The size that the manual states for a walker, with all headers, when 40 of them share a datagram.
#[test]
fn a_walker_costs_what_the_manual_says() {
    let walker = encoded(&golden_poses()[1].0);
    let mut packer = Packer::new();
    (0..40).for_each(|_| packer.push(&walker));
    let sizes: Vec<_> = packer.datagrams().map(|datagram| datagram.len() + QUIC_DATAGRAM_OVERHEAD).collect();
    assert_eq!((walker.len(), sizes), (25, vec![1_099]));
}

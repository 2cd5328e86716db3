//! [wire-05] A pose is forwarded unchanged, and packing adds framing only; [wire-04] within the limit.

use crate::sample::{encoded, extreme, pose};
use proptest::prelude::*;
use wire::{DATAGRAM_HEADER, DATAGRAM_MAX, FRAME_HEADER, POSE_MAX, Packer, frames};

fn unpacked(packer: &Packer) -> Vec<&[u8]> {
    packer.datagrams().flat_map(|datagram| frames(datagram).unwrap()).collect()
}

#[test]
fn an_empty_packer_has_nothing_to_send() {
    assert_eq!(Packer::new().datagrams().count(), 0);
}

#[test]
fn a_datagram_is_filled_before_the_next_begins() {
    let longest = encoded(&extreme(u32::MAX, u64::MAX, 1 << 29, 1 << 23, Some([7; 8])));
    assert_eq!(longest.len(), POSE_MAX);
    let fitting = (DATAGRAM_MAX - DATAGRAM_HEADER) / (FRAME_HEADER + POSE_MAX);
    let mut packer = Packer::new();
    for _ in 0..=fitting {
        packer.push(&longest);
    }
    let counts: Vec<_> = packer.datagrams().map(|datagram| frames(datagram).unwrap().count()).collect();
    assert_eq!(counts, [fitting, 1]);
}

/// The last byte of a datagram is usable.
#[test]
fn a_datagram_may_be_exactly_full() {
    let mut packer = Packer::new();
    // 1 + 17 · 65 = 1106 bytes, and one frame of 44 more.
    for len in [POSE_MAX; 17].into_iter().chain([43]) {
        packer.push(&vec![0; len]);
    }
    assert_eq!(packer.datagrams().map(<[u8]>::len).collect::<Vec<_>>(), [DATAGRAM_MAX]);
}

/// The steady state allocates nothing: the same poses land in the same memory.
#[test]
fn a_cleared_packer_reuses_its_buffers() {
    let pose = encoded(&extreme(1, 1, 1, 1, None));
    let mut packer = Packer::new();
    let mut fill = || {
        packer.clear();
        for _ in 0..500 {
            packer.push(&pose);
        }
        packer.datagrams().map(<[u8]>::as_ptr).collect::<Vec<_>>()
    };
    assert_eq!(fill(), fill());
}

#[test]
#[should_panic(expected = "are no pose")]
fn packing_a_pose_that_is_too_long_panics() {
    Packer::new().push(&[0; POSE_MAX + 1]);
}

proptest! {
    /// Encoded once, packed, unpacked and packed again by a carrier: the bytes stay the same.
    #[test]
    fn forwarding_changes_nothing(poses in prop::collection::vec(pose(), 0..120)) {
        let made: Vec<_> = poses.iter().map(encoded).collect();
        let (mut mover, mut carrier) = (Packer::new(), Packer::new());
        made.iter().for_each(|pose| mover.push(pose));
        unpacked(&mover).into_iter().for_each(|pose| carrier.push(pose));
        prop_assert_eq!(unpacked(&carrier), made);
        prop_assert!(mover.datagrams().eq(carrier.datagrams()));
        prop_assert!(carrier.datagrams().all(|datagram| datagram.len() <= DATAGRAM_MAX));
    }

    /// No more datagrams than filling them in order needs.
    #[test]
    fn no_datagram_begins_while_the_last_has_room(poses in prop::collection::vec(pose(), 0..120)) {
        let mut packer = Packer::new();
        poses.iter().for_each(|pose| packer.push(&encoded(pose)));
        let datagrams: Vec<_> = packer.datagrams().collect();
        for pair in datagrams.windows(2) {
            let next = frames(pair[1]).unwrap().next().unwrap();
            prop_assert!(DATAGRAM_MAX < pair[0].len() + FRAME_HEADER + next.len());
        }
    }
}

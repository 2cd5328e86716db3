//! [wire-02] Bytes from outside are wrong until proven right: an error, never a panic. And [wire-01]
//! from its other side: bytes that do decode are the one encoding of their value.

use crate::sample::{bytes, encoded, pose};
use proptest::prelude::*;
use wire::{DATAGRAM_MAX, DecodeError, Message, POSE_MIN, Packer, Pose, frames};

/// Feeds `bytes` to every function that takes bytes from outside. Accepted bytes must be canonical.
///
/// Returns whether they are a pose.
pub(crate) fn swallow_pose(bytes: &[u8]) -> bool {
    let _ = Pose::body(bytes);
    let Ok(pose) = Pose::decode(bytes) else { return false };
    assert_eq!(encoded(&pose), bytes, "a second encoding of {pose:?}");
    assert!(Pose::body(bytes).is_ok_and(|body| bytes.starts_with(body)));
    true
}

/// The same for a datagram: packing its frames again must give the same datagram.
pub(crate) fn swallow_datagram(bytes: &[u8]) -> bool {
    let Ok(frames) = frames(bytes) else { return false };
    let mut packer = Packer::new();
    for frame in frames {
        swallow_pose(frame);
        packer.push(frame);
    }
    assert!(packer.datagrams().eq([bytes]), "a second framing of {bytes:02x?}");
    true
}

#[test]
fn a_datagram_must_be_framed_to_the_last_byte() {
    let frame = [&[POSE_MIN as u8][..], &[0; POSE_MIN]].concat();
    let whole = [&[0xd1][..], &frame, &frame].concat();
    assert!(swallow_datagram(&whole));
    for (bytes, why) in [
        (&[][..], DecodeError::TooShort),
        (&[0xd1], DecodeError::TooShort),
        (&[0xd1, 0], DecodeError::FrameLength(0)),
        (&[0xd1, 10], DecodeError::FrameLength(10)),
        (&[0xd1, 65], DecodeError::FrameLength(65)),
        (&[0xd1, 255], DecodeError::FrameLength(255)),
        (&[0xd2, 11], DecodeError::UnknownKind(0xd2)),
        (&frame, DecodeError::UnknownKind(11)),
        (&whole[..whole.len() - 1], DecodeError::TooShort),
        (&[0xd1; DATAGRAM_MAX + 1], DecodeError::TooLong { length: DATAGRAM_MAX + 1, limit: DATAGRAM_MAX }),
    ] {
        assert_eq!(frames(bytes).err(), Some(why), "{bytes:02x?}");
    }
}

/// [wire-05] A bare pose is no datagram, and a datagram is no pose.
#[test]
fn poses_and_datagrams_are_not_mistaken_for_each_other() {
    let headers: Vec<u8> = (0..=u8::MAX)
        .filter(|&header| {
            !matches!(
                Pose::decode(&[header]),
                Err(DecodeError::UnknownVersion(_) | DecodeError::UnknownFlags(_))
            )
        })
        .collect();
    assert_eq!(headers, [0x10, 0x11, 0x12, 0x13]);
    let kinds = (0..=u8::MAX).filter(|&kind| frames(&[kind]).err() == Some(DecodeError::TooShort));
    assert_eq!(kinds.collect::<Vec<_>>(), [0xd1]);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in bytes()) {
        swallow_pose(&bytes);
        swallow_datagram(&bytes);
    }

    /// A known header gets further than chance would.
    #[test]
    fn no_bytes_behind_a_good_header_panic(header in 0x10u8..0x14, mut bytes in bytes()) {
        bytes.insert(0, header);
        swallow_pose(&bytes);
    }

    #[test]
    fn a_pose_cut_short_is_refused(pose in pose()) {
        let bytes = encoded(&pose);
        for len in 0..bytes.len() {
            prop_assert!(!swallow_pose(&bytes[..len]), "{len} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn a_pose_with_more_behind_it_is_refused(pose in pose(), more: u8) {
        let mut bytes = encoded(&pose);
        bytes.push(more);
        prop_assert_eq!(Pose::decode(&bytes), Err(DecodeError::TrailingBytes));
    }

    /// A flipped bit is refused or makes another pose, in its canonical form; never the same pose.
    #[test]
    fn a_flipped_bit_never_goes_unnoticed(pose in pose()) {
        let mut bytes = encoded(&pose);
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            swallow_pose(&bytes);
            prop_assert_ne!(Pose::decode(&bytes), Ok(pose), "bit {}", bit);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

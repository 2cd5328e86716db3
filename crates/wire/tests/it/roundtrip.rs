//! [wire-01] One value, one byte string; [wire-04] within its limits.

use crate::sample::{bytes, encoded, extreme, pose};
use proptest::prelude::*;
use space::{COORDINATE_MAX, COORDINATE_MIN, VELOCITY_MAX};
use wire::{Message, POSE_MAX, POSE_MIN, Pose, TAG_LEN};

/// [wire-04] The limits are not only safe, they are reached.
#[test]
fn the_extremes_come_back_and_meet_the_limits() {
    let least = extreme(0, 0, 0, 0, None);
    assert_eq!(encoded(&least).len(), POSE_MIN);
    let longest = [(COORDINATE_MIN, -VELOCITY_MAX), (COORDINATE_MAX, VELOCITY_MAX)]
        .map(|(axis, speed)| extreme(u32::MAX, u64::MAX, axis, speed, Some([0xff; 8])));
    for pose in longest {
        assert_eq!(encoded(&pose).len(), POSE_MAX);
        assert_eq!(Pose::decode(&encoded(&pose)), Ok(pose));
    }
    assert_eq!(Pose::decode(&encoded(&least)), Ok(least));
}

/// [wire-03] Everything that decoding gives back is copied or borrowed; there is nothing to free.
#[test]
fn decoding_gives_back_nothing_that_was_allocated() {
    const fn is_plain<T: Copy>() {}
    is_plain::<Result<Pose, wire::DecodeError>>();
    assert!(!std::mem::needs_drop::<Result<wire::Frames<'_>, wire::DecodeError>>());
    assert!(!std::mem::needs_drop::<wire::Reader<'_>>());
}

proptest! {
    #[test]
    fn every_pose_comes_back(pose in pose()) {
        let bytes = encoded(&pose);
        prop_assert!((POSE_MIN..=POSE_MAX).contains(&bytes.len()));
        prop_assert_eq!(Pose::decode(&bytes), Ok(pose));
    }

    #[test]
    fn encoding_keeps_what_the_buffer_held(before in bytes(), pose in pose()) {
        let mut out = before.clone();
        pose.encode(&mut out);
        prop_assert_eq!(out, [before, encoded(&pose)].concat());
    }

    /// [wire-07] The tag covers every other byte, the flag that announces it among them.
    #[test]
    fn the_body_is_all_but_the_tag(pose in pose()) {
        let bytes = encoded(&pose);
        let tag_len = pose.tag.map_or(0, |_| TAG_LEN);
        let (body, tag) = bytes.split_at(bytes.len() - tag_len);
        prop_assert_eq!(Pose::body(&bytes), Ok(body));
        prop_assert_eq!(tag, pose.tag.as_ref().map_or(&[][..], |tag| tag));
    }
}

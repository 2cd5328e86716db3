//! [wire-01] One value, one byte string; [wire-04] within its limits.

use crate::sample::{bytes, encoded, extreme, pose};
use proptest::prelude::*;
use space::{
    COORDINATE_MAX, COORDINATE_MIN, Epoch, Millis, Motion, ObjectId, VELOCITY_MAX, Velocity, ZoneId,
};
use wire::{Message, POSE_MAX, POSE_MIN, Packer, Pose, TAG_LEN, frames};

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

/// [wire-03] Decoding allocates nothing, for good bytes and bad ones.
#[test]
fn decoding_allocates_nothing() {
    let walker = encoded(&Pose { tag: Some([7; 8]), ..sample_walker() });
    let mut packer = Packer::new();
    (0..20).for_each(|_| packer.push(&walker));
    let good = packer.datagrams().next().unwrap().to_vec();
    let mut damaged = good.clone();
    let counted = allocation_counter::measure(|| {
        for at in 0..good.len() {
            damaged[at] ^= 0xff;
            for bytes in [&damaged[..], &good[..at], &walker[..at.min(walker.len())]] {
                std::hint::black_box(Pose::decode(bytes).is_ok());
                let poses = frames(bytes).into_iter().flatten();
                std::hint::black_box(poses.filter(|pose| Pose::decode(pose).is_ok()).count());
            }
            damaged[at] ^= 0xff;
        }
    });
    assert_eq!(counted.count_total, 0);
}

fn sample_walker() -> Pose {
    let motion =
        Motion { velocity: Velocity::new(990, -990).unwrap(), start: Millis(1 << 40), ..Motion::default() };
    Pose { object: ObjectId { zone: ZoneId(3), epoch: Epoch(1), counter: 1_200 }, motion, tag: None }
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

//! Fuzz targets for [wire-01] and [wire-02].
//!
//! Under `cargo test` they take a few thousand random inputs each; a failure prints its input, made
//! small, and a `BOLERO_RANDOM_SEED` that repeats it. `cargo bolero test fuzz::pose_bytes` runs the same
//! target under libFuzzer, where coverage leads the way and no bound holds.

use crate::hostile::{swallow_datagram, swallow_pose};
use crate::sample::encoded;
use bolero::check;
use space::{Epoch, Heading, Millis, Motion, ObjectId, Position, Velocity, ZoneId};
use wire::{DATAGRAM_MAX, POSE_MAX, Packer, Pose};

/// Keeps `cargo test` quick; a fuzzer ignores it.
const ITERATIONS: usize = 4_000;

#[test]
fn pose_bytes() {
    check!().with_iterations(ITERATIONS).with_max_len(2 * POSE_MAX).for_each(|bytes| {
        swallow_pose(bytes);
    });
}

#[test]
fn datagram_bytes() {
    check!().with_iterations(ITERATIONS).with_max_len(DATAGRAM_MAX + 64).for_each(|bytes| {
        swallow_datagram(bytes);
    });
}

/// Inputs that random bytes hardly ever form: a datagram that is good but for a few changed bytes.
#[test]
fn damaged_datagrams() {
    check!().with_iterations(ITERATIONS).with_type::<(Vec<PoseNumbers>, Vec<(u16, u8)>, u16)>().for_each(
        |(poses, changes, cut)| {
            let mut packer = Packer::new();
            poses.iter().for_each(|&numbers| packer.push(&encoded(&pose_of(numbers))));
            for datagram in packer.datagrams() {
                assert!(swallow_datagram(datagram));
                swallow_datagram(&damaged(datagram, changes, usize::from(*cut)));
            }
        },
    );
}

/// Object, motion and tag as plain numbers, which the fuzzer can draw.
type PoseNumbers = ([u32; 5], u64, [i32; 4], u16, Option<[u8; 8]>);

fn pose_of((names, start, [x, y, vx, vy], heading, tag): PoseNumbers) -> Pose {
    let [zone, epoch, counter, generation, sequence] = names;
    // The lowest bit of a name decides about standing still, so that the fuzzer draws both often.
    let speed = |value: i32| if zone % 2 == 0 { 0 } else { value >> 8 };
    let motion = Motion {
        position: Position::saturating(i64::from(x), i64::from(y)),
        velocity: Velocity::new(speed(vx), speed(vy)).unwrap(),
        heading: Heading(heading),
        start: Millis(start),
        generation,
        sequence,
    };
    Pose { object: ObjectId { zone: ZoneId(zone), epoch: Epoch(epoch), counter }, motion, tag }
}

/// `bytes` with some of them changed, and half of the time without their end.
fn damaged(bytes: &[u8], changes: &[(u16, u8)], cut: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for &(place, mask) in changes {
        let place = usize::from(place) % bytes.len();
        bytes[place] ^= mask;
    }
    let len = cut % (2 * bytes.len());
    bytes.truncate(len);
    bytes
}

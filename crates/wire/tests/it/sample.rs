//! Poses to test with: all values of a pose, the ends of every range more often than an even draw would.

use proptest::prelude::*;
use space::{
    COORDINATE_MAX, COORDINATE_MIN, Epoch, Heading, Millis, Motion, ObjectId, Position, VELOCITY_MAX,
    Velocity, ZoneId,
};
use wire::{Message, Pose};

/// Numbers of every length, not mostly long ones.
fn number() -> impl Strategy<Value = u32> {
    (any::<u32>(), 0u32..32).prop_map(|(value, shift)| value >> shift)
}

fn long_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(u64::MAX), (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift)]
}

fn position() -> impl Strategy<Value = Position> {
    let axis = || prop_oneof![Just(COORDINATE_MIN), Just(COORDINATE_MAX), COORDINATE_MIN..=COORDINATE_MAX];
    (axis(), axis()).prop_map(|(x, y)| Position::new(x, y).unwrap())
}

fn velocity() -> impl Strategy<Value = Velocity> {
    let axis = || prop_oneof![Just(0), Just(-VELOCITY_MAX), Just(VELOCITY_MAX), -VELOCITY_MAX..=VELOCITY_MAX];
    (axis(), axis()).prop_map(|(x, y)| Velocity::new(x, y).unwrap())
}

fn motion() -> impl Strategy<Value = Motion> {
    (position(), velocity(), any::<u16>(), long_number(), number(), number()).prop_map(
        |(position, velocity, heading, start, generation, sequence)| Motion {
            position,
            velocity,
            heading: Heading(heading),
            start: Millis(start),
            generation,
            sequence,
        },
    )
}

fn object() -> impl Strategy<Value = ObjectId> {
    (number(), number(), number()).prop_map(|(zone, epoch, counter)| ObjectId {
        zone: ZoneId(zone),
        epoch: Epoch(epoch),
        counter,
    })
}

/// Any pose that can be encoded.
pub(crate) fn pose() -> impl Strategy<Value = Pose> {
    (object(), motion(), any::<Option<[u8; 8]>>()).prop_map(|(object, motion, tag)| Pose {
        object,
        motion,
        tag,
    })
}

/// Any bytes, up to twice as many as a pose has.
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..2 * wire::POSE_MAX)
}

/// A message's bytes, in a buffer of their own.
pub(crate) fn encoded(message: &impl Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// The pose at one end of every range, and so one of the longest or the shortest.
pub(crate) fn extreme(number: u32, start: u64, axis: i32, speed: i32, tag: Option<[u8; 8]>) -> Pose {
    Pose {
        object: ObjectId { zone: ZoneId(number), epoch: Epoch(number), counter: number },
        motion: Motion {
            position: Position::new(axis, axis).unwrap(),
            velocity: Velocity::new(speed, speed).unwrap(),
            heading: Heading(number as u16),
            start: Millis(start),
            generation: number,
            sequence: number,
        },
        tag,
    }
}

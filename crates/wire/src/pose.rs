//! A pose: one positional update on its way to a player.
//!
//! Its sender encodes it once and every carrier forwards the bytes unchanged, so it is complete in itself: it
//! depends on no earlier pose and on no particular carrier. It never says that an object enters or leaves; the
//! object's zone does.

use crate::varint::{length_of, zigzag};
use crate::{DecodeError, Message, Reader, put_i32, put_u32, put_u64};
use space::{
    COORDINATE_MIN, Epoch, Heading, Millis, Motion, ObjectId, Position, VELOCITY_MAX, Velocity, ZoneId,
};

/// The format's version, in the header's high four bits.
const VERSION: u8 = 1;
/// Header flag: a velocity follows the position. Most objects stand still most of the time.
const MOVING: u8 = 1 << 0;
/// Header flag: a tag ends the pose.
const TAGGED: u8 = 1 << 1;
/// The header's low four bits.
const FLAGS: u8 = 0x0f;

/// Bytes of a tag: short enough to send ten times a second, long enough that guessing one is hopeless.
pub const TAG_LEN: usize = 8;

/// The least bytes that a pose has: everything zero, standing, untagged.
pub const POSE_MIN: usize = 11;

/// The most bytes that a pose has: every number at its longest, moving, tagged.
pub const POSE_MAX: usize = 64;

/// Bytes of the header and the heading, which are always there and never grow.
const FIXED: usize = 1 + size_of::<u16>();

// Five names and counts, the start, two coordinates.
const _: () = assert!(POSE_MIN == FIXED + 5 * length_of(0) + length_of(0) + 2 * length_of(0));
const _: () = assert!(
    POSE_MAX
        == FIXED
            + 5 * length_of(u32::MAX as u64)
            + length_of(u64::MAX)
            + 2 * length_of(zigzag(COORDINATE_MIN) as u64)
            + 2 * length_of(zigzag(VELOCITY_MAX) as u64)
            + TAG_LEN
);
// A frame says a pose's length in one byte.
const _: () = assert!(POSE_MAX <= u8::MAX as usize);

/// One positional update of one object.
///
/// A sender that tags its poses encodes with a blank tag, computes the real one over [`Pose::body`], and
/// writes it over the blank. So the tag also covers the flag that announces it.
///
/// ```
/// use wire::{Message, Pose};
/// # use space::{Epoch, Motion, ObjectId, ZoneId};
/// # let object = ObjectId { zone: ZoneId(3), epoch: Epoch(1), counter: 7 };
/// # let motion = Motion::default();
/// # let keyed_hash = |body: &[u8]| [body.len() as u8; 8];
/// let mut bytes = Vec::new();
/// Pose { object, motion, tag: Some([0; 8]) }.encode(&mut bytes);
/// let tag = keyed_hash(Pose::body(&bytes)?);
/// let blank = bytes.len() - tag.len();
/// bytes[blank..].copy_from_slice(&tag);
///
/// let heard = Pose::decode(&bytes)?;
/// assert_eq!(heard.tag, Some(keyed_hash(Pose::body(&bytes)?)));
/// # Ok::<(), wire::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pose {
    /// The object whose motion this is.
    pub object: ObjectId,
    /// Its trajectory from now on.
    pub motion: Motion,
    /// The sender's proof that it made this; this crate neither makes nor checks it.
    pub tag: Option<[u8; TAG_LEN]>,
}

impl Pose {
    /// The part of an encoded pose that its tag is computed over: everything but the tag.
    ///
    /// It looks at the header and the length only; [`Message::decode`] says whether `bytes` are a pose.
    pub fn body(bytes: &[u8]) -> Result<&[u8], DecodeError> {
        let flags = flags_of(Reader::new(bytes).byte()?)?;
        let tag_len = if flags & TAGGED == 0 { 0 } else { TAG_LEN };
        let body = bytes.len().checked_sub(tag_len).and_then(|len| bytes.get(..len));
        body.filter(|body| POSE_MIN <= body.len()).ok_or(DecodeError::TooShort)
    }

    /// True if a velocity is written. Standing still is written as no velocity, and never as a zero one.
    fn is_moving(&self) -> bool {
        self.motion.velocity != Velocity::ZERO
    }

    fn header(&self) -> u8 {
        let moving = if self.is_moving() { MOVING } else { 0 };
        let tagged = if self.tag.is_some() { TAGGED } else { 0 };
        VERSION << 4 | moving | tagged
    }
}

impl Message for Pose {
    fn encode(&self, out: &mut Vec<u8>) {
        // Why destructured in full: a new field cannot be forgotten here.
        let ObjectId { zone, epoch, counter } = self.object;
        let Motion { position, velocity, heading, start, generation, sequence } = self.motion;
        out.push(self.header());
        for number in [zone.0, epoch.0, counter, generation, sequence] {
            put_u32(out, number);
        }
        put_u64(out, start.0);
        put_i32(out, position.x());
        put_i32(out, position.y());
        if self.is_moving() {
            put_i32(out, velocity.x());
            put_i32(out, velocity.y());
        }
        out.extend_from_slice(&heading.0.to_le_bytes());
        out.extend(self.tag.iter().flatten());
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let flags = flags_of(reader.byte()?)?;
        // Rust evaluates fields in the order they are written, and the format has this order.
        let pose = Self {
            object: object(&mut reader)?,
            motion: motion(&mut reader, flags)?,
            tag: if flags & TAGGED == 0 { None } else { Some(reader.array()?) },
        };
        reader.finish()?;
        Ok(pose)
    }
}

fn flags_of(header: u8) -> Result<u8, DecodeError> {
    let (version, flags) = (header >> 4, header & FLAGS);
    if version != VERSION {
        return Err(DecodeError::UnknownVersion(version));
    }
    if flags & !(MOVING | TAGGED) != 0 {
        return Err(DecodeError::UnknownFlags(flags));
    }
    Ok(flags)
}

fn object(reader: &mut Reader<'_>) -> Result<ObjectId, DecodeError> {
    Ok(ObjectId { zone: ZoneId(reader.u32()?), epoch: Epoch(reader.u32()?), counter: reader.u32()? })
}

fn motion(reader: &mut Reader<'_>, flags: u8) -> Result<Motion, DecodeError> {
    let (generation, sequence, start) = (reader.u32()?, reader.u32()?, Millis(reader.u64()?));
    let position = position(reader)?;
    let velocity = if flags & MOVING == 0 { Velocity::ZERO } else { velocity(reader)? };
    let heading = Heading(u16::from_le_bytes(reader.array()?));
    Ok(Motion { position, velocity, heading, start, generation, sequence })
}

fn position(reader: &mut Reader<'_>) -> Result<Position, DecodeError> {
    let (x, y) = (reader.i32()?, reader.i32()?);
    Position::new(x, y).map_err(|_| DecodeError::OutOfRange("a coordinate"))
}

fn velocity(reader: &mut Reader<'_>) -> Result<Velocity, DecodeError> {
    let (x, y) = (reader.i32()?, reader.i32()?);
    let velocity = Velocity::new(x, y).map_err(|_| DecodeError::OutOfRange("a velocity"))?;
    if velocity == Velocity::ZERO {
        // Why refused: standing still already has an encoding, and a value must have only one.
        return Err(DecodeError::Redundant("a velocity of zero"));
    }
    Ok(velocity)
}

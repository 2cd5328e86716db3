//! Several poses in one datagram, by framing only.
//!
//! Packets are the floor of a server's cost, so poses travel together. A pose is encoded once and its
//! bytes are copied to every reader; packing never looks into them, and unpacking gives back the same
//! bytes. Nothing here sends, orders or drops poses: that is for interest and the carriers.

use crate::{DecodeError, POSE_MAX, POSE_MIN, Reader};
use std::iter::FusedIterator;

/// The most bytes that a datagram has.
///
/// Chromium's largest is 1211, and a QUIC path that was not probed promises packets of 1200, QUIC's own
/// share included. The rest is room for WebTransport's session number and for stacks that add more.
pub const DATAGRAM_MAX: usize = 1150;

/// Bytes that a datagram spends before its first frame: the kind.
pub const DATAGRAM_HEADER: usize = 1;

/// Bytes that a frame spends before its pose: the length.
pub const FRAME_HEADER: usize = 1;

/// The first byte of a datagram of poses: kind 13 in the high four bits, version 1 in the low four.
/// No pose starts like this, so a bare pose is never taken for a datagram.
const KIND_POSES: u8 = 0xd1;

// A pose of any size fits into a fresh datagram.
const _: () = assert!(DATAGRAM_HEADER + FRAME_HEADER + POSE_MAX <= DATAGRAM_MAX);

/// Copies encoded poses into as few datagrams as their order allows.
///
/// Its owner fills it, sends the datagrams of [`Packer::datagrams`], clears it, and fills it for the next
/// client. The buffers stay, so the steady state allocates nothing.
///
/// ```
/// use wire::{Message, Packer, Pose, frames};
/// # use space::{Epoch, Motion, ObjectId, ZoneId};
/// # let object = ObjectId { zone: ZoneId(3), epoch: Epoch(1), counter: 7 };
/// # let pose = Pose { object, motion: Motion::default(), tag: None };
/// let mut encoded = Vec::new();
/// pose.encode(&mut encoded);
///
/// let mut packer = Packer::new();
/// packer.push(&encoded);
/// packer.push(&encoded);
/// for datagram in packer.datagrams() {
///     for frame in frames(datagram)? {
///         assert_eq!(frame, encoded);
///     }
/// }
/// packer.clear();
/// # Ok::<(), wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Packer {
    /// All datagrams, one after the other.
    bytes: Vec<u8>,
    /// The start of each datagram in `bytes`.
    starts: Vec<usize>,
}

impl Packer {
    /// A packer without poses or buffers.
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), starts: Vec::new() }
    }

    /// Appends an encoded pose, in a new datagram if the last one has no room.
    ///
    /// # Panics
    /// If `pose` has a length that no pose has. Poses that [`crate::Pose`] encoded and frames of [`frames`]
    /// always have one.
    pub fn push(&mut self, pose: &[u8]) {
        assert!(is_pose_len(pose.len()), "{} bytes are no pose", pose.len());
        if self.room() < FRAME_HEADER + pose.len() {
            self.starts.push(self.bytes.len());
            self.bytes.push(KIND_POSES);
        }
        self.bytes.push(pose.len() as u8);
        self.bytes.extend_from_slice(pose);
    }

    /// The datagrams filled so far, in order; none of them is empty.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.starts.iter().skip(1).copied().chain([self.bytes.len()]);
        self.starts.iter().zip(ends).map(|(&start, end)| &self.bytes[start..end])
    }

    /// Forgets all poses and keeps the buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
    }

    /// Bytes left in the last datagram; none before the first.
    fn room(&self) -> usize {
        self.starts.last().map_or(0, |start| DATAGRAM_MAX - (self.bytes.len() - start))
    }
}

/// The frames of a datagram, checked to the last byte before the first is given out, so that a damaged
/// datagram is refused as a whole. The frames are poses in length only; decoding says the rest.
pub fn frames(bytes: &[u8]) -> Result<Frames<'_>, DecodeError> {
    if DATAGRAM_MAX < bytes.len() {
        return Err(DecodeError::TooLong { length: bytes.len(), limit: DATAGRAM_MAX });
    }
    let mut reader = Reader::new(bytes);
    match reader.byte()? {
        KIND_POSES => (),
        kind => return Err(DecodeError::UnknownKind(kind)),
    }
    let frames = Frames { reader: reader.clone() };
    // Why one frame before the loop: a datagram without frames is refused, so that it has no encoding.
    frame(&mut reader)?;
    while !reader.is_empty() {
        frame(&mut reader)?;
    }
    Ok(frames)
}

/// Iterates over the encoded poses of a datagram, where they lie; made by [`frames`].
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    reader: Reader<'a>,
}

impl<'a> Iterator for Frames<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        // Checked as a whole before, so the only error left is the end.
        frame(&mut self.reader).ok()
    }
}

impl FusedIterator for Frames<'_> {}

fn frame<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    let len = reader.byte()?;
    if !is_pose_len(usize::from(len)) {
        return Err(DecodeError::FrameLength(len));
    }
    reader.slice(usize::from(len))
}

fn is_pose_len(len: usize) -> bool {
    (POSE_MIN..=POSE_MAX).contains(&len)
}

//! Frames, the unit of bytes on every connection, over any transport. Drawn in `docs/net.md`.
//!
//! No length is believed before the bytes are there, and no buffer grows beyond its limit.

use bytes::{Buf as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use wire::{Reader, put_u32};

/// The version of the frame format, of [`Control`], and of the messages between players and zones.
pub const VERSION: u32 = 2;

/// The most bytes of frames in one datagram: a full datagram of poses and its header fit, and so does all of it in
/// the smallest packet that every QUIC path carries.
pub const DATAGRAM_MAX: usize = 1160;

/// The most bytes in a frame of a player.
pub const PLAYER_FRAME_MAX: usize = 4 * 1024 + 64;

/// The most bytes in a frame of a host.
pub const HOST_FRAME_MAX: usize = 2 * 1024 * 1024 + 64;

/// The zone number that stands for the connection itself.
pub const CONTROL: u32 = 0;

/// Messages about the connection itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Control {
    /// A player's first message on a connection.
    Hello {
        /// [`VERSION`] of the sender's frame format.
        version: u32,
        /// Entry token that the lobby issued.
        token: String,
    },
    /// The host's answer to a valid token.
    Welcome {
        /// Number of the host that answers.
        host: u32,
        /// Zones of which the host holds replicas.
        zones: Vec<u32>,
    },
    /// Asks for a [`Control::Pong`] with the same number.
    Ping(u64),
    /// Answers a [`Control::Ping`] with its number.
    Pong(u64),
    /// Tells a client that it reads too slowly.
    Lagging {
        /// Number of `Latest` messages not sent so far.
        lost: u64,
    },
    /// Tells how many frames of the stream have arrived.
    Received {
        /// Number of frames, from the first one of the connection on.
        frames: u64,
    },
    /// Copies of frames of the stream for which the sender misses a [`Control::Received`].
    Again {
        /// Number of frames before them on the stream.
        first: u64,
        /// The frames, each with its length.
        #[serde(with = "serde_bytes")]
        frames: Vec<u8>,
    },
}

/// The reason why bytes are no frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Longer than its sender may send, in bytes.
    #[error("a frame of {0} bytes is longer than the limit")]
    TooLong(usize),
    /// Not a length, or no bytes of a message behind it.
    #[error("bytes that are no frame")]
    Malformed,
}

/// Appends a frame: length, zone, message.
pub fn put(out: &mut Vec<u8>, zone: u32, message: &[u8]) {
    put_u32(out, (length_of(zone) + message.len()) as u32);
    put_u32(out, zone);
    out.extend_from_slice(message);
}

/// One frame with this zone and message.
pub fn framed(zone: u32, message: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(message.len() + 10);
    put(&mut out, zone, message);
    out.into()
}

/// One frame with a control message.
pub fn control(control: &Control) -> Bytes {
    framed(CONTROL, &postcard::to_stdvec(control).expect("plain data encodes"))
}

// Numbers are written as varints of 7 bits per byte.
const fn length_of(value: u32) -> usize {
    let bits = (u32::BITS - value.leading_zeros()) as usize;
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

/// Splits a body into its zone and message.
pub fn open(body: &[u8]) -> Result<(u32, &[u8]), FrameError> {
    let mut reader = Reader::new(body);
    let zone = reader.u32().map_err(|_| FrameError::Malformed)?;
    Ok((zone, &body[length_of(zone)..]))
}

/// Reads a control message, of which all bytes must be used.
pub fn open_control(message: &[u8]) -> Result<Control, FrameError> {
    match postcard::take_from_bytes(message) {
        Ok((control, [])) => Ok(control),
        _ => Err(FrameError::Malformed),
    }
}

/// Collects the bytes of a stream and cuts them into frames.
#[derive(Debug)]
pub struct Assembler {
    bytes: BytesMut,
    limit: usize,
}

impl Assembler {
    /// An empty one, for frames of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { bytes: BytesMut::new(), limit }
    }

    /// The same bytes with another limit for the frames that follow.
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Appends bytes that arrived over the stream.
    pub fn push(&mut self, arrived: &[u8]) {
        self.bytes.extend_from_slice(arrived);
    }

    /// Number of bytes that wait for the rest of their frame.
    pub fn waiting(&self) -> usize {
        self.bytes.len()
    }

    /// The body of the next frame, if all its bytes are there.
    pub fn body(&mut self) -> Result<Option<Bytes>, FrameError> {
        let mut reader = Reader::new(&self.bytes);
        let length = match reader.u32() {
            Ok(length) => length as usize,
            // Up to four bytes that all announce another: the rest of the length has not arrived yet.
            Err(_) if self.bytes.len() < 5 && self.bytes.iter().all(|it| 0x80 <= *it) => return Ok(None),
            Err(_) => return Err(FrameError::Malformed),
        };
        if self.limit < length {
            return Err(FrameError::TooLong(length));
        }
        if length == 0 {
            return Err(FrameError::Malformed);
        }
        let header = length_of(length as u32);
        if self.bytes.len() < header + length {
            return Ok(None);
        }
        self.bytes.advance(header);
        Ok(Some(self.bytes.split_to(length).freeze()))
    }
}

/// The bodies of a datagram or a WebSocket message: whole frames, nothing else.
pub fn bodies(bytes: &Bytes, limit: usize) -> Result<Vec<Bytes>, FrameError> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut reader = Reader::new(&bytes[at..]);
        let length = reader.u32().map_err(|_| FrameError::Malformed)? as usize;
        if limit < length {
            return Err(FrameError::TooLong(length));
        }
        let start = at + length_of(length as u32);
        if length == 0 || bytes.len() < start + length {
            return Err(FrameError::Malformed);
        }
        found.push(bytes.slice(start..start + length));
        at = start + length;
    }
    // An empty datagram or message costs us work and says nothing: only a faulty or hostile client sends one.
    if found.is_empty() { Err(FrameError::Malformed) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn length_of_a_number_is_the_number_of_bytes_written() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, u32::MAX] {
            let mut out = Vec::new();
            put_u32(&mut out, value);
            assert_eq!(out.len(), length_of(value), "{value}");
        }
    }

    #[test]
    fn control_messages_have_these_bytes() {
        let hello = Control::Hello { version: 1, token: "ab".to_owned() };
        assert_eq!(&control(&hello)[..], [6, 0, 0, 1, 2, b'a', b'b']);
        let welcome = Control::Welcome { host: 3, zones: vec![1, 200] };
        assert_eq!(&control(&welcome)[..], [7, 0, 1, 3, 2, 1, 200, 1]);
        assert_eq!(&control(&Control::Ping(5))[..], [3, 0, 2, 5]);
        assert_eq!(&control(&Control::Pong(300))[..], [4, 0, 3, 0xac, 2]);
        assert_eq!(&control(&Control::Lagging { lost: 9 })[..], [3, 0, 4, 9]);
        assert_eq!(&control(&Control::Received { frames: 130 })[..], [4, 0, 5, 0x82, 1]);
        let again = Control::Again { first: 3, frames: vec![2, 7, 9] };
        assert_eq!(&control(&again)[..], [7, 0, 6, 3, 3, 2, 7, 9]);
    }

    #[test]
    fn a_frame_whose_length_is_too_large_is_refused_before_it_arrives() {
        let mut assembler = Assembler::new(100);
        assembler.push(&[101, 0]);
        assert_eq!(assembler.body(), Err(FrameError::TooLong(101)));
        let mut endless = Assembler::new(100);
        endless.push(&[0xff; 5]);
        assert_eq!(endless.body(), Err(FrameError::Malformed));
        let mut empty = Assembler::new(100);
        empty.push(&[0]);
        assert_eq!(empty.body(), Err(FrameError::Malformed));
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_the_stream_is_cut(
            messages in proptest::collection::vec((0_u32..400, proptest::collection::vec(any::<u8>(), 0..300)), 1..8),
            cuts in proptest::collection::vec(1_usize..50, 1..40),
        ) {
            let mut stream = Vec::new();
            for (zone, message) in &messages {
                put(&mut stream, *zone, message);
            }
            let mut assembler = Assembler::new(400);
            let (mut out, mut rest, mut cut) = (Vec::new(), &stream[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at((*cut.next().unwrap()).min(rest.len()));
                assembler.push(now);
                rest = later;
                while let Some(body) = assembler.body().unwrap() {
                    let (zone, message) = open(&body).unwrap();
                    out.push((zone, message.to_vec()));
                }
            }
            prop_assert_eq!(&out, &messages);
            let whole: Vec<_> = bodies(&Bytes::from(stream), 400).unwrap();
            prop_assert_eq!(whole.len(), messages.len());
        }

        #[test]
        fn no_bytes_make_it_panic_or_buffer_more_than_given(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut assembler = Assembler::new(64);
            assembler.push(&bytes);
            while let Ok(Some(body)) = assembler.body() {
                let _ = open(&body).map(|it| open_control(it.1));
            }
            prop_assert!(assembler.waiting() <= bytes.len());
            let _ = bodies(&Bytes::from(bytes), 64);
        }
    }
}

//! The bytes that cross a link: messages, drawn to the byte in `docs/wire.md`.
//!
//! Bytes from outside are wrong until proven right. Decoding refuses with a [`DecodeError`]; it never
//! panics and never allocates. Every value has exactly one byte string, so equal bytes mean equal
//! values, a tag over the bytes is a tag over the value, and a carrier can forward what it did not make.
//!
//! This crate never sends anything, reads no clock, keeps no connection, and judges no content: a pose
//! that decodes may still be a lie.

// A fuzzer instruments every test binary of this crate, so each must link the fuzzer's runtime.
#[cfg(test)]
use bolero as _;

mod datagram;
mod message;
mod overhead;
mod pose;
mod varint;

pub use datagram::{DATAGRAM_HEADER, DATAGRAM_MAX, FRAME_HEADER, Frames, Packer, frames};
pub use message::{DecodeError, Message};
pub use overhead::QUIC_DATAGRAM_OVERHEAD;
pub use pose::{POSE_MAX, POSE_MIN, Pose, TAG_LEN};
pub use varint::{Reader, put_i32, put_u32, put_u64};

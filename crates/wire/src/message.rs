//! The contract of every message that crosses a link, and the reasons to refuse bytes.

use thiserror::Error;

/// A value that crosses links as bytes.
///
/// Laws of every message, which drivers and the simulator's history hashes rely on:
/// - decoding what [`Message::encode`] wrote gives the same value, and equal values are written alike;
/// - [`Message::decode`] returns for any bytes at all and never panics; there is a limit to how many it takes, and
///   to what it allocates, however long the lists that they announce.
///
/// Poses and datagrams keep two more, which carriers and tags rely on: bytes that decode are the bytes that encoding
/// the value writes (one value, one byte string), and decoding allocates nothing.
///
/// Messages of zones and of the overlay's peers are in postcard's format, and keep neither. A number may be padded
/// (`88 00` is read as `08`), so compare the values, not the bytes. And lists are allocated: between peers two full
/// ones at most, which is little more than the longest message; in a zone's message at most 1 MiB per list ahead of
/// its entries, and nothing if more of them are announced than bytes follow.
pub trait Message: Sized {
    /// Appends the value's bytes to `out`. The earlier bytes of `out` stay, so that one buffer can serve many values.
    fn encode(&self, out: &mut Vec<u8>);

    /// The value that `bytes`, all of them, encode.
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// Whether the message may wait for a moment, so that it shares a packet with others. A driver that packs may ask.
    fn can_wait(&self) -> bool {
        false
    }
}

/// The reason why bytes were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The message announces more bytes than came.
    #[error("the bytes end too early")]
    TooShort,
    /// More bytes than a message of this kind may have.
    #[error("{length} bytes are more than the {limit} that such a message may have")]
    TooLong {
        /// The number of bytes that came.
        length: usize,
        /// The most bytes that such a message may have.
        limit: usize,
    },
    /// The message is complete, and more follows.
    #[error("bytes follow after the end of the message")]
    TrailingBytes,
    /// The first byte names no kind of message that belongs here.
    #[error("no message of kind {0:#04x} belongs here")]
    UnknownKind(u8),
    /// The header names a format version that this program does not know.
    #[error("format version {0} is not known here")]
    UnknownVersion(u8),
    /// The header has flags that this format does not define.
    #[error("flags {0:#06b} are not defined")]
    UnknownFlags(u8),
    /// A number ends in a zero byte that changes nothing: a second way to write one value.
    #[error("a number is written with more bytes than it needs")]
    Overlong,
    /// A field is written although leaving it out says the same: a second way to write one value.
    #[error("{0} is written out, but must be left out")]
    Redundant(&'static str),
    /// A number lies outside what its field allows.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// A control message that cannot be read: an impossible count, kind or text.
    #[error("the bytes are no message")]
    Malformed,
    /// A frame announces a length that no pose has.
    #[error("a frame of {0} bytes cannot hold a pose")]
    FrameLength(u8),
}

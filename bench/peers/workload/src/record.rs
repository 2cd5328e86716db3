//! What clients and servers tell each other, in the bytes that systems without a format of their own send.

use crate::Stamp;

/// Bytes of an encoded [`Move`].
pub const MOVE_BYTES: usize = 12;

/// Bytes of an encoded [`Ping`].
pub const PING_BYTES: usize = 4;

/// Bytes of an encoded [`Update`].
pub const UPDATE_BYTES: usize = 14;

/// A client's new position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Move {
    /// Position, in metres.
    pub x: f32,
    /// Position, in metres.
    pub y: f32,
    /// The time at which the client moved.
    pub at: Stamp,
}

/// The last move of an avatar, as other clients are told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Update {
    /// Number of the client whose avatar moved.
    pub avatar: u16,
    /// Its move.
    pub to: Move,
}

/// The time at which a client asked for an answer; the server sends it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping(pub Stamp);

impl Move {
    /// This move in little-endian bytes.
    pub fn encode(self) -> [u8; MOVE_BYTES] {
        let mut bytes = [0; MOVE_BYTES];
        bytes[..4].copy_from_slice(&self.x.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.y.to_le_bytes());
        bytes[8..].copy_from_slice(&self.at.0.to_le_bytes());
        bytes
    }

    /// The move in these bytes; `None` if they are no move.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let ([x, y, at], []) = bytes.as_chunks::<4>() else { return None };
        Some(Self {
            x: f32::from_le_bytes(*x),
            y: f32::from_le_bytes(*y),
            at: Stamp(u32::from_le_bytes(*at)),
        })
    }
}

impl Update {
    /// Appends this update.
    pub fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.avatar.to_le_bytes());
        out.extend_from_slice(&self.to.encode());
    }

    /// The updates in these bytes.
    pub fn decode_all(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.as_chunks::<UPDATE_BYTES>().0.iter().filter_map(|it| {
            let (avatar, to) = it.split_first_chunk()?;
            Some(Self { avatar: u16::from_le_bytes(*avatar), to: Move::decode(to)? })
        })
    }
}

impl Ping {
    /// This ping in little-endian bytes.
    pub fn encode(self) -> [u8; PING_BYTES] {
        self.0.0.to_le_bytes()
    }

    /// The ping in these bytes; `None` if they are no ping.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self(Stamp(u32::from_le_bytes(bytes.try_into().ok()?))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_no_length_means_two_things() {
        let to = Move { x: 1.5, y: -2.0, at: Stamp(7) };
        let mut bytes = Vec::new();
        Update { avatar: 3, to }.encode(&mut bytes);
        Update { avatar: 4, to }.encode(&mut bytes);
        assert_eq!(Update::decode_all(&bytes).map(|it| it.avatar).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(Move::decode(&to.encode()), Some(to));
        assert_eq!(Move::decode(&Ping(Stamp(7)).encode()), None);
        assert_eq!(Ping::decode(&Ping(Stamp(7)).encode()), Some(Ping(Stamp(7))));
        assert_eq!(Ping::decode(&bytes), None);
    }
}

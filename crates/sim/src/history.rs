//! The running hash of everything that happened.
//!
//! Two runs with the same hash had the same inputs at the same times in the same order. Written out
//! here instead of taken from a library, so that a hash noted beside a seed stays true on every machine
//! and after every update. It guards against accidents, not against forgery.

use crate::link::End;
use machine::Time;

/// What kind of thing happened. The numbers are part of the hash: never give one a new meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Command = 1,
    Wake = 2,
    LinkUp = 3,
    LinkDown = 4,
    Delivered = 5,
    Garbled = 6,
    Lost = 7,
    Replaced = 8,
    Refused = 9,
    Raised = 10,
}

impl From<End> for Kind {
    fn from(end: End) -> Self {
        match end {
            End::Delivered => Self::Delivered,
            End::Garbled => Self::Garbled,
            End::Lost => Self::Lost,
            End::Replaced => Self::Replaced,
            End::Refused => Self::Refused,
        }
    }
}

/// A running hash.
#[derive(Clone, Debug)]
pub(crate) struct History(u64);

impl History {
    /// Nothing happened yet. The seed is no part of it: it counts only through what it leads to.
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Something without bytes happened at one address.
    pub(crate) fn note(&mut self, kind: Kind, at: Time, address: u32) {
        self.mix(at.as_micros(), u64::from(address) << 8 | kind as u64);
    }

    /// Something happened to a link from `from` to `to`.
    pub(crate) fn note_link(&mut self, kind: Kind, at: Time, from: u32, to: u32, link: u32) {
        self.note(kind, at, to);
        self.mix(u64::from(from), u64::from(link));
    }

    /// These bytes had to do with what was noted last. Their number is noted too: padding is not hashed
    /// as if it were part of the message.
    pub(crate) fn note_bytes(&mut self, bytes: &[u8]) {
        self.mix(bytes.len() as u64, 0);
        let (pairs, rest) = bytes.as_chunks::<16>();
        for pair in pairs {
            self.mix_chunk(*pair);
        }
        if !rest.is_empty() {
            let mut last = [0; 16];
            last[..rest.len()].copy_from_slice(rest);
            self.mix_chunk(last);
        }
    }

    /// The hash so far.
    pub(crate) const fn hash(&self) -> u64 {
        self.0
    }

    fn mix_chunk(&mut self, chunk: [u8; 16]) {
        let both = u128::from_le_bytes(chunk);
        self.mix(both as u64, (both >> 64) as u64);
    }

    /// Folds two words in: a wide product, its halves laid over each other (as wyhash does). The
    /// constants are odd and irregular; the second is also added, so that the state never sticks at 0.
    const fn mix(&mut self, a: u64, b: u64) {
        let left = (self.0 ^ a ^ 0xa076_1d64_78bd_642f) as u128;
        let right = (b ^ 0xe703_7ed1_a0b4_28db) as u128;
        let wide = left * right;
        self.0 = ((wide >> 64) as u64 ^ wide as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(tell: impl FnOnce(&mut History)) -> u64 {
        let mut history = History::new();
        tell(&mut history);
        history.hash()
    }

    #[test]
    fn hashes_never_change() {
        // Golden: a hash noted beside a seed must hold for ever.
        let told = hash(|it| {
            it.note_link(Kind::Delivered, Time::from_millis(1), 2, 3, 4);
            it.note_bytes(b"seventeen letters");
            it.note(Kind::Wake, Time::from_millis(2), 5);
        });
        assert_eq!(told, 4_932_708_109_718_285_835);
    }

    #[test]
    fn every_part_counts() {
        let told = [
            hash(|it| it.note(Kind::Wake, Time::from_micros(1), 2)),
            hash(|it| it.note(Kind::Command, Time::from_micros(1), 2)),
            hash(|it| it.note(Kind::Wake, Time::from_micros(2), 2)),
            hash(|it| it.note(Kind::Wake, Time::from_micros(1), 3)),
            hash(|it| it.note_bytes(b"")),
            hash(|it| it.note_bytes(b"\0")),
            hash(|it| it.note_bytes(&[0; 16])),
            hash(|it| it.note_bytes(b"abc")),
            hash(|it| it.note_bytes(b"abd")),
        ];
        for (place, one) in told.iter().enumerate() {
            assert!(!told[..place].contains(one), "two stories share a hash: {told:x?}");
        }
    }
}

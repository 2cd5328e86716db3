//! The running hash of everything that happened.
//!
//! Two runs with the same hash had the same inputs at the same times in the same order. Written out
//! here instead of taken from a library, so that a hash written down beside a seed stays true on every platform
//! and after every update. It guards against accidents, not against forgery.

use crate::counters::MessageEnd;
use machine::Time;
use std::hash::{Hash, Hasher};

/// The kind of a hashed entry. The numbers are part of the hash: never give one a new meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum HistoryKind {
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
    Unlinked = 11,
    /// An input found no machine, or not the one it was meant for.
    Unheard = 12,
    Crash = 13,
    Restart = 14,
    Freeze = 15,
    Thaw = 16,
    Slow = 17,
    ClockRate = 18,
    ClockStep = 19,
    CutSilently = 20,
    Heal = 21,
    Reshape = 22,
}

impl From<MessageEnd> for HistoryKind {
    fn from(end: MessageEnd) -> Self {
        match end {
            MessageEnd::Delivered => Self::Delivered,
            MessageEnd::Garbled => Self::Garbled,
            MessageEnd::Lost => Self::Lost,
            MessageEnd::Replaced => Self::Replaced,
            MessageEnd::Refused => Self::Refused,
        }
    }
}

/// The history hash so far: everything noted is folded into one number.
#[derive(Clone, Debug)]
pub(crate) struct HistoryHash(u64);

impl HistoryHash {
    /// The hash of an empty history. The seed is no part of it: it counts only through the draws it leads to.
    pub(crate) const fn new() -> Self {
        Self(0)
    }

    /// Notes an entry without bytes at one address.
    pub(crate) fn note(&mut self, kind: HistoryKind, at: Time, address: u32) {
        self.mix(at.as_micros(), u64::from(address) << 8 | kind as u64);
    }

    /// Notes an entry about a link from `from` to `to`.
    pub(crate) fn note_link(&mut self, kind: HistoryKind, at: Time, from: u32, to: u32, link: u32) {
        self.note(kind, at, to);
        self.mix(u64::from(from), u64::from(link));
    }

    /// Notes bytes that belong to the entry noted last. Their number is noted, too: padding is not hashed
    /// as if it were part of the message.
    pub(crate) fn note_bytes(&mut self, bytes: &[u8]) {
        // Without the length, zero bytes at the end would hash like padding.
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

    /// Notes a value, a command or an event, that belongs to the entry noted last.
    pub(crate) fn note_value(&mut self, value: &impl Hash) {
        value.hash(&mut WordHasher(self));
    }

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

/// Hashes values that have no bytes of their own, by the [`Hash`] that was derived for them.
///
/// Meant for plain data: integers, enums, structs and lists of them. A number counts as a 64-bit word (a
/// `u128` as two) whatever its width, so that `usize` and the numbers of enum variants are the same on every
/// platform. One thing is out of reach here: the standard library hashes a slice of integers as it lies in
/// memory, which differs on big-endian platforms, and for `usize` on 32-bit ones.
struct WordHasher<'a>(&'a mut HistoryHash);

impl WordHasher<'_> {
    const fn word(&mut self, word: u64) {
        self.0.mix(word, 0);
    }
}

// The signed integers not named here are passed on to the unsigned ones by the standard library.
impl Hasher for WordHasher<'_> {
    fn finish(&self) -> u64 {
        self.0.hash()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.note_bytes(bytes);
    }

    fn write_u8(&mut self, it: u8) {
        self.word(it.into());
    }

    fn write_u16(&mut self, it: u16) {
        self.word(it.into());
    }

    fn write_u32(&mut self, it: u32) {
        self.word(it.into());
    }

    fn write_u64(&mut self, it: u64) {
        self.word(it);
    }

    fn write_u128(&mut self, it: u128) {
        self.0.mix(it as u64, (it >> 64) as u64);
    }

    fn write_usize(&mut self, it: usize) {
        self.word(it as u64);
    }

    fn write_isize(&mut self, it: isize) {
        self.word(it as i64 as u64); // A 32-bit -1 must become the 64-bit one.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(note: impl FnOnce(&mut HistoryHash)) -> u64 {
        let mut history = HistoryHash::new();
        note(&mut history);
        history.hash()
    }

    #[test]
    fn hashes_never_change() {
        // Golden: a hash written down beside a seed must hold for ever.
        let hashes = hash(|it| {
            it.note_link(HistoryKind::Delivered, Time::from_millis(1), 2, 3, 4);
            it.note_bytes(b"seventeen letters");
            it.note(HistoryKind::Wake, Time::from_millis(2), 5);
        });
        assert_eq!(hashes, 4_932_708_109_718_285_835);
    }

    /// Stands for a command: one of each kind of thing that plain data is made of.
    #[derive(Hash)]
    enum HashedValue {
        Nothing,
        Numbers { small: u8, signed: i16, letter: char, large: u128, size: usize, shift: isize },
        Lists(Vec<u8>, [u32; 2], String, Option<bool>),
    }

    #[test]
    fn hashes_of_values_never_change() {
        // Golden: also fails if an update of the compiler derives `Hash` differently.
        let numbers =
            HashedValue::Numbers { small: 1, signed: -2, letter: 'ℵ', large: 3 << 70, size: 4, shift: -5 };
        let lists = HashedValue::Lists(vec![1, 2, 3], [4, 5], "six".into(), Some(true));
        let hashes = [HashedValue::Nothing, numbers, lists].map(|value| hash(|it| it.note_value(&value)));
        let golden = [13_703_675_537_095_067_969, 12_043_722_737_999_871_711, 17_671_045_429_854_874_933];
        assert_eq!(hashes, golden);
    }

    #[test]
    fn a_number_counts_the_same_in_every_width() {
        let wide = hash(|it| it.note_value(&7u64));
        assert_eq!(hash(|it| it.note_value(&7usize)), wide);
        assert_eq!(hash(|it| it.note_value(&7u16)), wide);
        assert_eq!(hash(|it| it.note_value(&-7isize)), hash(|it| it.note_value(&-7i64)));
    }

    #[test]
    fn every_part_counts() {
        let hashes = [
            hash(|it| it.note(HistoryKind::Wake, Time::from_micros(1), 2)),
            hash(|it| it.note(HistoryKind::Command, Time::from_micros(1), 2)),
            hash(|it| it.note(HistoryKind::Wake, Time::from_micros(2), 2)),
            hash(|it| it.note(HistoryKind::Wake, Time::from_micros(1), 3)),
            hash(|it| it.note_link(HistoryKind::Delivered, Time::from_micros(1), 1, 2, 1)),
            hash(|it| it.note_link(HistoryKind::Delivered, Time::from_micros(1), 3, 2, 1)),
            hash(|it| it.note_link(HistoryKind::Delivered, Time::from_micros(1), 1, 2, 2)),
            hash(|it| it.note_bytes(b"")),
            hash(|it| it.note_bytes(b"\0")),
            hash(|it| it.note_bytes(&[0; 16])),
            hash(|it| it.note_bytes(b"abc")),
            hash(|it| it.note_bytes(b"abd")),
        ];
        for (place, one) in hashes.iter().enumerate() {
            assert!(!hashes[..place].contains(one), "two histories share a hash: {hashes:x?}");
        }
    }
}

//! The bytes of a directory: one change as a record, all of it as a snapshot. Drawn in `docs/store.md`.
//!
//! One value, one byte string: decoding takes nothing that encoding would not write. It never panics and
//! never allocates more than the bytes themselves pay for.

use crate::Directory;
use crate::config::{KEY_MAX, KEYS_MAX, REQUEST_KEYS_MAX, VALUE_MAX};
use crate::directory::StoredValue;
use machine::Time;
use machine::directory::Key;
use wire::{DecodeError, Reader, put_u64};

const SWAP: u8 = 1;
const MARK: u8 = 2;
const REMOVED: u8 = 0;
const HELD: u8 = 1;

/// One record of the directory's log: a decided change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryChange {
    /// A swap that happened, with its revision.
    Swap { revision: u64, writes: Vec<KeyWrite> },
    /// The clock may show up to this time.
    Mark(Time),
}

/// One key's part of a swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyWrite {
    pub key: Key,
    pub value: Option<Vec<u8>>,
}

impl DirectoryChange {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Swap { revision, writes } => {
                out.push(SWAP);
                put_u64(&mut out, *revision);
                put_u64(&mut out, writes.len() as u64);
                writes.iter().for_each(|write| put_write(&mut out, write));
            }
            Self::Mark(mark) => {
                out.push(MARK);
                put_u64(&mut out, mark.as_micros());
            }
        }
        out
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let change = match reader.byte()? {
            SWAP => {
                let revision = reader.u64()?;
                let count = limited(&mut reader, REQUEST_KEYS_MAX, "a number of writes")?;
                let writes = (0..count).map(|_| write(&mut reader)).collect::<Result<_, _>>()?;
                Self::Swap { revision, writes }
            }
            MARK => Self::Mark(Time::from_micros(reader.u64()?)),
            _ => return Err(DecodeError::OutOfRange("a kind of change")),
        };
        reader.finish()?;
        Ok(change)
    }
}

/// Encodes a directory as a snapshot; the clock's present is not part of it.
pub(crate) fn encode(directory: &Directory) -> Vec<u8> {
    let mut out = Vec::new();
    put_u64(&mut out, directory.revision);
    put_u64(&mut out, directory.clock.mark().as_micros());
    put_u64(&mut out, directory.held.len() as u64);
    // In the order of the keys, so that one directory has one encoding.
    for (key, held) in &directory.held {
        put_bytes(&mut out, key.0.as_bytes());
        put_u64(&mut out, held.revision);
        put_bytes(&mut out, &held.value);
    }
    out
}

/// Decodes a snapshot. The clock of the result is not started.
pub(crate) fn decode(bytes: &[u8]) -> Result<Directory, DecodeError> {
    let mut reader = Reader::new(bytes);
    let mut directory = Directory::default();
    directory.revision = reader.u64()?;
    directory.clock.reserve(Time::from_micros(reader.u64()?));
    for _ in 0..limited(&mut reader, KEYS_MAX, "a number of keys")? {
        let key = key(&mut reader)?;
        let revision = reader.u64()?;
        // Why checked: an unsorted or repeated key would be a second encoding of the same directory.
        let is_known = (1..=directory.revision).contains(&revision);
        let is_next = directory.held.last_key_value().is_none_or(|(last, _)| *last < key);
        if !is_known || !is_next {
            return Err(DecodeError::OutOfRange("a key's revision or place"));
        }
        directory
            .held
            .insert(key, StoredValue { revision, value: bytes_of(&mut reader, VALUE_MAX)?.to_vec() });
    }
    reader.finish()?;
    Ok(directory)
}

fn put_write(out: &mut Vec<u8>, KeyWrite { key, value }: &KeyWrite) {
    put_bytes(out, key.0.as_bytes());
    match value {
        None => out.push(REMOVED),
        Some(value) => {
            out.push(HELD);
            put_bytes(out, value);
        }
    }
}

fn write(reader: &mut Reader) -> Result<KeyWrite, DecodeError> {
    let key = key(reader)?;
    let value = match reader.byte()? {
        REMOVED => None,
        HELD => Some(bytes_of(reader, VALUE_MAX)?.to_vec()),
        _ => return Err(DecodeError::OutOfRange("removed or held")),
    };
    Ok(KeyWrite { key, value })
}

fn key(reader: &mut Reader) -> Result<Key, DecodeError> {
    let text = str::from_utf8(bytes_of(reader, KEY_MAX)?);
    text.map(|text| Key(text.to_owned())).map_err(|_| DecodeError::OutOfRange("a key that is text"))
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_u64(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn bytes_of<'a>(reader: &mut Reader<'a>, max: usize) -> Result<&'a [u8], DecodeError> {
    let length = limited(reader, max, "a length")?;
    reader.slice(length)
}

fn limited(reader: &mut Reader, max: usize, what: &'static str) -> Result<usize, DecodeError> {
    // Why a limit here: a length on a damaged disk must not decide how much is allocated.
    let number = reader.u64()?;
    usize::try_from(number).ok().filter(|&number| number <= max).ok_or(DecodeError::OutOfRange(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn change() -> impl Strategy<Value = DirectoryChange> {
        let value = prop::option::of(prop::collection::vec(any::<u8>(), 0..20));
        let write = ("[a-z/é]{0,8}", value).prop_map(|(key, value)| KeyWrite { key: Key(key), value });
        let swap = (any::<u64>(), prop::collection::vec(write, 0..6))
            .prop_map(|(revision, writes)| DirectoryChange::Swap { revision, writes });
        prop_oneof![swap, any::<u64>().prop_map(|micros| DirectoryChange::Mark(Time::from_micros(micros)))]
    }

    /// Golden: these bytes are on the disks of running worlds.
    #[test]
    fn changes_never_change_their_bytes() {
        let gone = KeyWrite { key: Key("zone/8".to_owned()), value: None };
        let held = KeyWrite { key: Key("zone/7".to_owned()), value: Some(b"a".to_vec()) };
        let swap = DirectoryChange::Swap { revision: 300, writes: vec![held, gone] };
        assert_eq!(swap.encode(), b"\x01\xac\x02\x02\x06zone/7\x01\x01a\x06zone/8\x00");
        assert_eq!(DirectoryChange::Mark(Time::from_micros(300)).encode(), b"\x02\xac\x02");
    }

    #[test]
    fn snapshots_never_change_their_bytes() {
        let mut directory = Directory::new(Time::ZERO);
        for (revision, key) in [(1, "b"), (2, "a")] {
            let writes = vec![KeyWrite { key: Key(key.to_owned()), value: Some(b"xy".to_vec()) }];
            directory.apply(DirectoryChange::Swap { revision, writes });
        }
        directory.apply(DirectoryChange::Mark(Time::from_micros(300)));
        let bytes = b"\x02\xac\x02\x02\x01a\x02\x02xy\x01b\x01\x02xy";
        assert_eq!(encode(&directory), bytes);
        assert_eq!(encode(&decode(bytes).unwrap()), bytes);
    }

    proptest! {
        #[test]
        fn changes_come_back(change in change()) {
            prop_assert_eq!(DirectoryChange::decode(&change.encode()), Ok(change));
        }

        #[test]
        fn decoded_bytes_are_the_one_encoding(bytes in prop::collection::vec(0..8u8, 0..40)) {
            if let Ok(change) = DirectoryChange::decode(&bytes) {
                prop_assert_eq!(change.encode(), &bytes[..]);
            }
            if let Ok(directory) = decode(&bytes) {
                prop_assert_eq!(encode(&directory), &bytes[..]);
            }
        }
    }
}

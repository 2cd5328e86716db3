//! The bytes, drawn in `docs/sim.md`: magic, version, then frames. The first frame is the header, every other an
//! entry.
//!
//! An incomplete frame ends a file: its writer was killed. Any other byte that writing would not produce is
//! [`HistoryDamage`], with its place. A frame's head has a checksum of its own, so that damage to a length is
//! not mistaken for a torn end.

use crate::Entry;
use crc32c::crc32c;
use machine::{Address, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use space::{Position, ZoneId};
use zone::Durability;

/// The version of the format, the only one so far.
pub const VERSION: u32 = 1;

/// The longest entry, in bytes: the record that founds a large world has a few megabytes.
pub const ENTRY_MAX: usize = 256 * 1024 * 1024;

const MAGIC: &[u8; 8] = b"ECUMHIST";
/// Bytes of a frame's head: length, checksum of the body, checksum of these two.
const HEAD: usize = 12;

/// The first frame of a file: the process that wrote it, and its world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the process that wrote the file, such as `host-1`.
    pub process: String,
    /// The world it belongs to, if the process knows it: hosts do.
    pub world: Option<WorldHeader>,
}

impl Header {
    /// The header of a process that knows no world, such as the directory or players.
    pub fn of(process: impl Into<String>) -> Self {
        Self { process: process.into(), world: None }
    }
}

/// A world, as far as a checker must know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldHeader {
    /// The name of the game.
    pub game: String,
    /// The hash of the game's types.
    pub schema: u64,
    /// The zone that the host serves.
    pub zone: ZoneId,
    /// The corners of the zone's region.
    pub region: Vec<Position>,
    /// Every address that may hold a replica.
    pub hosts: Vec<Address>,
    /// The disks that a record must reach before it is announced.
    pub durability: Durability,
}

/// The contents of a file: one life of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessLife {
    /// The first frame; `None` if the process was killed before it could write it.
    pub header: Option<Header>,
    /// The entries, in the order of their times.
    pub entries: Vec<Entry>,
    /// The offset of an incomplete entry at the end, if there is one.
    pub torn: Option<usize>,
}

/// Damage: a file does not hold what a process wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged at byte {offset}: {why}")]
pub struct HistoryDamage {
    /// The offset in bytes of the damaged frame.
    pub offset: usize,
    /// The kind of damage there.
    pub why: DamageKind,
}

/// The kinds of damage to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamageKind {
    /// The file does not begin like a history.
    #[error("this is no history")]
    Foreign,
    /// The file has another version of the format.
    #[error("version {0} of the format, this program knows version {VERSION}")]
    Version(u32),
    /// A checksum does not fit its bytes.
    #[error("the checksum does not fit")]
    Checksum,
    /// The bytes of a frame do not decode.
    #[error("it does not decode")]
    Meaningless,
    /// An entry is older than the one before it.
    #[error("it is of an earlier time than the entry before")]
    Earlier,
}

/// Encodes the beginning of a file: magic, version, header.
pub fn header(header: &Header) -> Vec<u8> {
    let mut out = [MAGIC.as_slice(), &VERSION.to_le_bytes()].concat();
    frame(header, &mut out);
    out
}

/// Appends an entry's bytes to `out`.
pub fn encode(entry: &Entry, out: &mut Vec<u8>) {
    frame(entry, out);
}

fn frame(value: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
    // The head is filled in below, when the length of the body is known.
    out.extend_from_slice(&[0; HEAD]);
    let filled = postcard::to_extend(value, std::mem::take(out));
    *out = filled.expect("plain data encodes");
    let body = &out[start + HEAD..];
    assert!(body.len() <= ENTRY_MAX, "an entry of {} bytes", body.len());
    let (length, checksum) = (body.len() as u32, crc32c(body));
    let head = &mut out[start..start + HEAD];
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..8].copy_from_slice(&checksum.to_le_bytes());
    let own = crc32c(&head[..8]);
    head[8..].copy_from_slice(&own.to_le_bytes());
}

/// Reads a file, up to an incomplete last frame.
pub fn read(bytes: &[u8]) -> Result<ProcessLife, HistoryDamage> {
    let damage = |why| HistoryDamage { offset: 0, why };
    let start = MAGIC.len() + 4;
    let Some((opening, version)) = bytes.get(..start).map(|it| it.split_at(MAGIC.len())) else {
        // A process that was killed right after creating its file leaves a part of the magic, or nothing.
        let begins = MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]);
        return if begins {
            Ok(ProcessLife { torn: Some(0), ..ProcessLife::default() })
        } else {
            Err(damage(DamageKind::Foreign))
        };
    };
    if opening != MAGIC {
        return Err(damage(DamageKind::Foreign));
    }
    let version = u32_at(version, 0);
    if version != VERSION {
        return Err(damage(DamageKind::Version(version)));
    }
    read_frames(bytes, start)
}

fn read_frames(bytes: &[u8], start: usize) -> Result<ProcessLife, HistoryDamage> {
    let mut life = ProcessLife::default();
    let (mut offset, mut last) = (start, Time::ZERO);
    while offset < bytes.len() {
        let fail = |why| HistoryDamage { offset, why };
        let Some(body) = body(&bytes[offset..]).map_err(fail)? else {
            // A torn end is no damage: the writer was killed.
            life.torn = Some(offset);
            break;
        };
        if life.header.is_none() {
            life.header = Some(decoded(body).map_err(fail)?);
        } else {
            let entry: Entry = decoded(body).map_err(fail)?;
            // Equal times are fine: many entries may happen in one microsecond.
            if entry.time < last {
                return Err(fail(DamageKind::Earlier));
            }
            last = entry.time;
            life.entries.push(entry);
        }
        offset += HEAD + body.len();
    }
    Ok(life)
}

/// The body of the first frame of `bytes`; `None` if the frame is incomplete.
fn body(bytes: &[u8]) -> Result<Option<&[u8]>, DamageKind> {
    let Some(head) = bytes.get(..HEAD) else { return Ok(None) };
    if crc32c(&head[..8]) != u32_at(head, 8) {
        return Err(DamageKind::Checksum);
    }
    let end = HEAD + u32_at(head, 0) as usize;
    let Some(body) = bytes.get(HEAD..end) else { return Ok(None) };
    if crc32c(body) != u32_at(head, 4) {
        return Err(DamageKind::Checksum);
    }
    Ok(Some(body))
}

fn decoded<T: DeserializeOwned>(body: &[u8]) -> Result<T, DamageKind> {
    match postcard::take_from_bytes(body) {
        // Why no bytes may follow: one entry has one encoding.
        Ok((value, [])) => Ok(value),
        _ => Err(DamageKind::Meaningless),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_le_bytes(bytes.expect("the slice has four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EntryKind;
    use game::PlayerId;
    use zone::{Note, Outcome};

    fn entries() -> Vec<Entry> {
        let by = Address(1 << 32 | 1);
        let answered = Note::Answered { player: PlayerId(7), number: 300, outcome: Outcome::Done };
        [
            EntryKind::Started,
            EntryKind::Holds(None),
            EntryKind::Said(answered),
            EntryKind::Kept((space::Epoch(3), 9)),
            EntryKind::Stopped,
        ]
        .into_iter()
        .zip(1..)
        .map(|(what, at)| Entry { time: Time::from_micros(at * 100), by, what })
        .collect()
    }

    fn file() -> Vec<u8> {
        let world = WorldHeader {
            game: "orchard".to_owned(),
            schema: 0x0123_4567_89ab_cdef,
            zone: ZoneId(1),
            region: vec![Position::ORIGIN],
            hosts: vec![Address(1)],
            durability: Durability::Batched,
        };
        let mut bytes = header(&Header { process: "host-1".to_owned(), world: Some(world) });
        for entry in entries() {
            encode(&entry, &mut bytes);
        }
        bytes
    }

    #[test]
    fn a_written_file_reads_back() {
        let life = read(&file()).unwrap();
        assert_eq!((&life.entries, life.torn), (&entries(), None));
        assert_eq!(life.header.unwrap().process, "host-1");
    }

    #[test]
    fn a_file_torn_at_any_byte_reads_up_to_the_tear() {
        let (bytes, entries) = (file(), entries());
        for end in 0..bytes.len() {
            let life = read(&bytes[..end]).unwrap();
            assert!(entries.starts_with(&life.entries), "{end}");
            assert!(life.entries.len() < entries.len(), "{end}");
        }
    }

    /// A flip of any bit gives an error with a place at or before it, never a torn end.
    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = file();
        for bit in 0..bytes.len() * 8 {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let damage = read(&broken).unwrap_err();
            assert!(damage.offset <= bit / 8, "{bit}: {damage}");
        }
    }

    #[test]
    fn other_files_are_told_apart() {
        let why = |bytes: &[u8]| read(bytes).unwrap_err().why;
        assert_eq!(why(b"hello"), DamageKind::Foreign);
        assert_eq!(why(b"hello, this is a letter"), DamageKind::Foreign);
        assert_eq!(why(b"ECUMHIST\x09\0\0\0"), DamageKind::Version(9));
        let mut bytes = file();
        encode(&Entry { time: Time::ZERO, ..entries()[0].clone() }, &mut bytes);
        assert_eq!(why(&bytes), DamageKind::Earlier);
        let text = read(&bytes).unwrap_err().to_string();
        assert!(text.starts_with("damaged at byte ") && text.ends_with("before"), "{text}");
    }
}

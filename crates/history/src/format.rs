//! The bytes, drawn in `docs/sim.md`: magic, version, then frames. The first frame is the header, every other an entry.
//!
//! A frame that is not all there ends a file: its writer was killed. Anything else that is not exactly what writing
//! would produce is [`Damage`], with its place. A frame's head has a checksum of its own, so that damage to a length is
//! not mistaken for a torn end.

use crate::Entry;
use crc32c::crc32c;
use machine::{Address, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use space::{Position, ZoneId};
use zone::Durability;

/// The format written, and the only one known so far.
pub const VERSION: u32 = 1;

/// No entry is longer: a record that founds a large world has a few megabytes.
pub const ENTRY_MAX: usize = 256 * 1024 * 1024;

const MAGIC: &[u8; 8] = b"ECUMHIST";
/// Length, checksum of the body, checksum of these two.
const HEAD: usize = 12;

/// What a file says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Which process wrote it, such as `host-1`.
    pub process: String,
    /// The world it belongs to, if the process knows: hosts do.
    pub world: Option<World>,
}

impl Header {
    /// The header of a process that knows no world, such as the directory or players.
    pub fn of(process: impl Into<String>) -> Self {
        Self { process: process.into(), world: None }
    }
}

/// A world, as far as a judge must know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// The game's name.
    pub game: String,
    /// The hash of its types.
    pub schema: u64,
    /// Which zone.
    pub zone: ZoneId,
    /// The corners of its region.
    pub region: Vec<Position>,
    /// Every address that may hold a replica.
    pub hosts: Vec<Address>,
    /// How announcements wait for disks.
    pub durability: Durability,
}

/// What is in a file: one life of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// What it says about itself; `None` if the process was killed before it could.
    pub header: Option<Header>,
    /// What happened, in order.
    pub entries: Vec<Entry>,
    /// Where an entry begins that is not all there, if one does.
    pub torn: Option<usize>,
}

/// A file is not what a process wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged at byte {offset}: {why}")]
pub struct Damage {
    /// Where.
    pub offset: usize,
    /// What is wrong there.
    pub why: Why,
}

/// What is wrong with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Other bytes than those that every history begins with.
    #[error("this is no history")]
    Foreign,
    /// Another format.
    #[error("version {0} of the format, this program knows version {VERSION}")]
    Version(u32),
    /// A checksum does not fit.
    #[error("the checksum does not fit")]
    Checksum,
    /// The bytes stand for nothing.
    #[error("it does not decode")]
    Meaningless,
    /// Times must not fall.
    #[error("it is of an earlier time than the entry before")]
    Earlier,
}

/// The beginning of a file.
pub fn header(header: &Header) -> Vec<u8> {
    let mut out = [MAGIC.as_slice(), &VERSION.to_le_bytes()].concat();
    frame(header, &mut out);
    out
}

/// Appends an entry's bytes.
pub fn encode(entry: &Entry, out: &mut Vec<u8>) {
    frame(entry, out);
}

fn frame(value: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
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

/// Reads a file.
pub fn read(bytes: &[u8]) -> Result<Life, Damage> {
    let damage = |why| Damage { offset: 0, why };
    let start = MAGIC.len() + 4;
    let Some((opening, version)) = bytes.get(..start).map(|it| it.split_at(MAGIC.len())) else {
        let begins = MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]);
        return if begins {
            Ok(Life { torn: Some(0), ..Life::default() })
        } else {
            Err(damage(Why::Foreign))
        };
    };
    if opening != MAGIC {
        return Err(damage(Why::Foreign));
    }
    let version = u32_at(version, 0);
    if version != VERSION {
        return Err(damage(Why::Version(version)));
    }
    read_frames(bytes, start)
}

fn read_frames(bytes: &[u8], start: usize) -> Result<Life, Damage> {
    let mut life = Life::default();
    let (mut offset, mut last) = (start, Time::ZERO);
    while offset < bytes.len() {
        let fail = |why| Damage { offset, why };
        let Some(body) = body(&bytes[offset..]).map_err(fail)? else {
            life.torn = Some(offset);
            break;
        };
        if life.header.is_none() {
            life.header = Some(decoded(body).map_err(fail)?);
        } else {
            let entry: Entry = decoded(body).map_err(fail)?;
            if entry.time < last {
                return Err(fail(Why::Earlier));
            }
            last = entry.time;
            life.entries.push(entry);
        }
        offset += HEAD + body.len();
    }
    Ok(life)
}

/// The body of the frame that bytes begin with; `None` if it is not all there.
fn body(bytes: &[u8]) -> Result<Option<&[u8]>, Why> {
    let Some(head) = bytes.get(..HEAD) else { return Ok(None) };
    if crc32c(&head[..8]) != u32_at(head, 8) {
        return Err(Why::Checksum);
    }
    let end = HEAD + u32_at(head, 0) as usize;
    let Some(body) = bytes.get(HEAD..end) else { return Ok(None) };
    if crc32c(body) != u32_at(head, 4) {
        return Err(Why::Checksum);
    }
    Ok(Some(body))
}

fn decoded<T: DeserializeOwned>(body: &[u8]) -> Result<T, Why> {
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        _ => Err(Why::Meaningless),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_le_bytes(bytes.expect("four bytes are four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::What;
    use game::PlayerId;
    use zone::{Note, Outcome};

    fn entries() -> Vec<Entry> {
        let by = Address(1 << 32 | 1);
        let answered = Note::Answered { player: PlayerId(7), number: 300, outcome: Outcome::Done };
        [
            What::Started,
            What::Holds(None),
            What::Said(answered),
            What::Kept((space::Epoch(3), 9)),
            What::Stopped,
        ]
        .into_iter()
        .zip(1..)
        .map(|(what, at)| Entry { time: Time::from_micros(at * 100), by, what })
        .collect()
    }

    fn file() -> Vec<u8> {
        let world = World {
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
    fn what_was_written_is_read() {
        let life = read(&file()).unwrap();
        assert_eq!((&life.entries, life.torn), (&entries(), None));
        assert_eq!(life.header.unwrap().process, "host-1");
    }

    #[test]
    fn wherever_it_is_torn_the_beginning_is_read() {
        let (bytes, entries) = (file(), entries());
        for end in 0..bytes.len() {
            let life = read(&bytes[..end]).unwrap();
            assert!(entries.starts_with(&life.entries), "{end}");
            assert!(life.entries.len() < entries.len(), "{end}");
        }
    }

    /// Whichever bit changes: an error with a place at or before it, never a torn end.
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
        assert_eq!(why(b"hello"), Why::Foreign);
        assert_eq!(why(b"hello, this is a letter"), Why::Foreign);
        assert_eq!(why(b"ECUMHIST\x09\0\0\0"), Why::Version(9));
        let mut bytes = file();
        encode(&Entry { time: Time::ZERO, ..entries()[0].clone() }, &mut bytes);
        assert_eq!(why(&bytes), Why::Earlier);
        let text = read(&bytes).unwrap_err().to_string();
        assert!(text.starts_with("damaged at byte ") && text.ends_with("before"), "{text}");
    }
}

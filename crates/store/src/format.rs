//! The bytes: names, headers, records and snapshots, drawn in `docs/store.md`.
//!
//! Writing appends to a buffer of the caller. Reading borrows, allocates nothing, and takes no byte on
//! trust: whatever is not exactly what writing would produce is [`Bad`].

use crate::config::{INDEX_MAX, RECORD_MAX, SNAPSHOT_MAX};
use crc32c::{crc32c, crc32c_append};

/// The format written, and the only one known so far.
pub(crate) const VERSION: u32 = 1;

const SEGMENT_MAGIC: &[u8; 8] = b"ECUMELOG";
const SNAPSHOT_MAGIC: &[u8; 8] = b"ECUMSNAP";

/// How many bytes come before a segment's first record.
pub(crate) const SEGMENT_HEADER: usize = 32;
/// How many bytes come before a record's payload.
pub(crate) const RECORD_HEADER: usize = 16;
/// How many bytes come before a snapshot's payload.
pub(crate) const SNAPSHOT_HEADER: usize = 40;

/// The name of a file that is not finished. It never survives an opening.
pub(crate) const TEMPORARY: &str = "tmp";
/// Goes before the name of a file that was set aside because it is damaged.
pub(crate) const ASIDE: &str = "aside-";

const SEGMENT_NAME: &str = "log-";
const SNAPSHOT_NAME: &str = "snap-";
const DIGITS: usize = 20;

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// Not whole: too short, never written, or not what its checksum says.
    Broken,
    /// Another magic: not ours.
    Foreign,
    /// Whole, but of another format.
    Version(u32),
}

/// What a segment says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub first: u64,
    pub schema: u64,
}

/// What a snapshot says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    pub index: u64,
    pub schema: u64,
}

pub(crate) fn segment_name(first: u64) -> String {
    format!("{SEGMENT_NAME}{first:0DIGITS$}")
}

pub(crate) fn snapshot_name(index: u64) -> String {
    format!("{SNAPSHOT_NAME}{index:0DIGITS$}")
}

/// The number of its first record, if this names a segment.
pub(crate) fn segment_named(name: &str) -> Option<u64> {
    number(name.strip_prefix(SEGMENT_NAME)?).filter(|&first| 0 < first)
}

/// The number of the last record it stands for, if this names a snapshot.
pub(crate) fn snapshot_named(name: &str) -> Option<u64> {
    number(name.strip_prefix(SNAPSHOT_NAME)?)
}

fn number(digits: &str) -> Option<u64> {
    let is_written_so = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|&number| is_written_so && number <= INDEX_MAX)
}

pub(crate) fn put_segment_header(out: &mut Vec<u8>, first: u64, schema: u64) {
    let start = out.len();
    out.extend_from_slice(SEGMENT_MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&first.to_le_bytes());
    out.extend_from_slice(&schema.to_le_bytes());
    let checksum = crc32c(&out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

pub(crate) fn put_record(out: &mut Vec<u8>, index: u64, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("the caller checked the length");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&record_checksum(length, index, payload).to_le_bytes());
    out.extend_from_slice(&index.to_le_bytes());
    out.extend_from_slice(payload);
}

/// The header only: a snapshot is long, and is written after it without being copied.
pub(crate) fn put_snapshot_header(out: &mut Vec<u8>, index: u64, schema: u64, payload: &[u8]) {
    let start = out.len();
    out.extend_from_slice(SNAPSHOT_MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&index.to_le_bytes());
    out.extend_from_slice(&schema.to_le_bytes());
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    let checksum = crc32c_append(crc32c(&out[start..]), payload);
    out.extend_from_slice(&checksum.to_le_bytes());
}

pub(crate) fn segment_header(file: &[u8]) -> Result<SegmentHeader, Bad> {
    let (header, _) = file.split_first_chunk::<SEGMENT_HEADER>().ok_or(Bad::Broken)?;
    check_magic(header, SEGMENT_MAGIC)?;
    if crc32c(&header[..28]) != u32_at(header, 28) {
        return Err(Bad::Broken);
    }
    check_version(header)?;
    Ok(SegmentHeader { first: u64_at(header, 12), schema: u64_at(header, 20) })
}

/// The payload of the record at the start of `bytes`, if it is whole and has this number.
pub(crate) fn record(bytes: &[u8], index: u64) -> Result<&[u8], Bad> {
    let (header, rest) = bytes.split_first_chunk::<RECORD_HEADER>().ok_or(Bad::Broken)?;
    let length = u32_at(header, 0);
    if RECORD_MAX < length as usize || u64_at(header, 8) != index {
        return Err(Bad::Broken);
    }
    let payload = rest.get(..length as usize).ok_or(Bad::Broken)?;
    if record_checksum(length, index, payload) != u32_at(header, 4) {
        return Err(Bad::Broken);
    }
    Ok(payload)
}

/// The number that a record at the start of `bytes` would have, and its length with header, if it fits.
/// Nothing is checked yet.
pub(crate) fn record_claim(bytes: &[u8]) -> Option<(u64, usize)> {
    let (header, rest) = bytes.split_first_chunk::<RECORD_HEADER>()?;
    let length = u32_at(header, 0) as usize;
    (length <= rest.len()).then_some((u64_at(header, 8), RECORD_HEADER + length))
}

pub(crate) fn snapshot(file: &[u8]) -> Result<(SnapshotHeader, &[u8]), Bad> {
    let (header, payload) = file.split_first_chunk::<SNAPSHOT_HEADER>().ok_or(Bad::Broken)?;
    check_magic(header, SNAPSHOT_MAGIC)?;
    if crc32c_append(crc32c(&header[..36]), payload) != u32_at(header, 36) {
        return Err(Bad::Broken);
    }
    check_version(header)?;
    if u64_at(header, 28) != payload.len() as u64 || SNAPSHOT_MAX < payload.len() {
        return Err(Bad::Broken);
    }
    Ok((SnapshotHeader { index: u64_at(header, 12), schema: u64_at(header, 20) }, payload))
}

fn record_checksum(length: u32, index: u64, payload: &[u8]) -> u32 {
    let header = crc32c_append(crc32c(&length.to_le_bytes()), &index.to_le_bytes());
    crc32c_append(header, payload)
}

/// A file that a crash left full of zeros is one that was never written, not a stranger's.
fn check_magic(header: &[u8], magic: &[u8; 8]) -> Result<(), Bad> {
    match &header[..8] {
        found if found == magic => Ok(()),
        [0, 0, 0, 0, 0, 0, 0, 0] => Err(Bad::Broken),
        _ => Err(Bad::Foreign),
    }
}

/// Only after the checksum, which every format keeps in its place: a flipped bit is not a version.
fn check_version(header: &[u8]) -> Result<(), Bad> {
    match u32_at(header, 8) {
        VERSION => Ok(()),
        other => Err(Bad::Version(other)),
    }
}

fn u32_at(header: &[u8], at: usize) -> u32 {
    let bytes = header[at..].first_chunk().expect("headers are longer than their fields");
    u32::from_le_bytes(*bytes)
}

fn u64_at(header: &[u8], at: usize) -> u64 {
    let bytes = header[at..].first_chunk().expect("headers are longer than their fields");
    u64::from_le_bytes(*bytes)
}

//! The bytes: names, headers, records and snapshots, drawn in `docs/store.md`.
//!
//! Writing appends to a buffer of the caller. Reading borrows, allocates nothing, and takes no byte on
//! trust: bytes that writing would not produce are a [`FormatError`].

use crate::config::{INDEX_MAX, RECORD_MAX, SNAPSHOT_MAX};
use crc32c::{crc32c, crc32c_append};

/// The version of the format, the only one so far.
pub(crate) const VERSION: u32 = 1;

const SEGMENT_MAGIC: &[u8; 8] = b"ECUMELOG";
const SNAPSHOT_MAGIC: &[u8; 8] = b"ECUMSNAP";

/// Bytes before a segment's first record.
pub(crate) const SEGMENT_HEADER: usize = 32;
/// Bytes before a record's payload.
pub(crate) const RECORD_HEADER: usize = 16;
/// Bytes before a snapshot's payload.
pub(crate) const SNAPSHOT_HEADER: usize = 40;

/// The name of a file that is not finished. It never survives an opening.
pub(crate) const TEMPORARY: &str = "tmp";
/// The prefix of the name of a file that was set aside because it is damaged.
pub(crate) const ASIDE: &str = "aside-";

const SEGMENT_NAME: &str = "log-";
const SNAPSHOT_NAME: &str = "snap-";
const REPLACEMENT_NAME: &str = "new-";
const DIGITS: usize = 20;

/// The reason why bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatError {
    /// Incomplete: too short, never written, or its checksum does not fit.
    Broken,
    /// Another magic: a file of another program.
    Foreign,
    /// Undamaged, but of another format version.
    Version(u32),
}

/// The header of a segment: its first record and its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub first: u64,
    pub schema: u64,
}

/// The header of a snapshot: the last record it covers and its schema.
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

pub(crate) fn replacement_name(index: u64) -> String {
    format!("{REPLACEMENT_NAME}{index:0DIGITS$}")
}

/// The number of the first record, if this is the name of a segment.
pub(crate) fn segment_named(name: &str) -> Option<u64> {
    number(name.strip_prefix(SEGMENT_NAME)?).filter(|&first| 0 < first)
}

/// The number of the last record covered, if this is the name of a snapshot.
pub(crate) fn snapshot_named(name: &str) -> Option<u64> {
    number(name.strip_prefix(SNAPSHOT_NAME)?)
}

/// The number of the last record covered, if this is the name of a snapshot that stands for everything.
pub(crate) fn replacement_named(name: &str) -> Option<u64> {
    number(name.strip_prefix(REPLACEMENT_NAME)?)
}

fn number(digits: &str) -> Option<u64> {
    // Why exactly this many digits: one number has one file name.
    let is_padded = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|&number| is_padded && number <= INDEX_MAX)
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

/// Writes the header only: a snapshot is long, and the caller writes it after the header without copying it.
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

pub(crate) fn segment_header(file: &[u8]) -> Result<SegmentHeader, FormatError> {
    let (header, _) = file.split_first_chunk::<SEGMENT_HEADER>().ok_or(FormatError::Broken)?;
    check_magic(header, SEGMENT_MAGIC)?;
    // The checksum comes before the version: a flipped bit is damage, not another format.
    if crc32c(&header[..28]) != u32_at(header, 28) {
        return Err(FormatError::Broken);
    }
    check_version(header)?;
    Ok(SegmentHeader { first: u64_at(header, 12), schema: u64_at(header, 20) })
}

/// The payload of the record at the start of `bytes`, if it is undamaged and has this number.
pub(crate) fn record(bytes: &[u8], index: u64) -> Result<&[u8], FormatError> {
    let (header, rest) = bytes.split_first_chunk::<RECORD_HEADER>().ok_or(FormatError::Broken)?;
    let length = u32_at(header, 0);
    if RECORD_MAX < length as usize || u64_at(header, 8) != index {
        return Err(FormatError::Broken);
    }
    let payload = rest.get(..length as usize).ok_or(FormatError::Broken)?;
    if record_checksum(length, index, payload) != u32_at(header, 4) {
        return Err(FormatError::Broken);
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

pub(crate) fn snapshot(file: &[u8]) -> Result<(SnapshotHeader, &[u8]), FormatError> {
    let (header, payload) = file.split_first_chunk::<SNAPSHOT_HEADER>().ok_or(FormatError::Broken)?;
    check_magic(header, SNAPSHOT_MAGIC)?;
    if crc32c_append(crc32c(&header[..36]), payload) != u32_at(header, 36) {
        return Err(FormatError::Broken);
    }
    check_version(header)?;
    if u64_at(header, 28) != payload.len() as u64 || SNAPSHOT_MAX < payload.len() {
        return Err(FormatError::Broken);
    }
    Ok((SnapshotHeader { index: u64_at(header, 12), schema: u64_at(header, 20) }, payload))
}

fn record_checksum(length: u32, index: u64, payload: &[u8]) -> u32 {
    let header = crc32c_append(crc32c(&length.to_le_bytes()), &index.to_le_bytes());
    crc32c_append(header, payload)
}

/// A file that a crash left full of zeros is one that was never written, not a file of another program.
fn check_magic(header: &[u8], magic: &[u8; 8]) -> Result<(), FormatError> {
    match &header[..8] {
        found if found == magic => Ok(()),
        [0, 0, 0, 0, 0, 0, 0, 0] => Err(FormatError::Broken),
        _ => Err(FormatError::Foreign),
    }
}

/// Called only after the checksum, which has the same place in every format: a flipped bit is not a version.
fn check_version(header: &[u8]) -> Result<(), FormatError> {
    match u32_at(header, 8) {
        VERSION => Ok(()),
        other => Err(FormatError::Version(other)),
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

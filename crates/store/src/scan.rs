//! Reading what a disk holds: the newest whole snapshot, and the records after it as far as they go.
//!
//! Nothing is changed here, so a disk that is refused (a stranger's file, another format, another schema)
//! stays as it was. [`mend`](crate::mend) acts on what was found.

use crate::config::SEARCH_FACTOR;
use crate::format::{self, Bad, RECORD_HEADER, SEGMENT_HEADER, TEMPORARY};
use crate::recovery::{Dropped, Reason};
use crate::{Media, StoreError};

/// What a disk holds.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub snapshot: Option<Snapshot>,
    /// The records after the snapshot.
    pub records: Vec<Vec<u8>>,
    /// The segments that hold those, in order.
    pub segments: Vec<Segment>,
    /// Files that nothing needs any more: older snapshots, segments that a snapshot covers, a torn beginning.
    pub stale: Vec<String>,
    /// Files that are damaged or lie behind damage, in the order in which to set them aside.
    pub damaged: Vec<String>,
    /// The last of `segments` ends in damage: keep a copy before it is cut.
    pub is_tail_damaged: bool,
    pub dropped: Vec<Dropped>,
    /// An unfinished file is there.
    pub has_temporary: bool,
}

/// The newest whole snapshot.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub index: u64,
    pub schema: u64,
    pub payload: Vec<u8>,
}

/// A segment, as far as it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub first: u64,
    pub schema: u64,
    /// How many of its bytes are whole.
    pub length: u64,
}

/// The files of a disk by what their names say.
#[derive(Default)]
struct Names {
    segments: Vec<u64>,
    snapshots: Vec<u64>,
    has_temporary: bool,
}

impl Scan {
    /// The last record that the snapshot stands for; 0 without one.
    pub fn base(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |snapshot| snapshot.index)
    }

    /// The schemas of everything that is used, each once.
    pub fn schemas(&self) -> Vec<u64> {
        let snapshot = self.snapshot.iter().map(|snapshot| snapshot.schema);
        let mut schemas: Vec<u64> = snapshot.chain(self.segments.iter().map(|it| it.schema)).collect();
        schemas.dedup();
        schemas
    }
}

/// Reads a disk.
pub(crate) fn scan<M: Media>(media: &M) -> Result<Scan, StoreError> {
    let names = sort(media.list()?);
    let mut scan = Scan { has_temporary: names.has_temporary, ..Scan::default() };
    find_snapshot(media, names.snapshots, &mut scan)?;
    find_records(media, &names.segments, &mut scan)?;
    Ok(scan)
}

/// Names that are not ours are nobody's business.
fn sort(list: Vec<String>) -> Names {
    let mut names = Names::default();
    for name in list {
        names.has_temporary |= name == TEMPORARY;
        names.segments.extend(format::segment_named(&name));
        names.snapshots.extend(format::snapshot_named(&name));
    }
    names.segments.sort_unstable();
    names.snapshots.sort_unstable();
    names
}

/// Takes the newest whole snapshot; newer ones are damaged, older ones stale.
fn find_snapshot<M: Media>(media: &M, indexes: Vec<u64>, scan: &mut Scan) -> Result<(), StoreError> {
    for index in indexes.into_iter().rev() {
        let name = format::snapshot_name(index);
        if scan.snapshot.is_some() {
            scan.stale.push(name);
            continue;
        }
        let file = media.read(&name)?;
        let bytes = file.len() as u64;
        scan.snapshot = read_snapshot(&name, index, file)?;
        if scan.snapshot.is_none() {
            scan.dropped.push(Dropped { file: name.clone(), at: 0, bytes, reason: Reason::Damaged });
            scan.damaged.push(name);
        }
    }
    Ok(())
}

fn read_snapshot(name: &str, index: u64, mut file: Vec<u8>) -> Result<Option<Snapshot>, StoreError> {
    let Some((header, _)) = or_broken(name, format::snapshot(&file))? else { return Ok(None) };
    if header.index != index {
        return Ok(None);
    }
    file.drain(..format::SNAPSHOT_HEADER);
    Ok(Some(Snapshot { index, schema: header.schema, payload: file }))
}

/// Walks the segments from the snapshot on, until the numbers break off.
fn find_records<M: Media>(media: &M, firsts: &[u64], scan: &mut Scan) -> Result<(), StoreError> {
    let base = scan.base();
    // The last segment that can hold the record after the snapshot; those before it are covered.
    let start = firsts.iter().rposition(|&first| first <= base + 1).unwrap_or(0);
    let (covered, needed) = firsts.split_at(start);
    scan.stale.extend(covered.iter().map(|&first| format::segment_name(first)));

    let mut expected = needed.first().map_or(base + 1, |&first| first.min(base + 1));
    for (place, &first) in needed.iter().enumerate() {
        if first != expected {
            return abandon(media, &needed[place..], Reason::Gap { expected }, scan);
        }
        let name = format::segment_name(first);
        let file = media.read(&name)?;
        let walk = walk(&name, first, &file)?;
        let beyond = &needed[place + 1..];
        let is_torn =
            |walk: &Walk| !walk.is_misnamed && !whole_record_follows(&file[walk.whole..], walk.next);
        expected = walk.next.max(base + 1);
        if walk.whole == file.len() {
            take(&walk, first, scan);
        } else if beyond.is_empty() && is_torn(&walk) {
            scan.dropped.push(dropped(&name, walk.whole, file.len(), Reason::TornTail));
            take(&walk, first, scan);
        } else {
            scan.dropped.push(dropped(&name, walk.whole, file.len(), Reason::Damaged));
            abandon(media, beyond, Reason::Beyond, scan)?;
            take_damaged(&walk, first, scan);
            return Ok(());
        }
    }
    Ok(())
}

/// A segment, walked as far as it is whole.
struct Walk<'a> {
    schema: u64,
    records: Vec<&'a [u8]>,
    /// How many bytes are whole; 0 if not even the header is.
    whole: usize,
    /// The number after the last whole record.
    next: u64,
    /// The header is whole, but of another segment. No crash does that.
    is_misnamed: bool,
}

fn walk<'a>(name: &str, first: u64, file: &'a [u8]) -> Result<Walk<'a>, StoreError> {
    let mut walk = Walk { schema: 0, records: Vec::new(), whole: 0, next: first, is_misnamed: false };
    let Some(header) = or_broken(name, format::segment_header(file))? else { return Ok(walk) };
    if header.first != first {
        walk.is_misnamed = true;
        return Ok(walk);
    }
    walk.schema = header.schema;
    walk.whole = SEGMENT_HEADER;
    while let Ok(payload) = format::record(&file[walk.whole..], walk.next) {
        walk.records.push(payload);
        walk.whole += RECORD_HEADER + payload.len();
        walk.next += 1;
    }
    Ok(walk)
}

/// How many bytes of a segment come before this record. `None` if it is not whole up to there.
pub(crate) fn offset_of(name: &str, first: u64, file: &[u8], index: u64) -> Result<Option<u64>, StoreError> {
    let walk = walk(name, first, file)?;
    let before = usize::try_from(index - first).ok().and_then(|count| walk.records.get(..count));
    let length = |before: &[&[u8]]| before.iter().map(|payload| RECORD_HEADER + payload.len()).sum::<usize>();
    Ok(before.map(|before| (SEGMENT_HEADER + length(before)) as u64))
}

/// Takes the records after the snapshot, if the segment has any; else nothing needs it.
fn take(walk: &Walk, first: u64, scan: &mut Scan) {
    if !take_records(walk, first, scan) {
        scan.stale.push(format::segment_name(first));
    }
}

fn take_damaged(walk: &Walk, first: u64, scan: &mut Scan) {
    scan.is_tail_damaged = take_records(walk, first, scan);
    if !scan.is_tail_damaged {
        scan.damaged.push(format::segment_name(first));
    }
}

/// Whether there were any.
fn take_records(walk: &Walk, first: u64, scan: &mut Scan) -> bool {
    let covered = (scan.base() + 1).saturating_sub(first);
    let after = usize::try_from(covered).ok().and_then(|covered| walk.records.get(covered..)).unwrap_or(&[]);
    scan.records.extend(after.iter().map(|payload| payload.to_vec()));
    if !after.is_empty() {
        scan.segments.push(Segment { first, schema: walk.schema, length: walk.whole as u64 });
    }
    !after.is_empty()
}

/// Drops these segments whole: the first for this reason, the others because they lie behind it.
fn abandon<M: Media>(media: &M, firsts: &[u64], reason: Reason, scan: &mut Scan) -> Result<(), StoreError> {
    let mut reason = reason;
    for &first in firsts {
        let name = format::segment_name(first);
        let bytes = media.read(&name)?.len();
        scan.dropped.push(dropped(&name, 0, bytes, reason));
        reason = Reason::Beyond;
    }
    // From the end, so that what a crash leaves of this still has its gap where it was.
    scan.damaged.extend(firsts.iter().rev().map(|&first| format::segment_name(first)));
    Ok(())
}

fn dropped(file: &str, from: usize, to: usize, reason: Reason) -> Dropped {
    Dropped { file: file.to_owned(), at: from as u64, bytes: (to - from) as u64, reason }
}

/// Whether a whole record lies somewhere behind the broken one that `bytes` begin with. Then the broken
/// one was once whole: an append that is cut short has nothing behind it.
fn whole_record_follows(bytes: &[u8], broken: u64) -> bool {
    let last = broken.saturating_add((bytes.len() / RECORD_HEADER) as u64);
    let mut allowance = bytes.len().saturating_mul(SEARCH_FACTOR);
    for at in 1..bytes.len() {
        let Some((index, length)) = format::record_claim(&bytes[at..]) else { continue };
        if !(broken..=last).contains(&index) {
            continue;
        }
        // Bytes that were made to wear us out are no torn tail either.
        let Some(left) = allowance.checked_sub(length) else { return true };
        allowance = left;
        if format::record(&bytes[at..], index).is_ok() {
            return true;
        }
    }
    false
}

/// What is broken is a finding; what is not ours, or of another time, is not for us to touch.
fn or_broken<T>(name: &str, read: Result<T, Bad>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(Bad::Broken) => Ok(None),
        Err(Bad::Foreign) => Err(StoreError::Foreign { file: name.to_owned() }),
        Err(Bad::Version(found)) => Err(StoreError::Version { file: name.to_owned(), found }),
    }
}

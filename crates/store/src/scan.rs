//! Scanning a disk: the newest undamaged snapshot, and the records after it as far as they go.
//!
//! Nothing is changed here, so a disk that is refused (another program's file, another format, another schema)
//! stays as it was. [`mend`](crate::mend) acts on the findings.

use crate::config::SEARCH_FACTOR;
use crate::format::{self, FormatError, RECORD_HEADER, SEGMENT_HEADER, TEMPORARY};
use crate::recovery::{DropReason, DroppedBytes};
use crate::{Media, StoreError};

/// The findings of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub snapshot: Option<ScannedSnapshot>,
    /// The snapshot has the name of a replacement: it stands for everything, and mending gives it its usual name.
    pub is_replacement: bool,
    /// The records after the snapshot.
    pub records: Vec<Vec<u8>>,
    /// The segments that hold those, in order.
    pub segments: Vec<ScannedSegment>,
    /// Files that are no longer needed: older snapshots, segments that a snapshot covers, a torn beginning.
    pub stale: Vec<String>,
    /// Files that are damaged or lie behind damage, in the order in which to set them aside.
    pub damaged: Vec<String>,
    /// The last of `segments` ends in damage: a copy is kept before it is cut.
    pub is_tail_damaged: bool,
    pub dropped: Vec<DroppedBytes>,
    /// An unfinished file of an interrupted write is there.
    pub has_temporary: bool,
}

/// The newest undamaged snapshot of a disk.
#[derive(Debug)]
pub(crate) struct ScannedSnapshot {
    pub index: u64,
    pub schema: u64,
    pub payload: Vec<u8>,
}

/// A segment, up to its first damaged record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScannedSegment {
    pub first: u64,
    pub schema: u64,
    /// The number of undamaged bytes at its start.
    pub length: u64,
}

/// The files of a disk, sorted by kind.
#[derive(Default)]
struct FileNames {
    segments: Vec<u64>,
    snapshots: Vec<u64>,
    replacements: Vec<u64>,
    has_temporary: bool,
}

impl Scan {
    /// The last record that the snapshot covers; 0 without one.
    pub fn base(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |snapshot| snapshot.index)
    }

    /// The schemas of everything that is used, each once.
    pub fn schemas(&self) -> Vec<u64> {
        let snapshot = self.snapshot.iter().map(|snapshot| snapshot.schema);
        let mut schemas: Vec<u64> = snapshot.chain(self.segments.iter().map(|it| it.schema)).collect();
        // Only neighbours are compared: a log whose schemas alternate is refused in any case.
        schemas.dedup();
        schemas
    }
}

/// Reads a disk without changing it.
pub(crate) fn scan<M: Media>(media: &M) -> Result<Scan, StoreError> {
    let names = sort(media.list()?);
    let mut scan = Scan { has_temporary: names.has_temporary, ..Scan::default() };
    find_snapshot(media, format::replacement_name, names.replacements, &mut scan)?;
    if scan.snapshot.is_some() {
        scan.is_replacement = true;
        let segments = names.segments.iter().map(|&it| format::segment_name(it));
        let snapshots = names.snapshots.iter().map(|&it| format::snapshot_name(it));
        scan.stale.extend(segments.chain(snapshots));
        return Ok(scan);
    }
    find_snapshot(media, format::snapshot_name, names.snapshots, &mut scan)?;
    find_records(media, &names.segments, &mut scan)?;
    Ok(scan)
}

/// Sorts the files by name. Other names belong to other programs and are ignored.
fn sort(list: Vec<String>) -> FileNames {
    let mut names = FileNames::default();
    for name in list {
        names.has_temporary |= name == TEMPORARY;
        names.segments.extend(format::segment_named(&name));
        names.snapshots.extend(format::snapshot_named(&name));
        names.replacements.extend(format::replacement_named(&name));
    }
    names.segments.sort_unstable();
    names.snapshots.sort_unstable();
    names.replacements.sort_unstable();
    names
}

/// Takes the newest undamaged snapshot; newer ones are damaged, older ones stale.
fn find_snapshot<M: Media>(
    media: &M,
    name: fn(u64) -> String,
    indexes: Vec<u64>,
    scan: &mut Scan,
) -> Result<(), StoreError> {
    // Newest first: the first undamaged one is taken.
    for index in indexes.into_iter().rev() {
        let name = name(index);
        if scan.snapshot.is_some() {
            scan.stale.push(name);
            continue;
        }
        let file = media.read(&name)?;
        let bytes = file.len() as u64;
        scan.snapshot = read_snapshot(&name, index, file)?;
        if scan.snapshot.is_none() {
            scan.dropped.push(DroppedBytes { file: name.clone(), at: 0, bytes, reason: DropReason::Damaged });
            scan.damaged.push(name);
        }
    }
    Ok(())
}

fn read_snapshot(name: &str, index: u64, mut file: Vec<u8>) -> Result<Option<ScannedSnapshot>, StoreError> {
    let Some((header, _)) = or_broken(name, format::snapshot(&file))? else { return Ok(None) };
    // A snapshot under another number: it must have been renamed or copied by hand.
    if header.index != index {
        return Ok(None);
    }
    // Why in place: a snapshot may be large, and a copy would double the memory.
    file.drain(..format::SNAPSHOT_HEADER);
    Ok(Some(ScannedSnapshot { index, schema: header.schema, payload: file }))
}

/// Walks the segments from the snapshot on, until the numbers break off.
fn find_records<M: Media>(media: &M, firsts: &[u64], scan: &mut Scan) -> Result<(), StoreError> {
    let base = scan.base();
    // The last segment that can hold the record after the snapshot; those before it are covered.
    let start = firsts.iter().rposition(|&first| first <= base + 1).unwrap_or(0);
    let (covered, needed) = firsts.split_at(start);
    scan.stale.extend(covered.iter().map(|&first| format::segment_name(first)));

    // The first needed segment may begin before the snapshot's end; covered records are skipped later.
    let mut expected = needed.first().map_or(base + 1, |&first| first.min(base + 1));
    for (place, &first) in needed.iter().enumerate() {
        if first != expected {
            return abandon(media, &needed[place..], DropReason::Gap { expected }, scan);
        }
        let name = format::segment_name(first);
        let file = media.read(&name)?;
        let walk = walk(&name, first, &file)?;
        let beyond = &needed[place + 1..];
        let is_torn =
            |walk: &SegmentWalk| !walk.is_misnamed && !whole_record_follows(&file[walk.whole..], walk.next);
        // A covered segment may end before the snapshot does.
        expected = walk.next.max(base + 1);
        if walk.whole == file.len() {
            take(&walk, first, scan);
        } else if beyond.is_empty() && is_torn(&walk) {
            scan.dropped.push(dropped(&name, walk.whole, file.len(), DropReason::TornTail));
            take(&walk, first, scan);
        } else {
            scan.dropped.push(dropped(&name, walk.whole, file.len(), DropReason::Damaged));
            abandon(media, beyond, DropReason::Beyond, scan)?;
            take_damaged(&walk, first, scan);
            return Ok(());
        }
    }
    Ok(())
}

/// A segment, walked up to its first damaged record.
struct SegmentWalk<'a> {
    schema: u64,
    records: Vec<&'a [u8]>,
    /// The number of undamaged bytes; 0 if even the header is damaged.
    whole: usize,
    /// The number after the last undamaged record.
    next: u64,
    /// The header is undamaged, but of another segment. No crash does that.
    is_misnamed: bool,
}

fn walk<'a>(name: &str, first: u64, file: &'a [u8]) -> Result<SegmentWalk<'a>, StoreError> {
    let mut walk = SegmentWalk { schema: 0, records: Vec::new(), whole: 0, next: first, is_misnamed: false };
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

/// The number of bytes of a segment before this record. `None` if it is damaged before that.
pub(crate) fn offset_of(name: &str, first: u64, file: &[u8], index: u64) -> Result<Option<u64>, StoreError> {
    let walk = walk(name, first, file)?;
    let before = usize::try_from(index - first).ok().and_then(|count| walk.records.get(..count));
    let length = |before: &[&[u8]]| before.iter().map(|payload| RECORD_HEADER + payload.len()).sum::<usize>();
    Ok(before.map(|before| (SEGMENT_HEADER + length(before)) as u64))
}

/// Takes the records after the snapshot; a segment without any is stale.
fn take(walk: &SegmentWalk, first: u64, scan: &mut Scan) {
    if !take_records(walk, first, scan) {
        scan.stale.push(format::segment_name(first));
    }
}

fn take_damaged(walk: &SegmentWalk, first: u64, scan: &mut Scan) {
    scan.is_tail_damaged = take_records(walk, first, scan);
    if !scan.is_tail_damaged {
        scan.damaged.push(format::segment_name(first));
    }
}

/// Takes the records after the snapshot. True if there are any.
fn take_records(walk: &SegmentWalk, first: u64, scan: &mut Scan) -> bool {
    let covered = (scan.base() + 1).saturating_sub(first);
    let after = usize::try_from(covered).ok().and_then(|covered| walk.records.get(covered..)).unwrap_or(&[]);
    scan.records.extend(after.iter().map(|payload| payload.to_vec()));
    if !after.is_empty() {
        scan.segments.push(ScannedSegment { first, schema: walk.schema, length: walk.whole as u64 });
    }
    !after.is_empty()
}

/// Drops these segments as a whole: the first for this reason, the others because they lie behind it.
fn abandon<M: Media>(
    media: &M,
    firsts: &[u64],
    reason: DropReason,
    scan: &mut Scan,
) -> Result<(), StoreError> {
    let mut reason = reason;
    for &first in firsts {
        let name = format::segment_name(first);
        let bytes = media.read(&name)?.len();
        scan.dropped.push(dropped(&name, 0, bytes, reason));
        reason = DropReason::Beyond;
    }
    // From the end, so that a crash half-way leaves the gap where it was.
    scan.damaged.extend(firsts.iter().rev().map(|&first| format::segment_name(first)));
    Ok(())
}

fn dropped(file: &str, from: usize, to: usize, reason: DropReason) -> DroppedBytes {
    DroppedBytes { file: file.to_owned(), at: from as u64, bytes: (to - from) as u64, reason }
}

/// True if an undamaged record lies somewhere behind the broken one at the start of `bytes`. Then the broken
/// one was once complete: an append that is cut short has nothing behind it.
// Why a range of numbers: at most one record per header length fits, so higher numbers are chance hits.
fn whole_record_follows(bytes: &[u8], broken: u64) -> bool {
    let last = broken.saturating_add((bytes.len() / RECORD_HEADER) as u64);
    let mut allowance = bytes.len().saturating_mul(SEARCH_FACTOR);
    // At every offset: a broken length does not say where the next record begins.
    for at in 1..bytes.len() {
        let Some((index, length)) = format::record_claim(&bytes[at..]) else { continue };
        if !(broken..=last).contains(&index) {
            continue;
        }
        // Why `true`: bytes that were made to exhaust the search are no torn tail either.
        let Some(left) = allowance.checked_sub(length) else { return true };
        allowance = left;
        if format::record(&bytes[at..], index).is_ok() {
            return true;
        }
    }
    false
}

/// A broken file is a finding; a file of another program or another version is an error, and stays untouched.
fn or_broken<T>(name: &str, read: Result<T, FormatError>) -> Result<Option<T>, StoreError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(FormatError::Broken) => Ok(None),
        Err(FormatError::Foreign) => Err(StoreError::Foreign { file: name.to_owned() }),
        Err(FormatError::Version(found)) => Err(StoreError::Version { file: name.to_owned(), found }),
    }
}

//! Fuzz targets for [store-06]: opening never panics and never invents a record, whatever bytes are on the disk.
//!
//! Under `cargo test` they take a few thousand random inputs each. `cargo bolero test fuzz::any_files` runs
//! the same target under libFuzzer.

use crate::bench::{SCHEMA, SMALL};
use bolero::check;
use machine::disk::DiskContents;
use store::{Log, Media, MemoryDisk};

/// Keeps `cargo test` quick; a fuzzer ignores it.
const ITERATIONS: usize = 2_000;

const NAMES: [&str; 12] = [
    "log-00000000000000000001",
    "log-00000000000000000003",
    "log-00000000000000000004",
    "log-09223372036854775807",
    "snap-00000000000000000000",
    "snap-00000000000000000002",
    "snap-09223372036854775807",
    "new-00000000000000000001",
    "new-00000000000000000002",
    "log-99999999999999999999",
    "tmp",
    "log-1",
];

#[test]
fn any_files() {
    check!().with_iterations(ITERATIONS).with_type::<Vec<(u8, Vec<u8>)>>().for_each(|files| {
        let files =
            files.iter().map(|(name, bytes)| (NAMES[usize::from(*name) % NAMES.len()], bytes.clone()));
        swallow(&mut MemoryDisk::holding(files));
    });
}

/// Inputs that random bytes hardly ever form: files that begin with a complete header.
#[test]
fn any_records() {
    let (mut disk, _) = whole();
    let headers: Vec<(String, Vec<u8>)> =
        disk.list().unwrap().into_iter().map(|name| (name.clone(), disk.read(&name).unwrap())).collect();
    check!().with_iterations(ITERATIONS).with_type::<[Vec<u8>; 4]>().for_each(|bodies| {
        let files = headers.iter().zip(bodies);
        let file = |header: &[u8], body: &[u8]| [&header[..32], body].concat();
        disk = MemoryDisk::holding(files.map(|((name, header), body)| (name.as_str(), file(header, body))));
        swallow(&mut disk);
    });
}

/// Bits flipped on an undamaged disk, and an end cut off: the findings are a first part of what was there.
#[test]
fn damaged_files() {
    let (whole, kept) = whole();
    let names = whole.list().unwrap();
    check!().with_iterations(ITERATIONS).with_type::<(Vec<(u8, u16)>, u8, u8)>().for_each(
        |(bits, file, cut)| {
            let mut disk = whole.clone();
            for &(name, bit) in bits {
                disk.flip_bit(&names[usize::from(name) % names.len()], u64::from(bit));
            }
            let name = &names[usize::from(*file) % names.len()];
            let length = disk.read(name).unwrap().len() as u64;
            disk.truncate(name, length.saturating_sub(u64::from(cut % 64))).unwrap();
            if let Some(found) = swallow(&mut disk) {
                assert!(is_beginning(&found, &kept), "{found:?} is no beginning of {kept:?}");
            }
        },
    );
}

/// Opens; if that succeeds, the log must work like any other.
fn swallow(disk: &mut MemoryDisk) -> Option<DiskContents> {
    let (mut log, opened) = Log::open(&mut *disk, SCHEMA, SMALL).ok()?;
    assert_eq!(log.recall().as_ref(), Ok(&opened.recalled));
    let next = log.next();
    let is_at_the_end = log.append(next, &[b"new".to_vec()]).is_err();
    let (_, again) = Log::open(disk, SCHEMA, SMALL).unwrap();
    let mut expected = opened.recalled.clone();
    expected.records.extend((!is_at_the_end).then(|| b"new".to_vec()));
    assert_eq!(again.recalled, expected);
    assert_eq!(again.recovery.dropped, []);
    Some(opened.recalled)
}

/// A snapshot at 2 and records 1 to 6 in three segments, so that losing the snapshot loses nothing.
fn whole() -> (MemoryDisk, Vec<Vec<u8>>) {
    let mut disk = MemoryDisk::new();
    let records: Vec<Vec<u8>> = (1..=6).map(|index| vec![index; 30]).collect();
    let (mut log, _) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    for (index, record) in (1..).zip(&records) {
        log.append(index, std::slice::from_ref(record)).unwrap();
    }
    log.keep(1, b"after one").unwrap();
    (disk, records)
}

fn is_beginning(found: &DiskContents, kept: &[Vec<u8>]) -> bool {
    let base = match &found.snapshot {
        None => 0,
        Some((1, snapshot)) if snapshot == b"after one" => 1,
        Some(_) => return false,
    };
    kept[base..].starts_with(&found.records)
}

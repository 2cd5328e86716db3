//! [directory-04]: a disk that fails or lies is reported, never guessed around.

use crate::bench::SMALL;
use directory::{DirectoryOpenError, DurableDirectory};
use machine::directory::{DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
use machine::{Rng, Ticket, Time};
use proptest::prelude::*;
use store::{Log, Media, MemoryDisk};

const SCHEMA: u64 = u64::from_le_bytes(*b"ECUMDIR1");

fn promote(expected: u64) -> DirectoryRequest {
    let write = DirectoryWrite {
        key: Key("zone/7".into()),
        expected: Revision(expected),
        value: Some(b"b".to_vec()),
    };
    DirectoryRequest::Swap { ticket: Ticket(1), writes: vec![write] }
}

fn read() -> DirectoryRequest {
    DirectoryRequest::Read { ticket: Ticket(2), keys: vec![Key("zone/7".into())] }
}

fn open(disk: MemoryDisk) -> DurableDirectory<MemoryDisk> {
    DurableDirectory::open(disk, Time::ZERO, SMALL).unwrap()
}

/// A promotion that got `Unknown` must not be read as failed and then turn out to have happened.
#[test]
fn no_read_between_a_failure_and_the_next_opening() {
    let (mut happened, mut did_not) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::seeded(seed);
        let mut directory = open(MemoryDisk::new());
        directory.media_mut().fail_next_sync(&mut rng);
        assert_eq!(directory.serve(Time::ZERO, promote(0)), DirectoryReply::Unknown { ticket: Ticket(1) });
        assert_eq!(directory.serve(Time::ZERO, read()), DirectoryReply::Unknown { ticket: Ticket(2) });
        let mut disk = directory.into_media();
        if seed % 2 == 0 {
            disk.crash(&mut rng);
        }
        let mut directory = open(disk);
        let first = directory.serve(Time::ZERO, read());
        let DirectoryReply::Read { entries, .. } = &first else { panic!("{first:?}") };
        if entries[0].revision == Revision(1) {
            happened += 1
        } else {
            did_not += 1
        }
        // An answer that was given once stays true.
        let mut disk = directory.into_media();
        disk.crash(&mut rng);
        assert_eq!(open(disk).serve(Time::ZERO, read()), first);
    }
    assert!(0 < happened && 0 < did_not, "{happened} {did_not}");
}

/// The swap before a snapshot that fails is durable, and answered so.
#[test]
fn a_failed_snapshot_does_not_undo_the_swap() {
    let mut directory = open(MemoryDisk::new());
    for revision in 0..4 {
        directory.serve(Time::ZERO, promote(revision));
    }
    // Create, append and sync a segment at most; the snapshot comes after.
    let won = DirectoryReply::Won { ticket: Ticket(1), revision: Revision(5) };
    let before = directory.media_mut().clone();
    let failing = (0..12).find(|&operations| {
        let mut directory = open(before.clone());
        let opening = directory.media_mut().operations();
        directory.media_mut().cut_power_after(operations);
        let answer = directory.serve(Time::ZERO, promote(4));
        let is_it = answer == won && directory.failure().is_some();
        if is_it {
            assert_eq!(directory.serve(Time::ZERO, read()), DirectoryReply::Unknown { ticket: Ticket(2) });
            assert!(opening < directory.media_mut().operations());
            let mut disk = directory.into_media();
            disk.crash(&mut Rng::seeded(1));
            assert_eq!(open(disk).directory().revision(), Revision(5));
        }
        is_it
    });
    assert!(failing.is_some());
}

/// A directory that lost swaps it had answered is dangerous: it refuses to open until an operator has looked.
#[test]
fn a_damaged_directory_waits_for_an_operator() {
    let mut directory = open(MemoryDisk::new());
    for revision in 0..4 {
        directory.serve(Time::ZERO, promote(revision));
    }
    let mut disk = directory.into_media();
    disk.flip_bit("log-00000000000000000001", 8 * 40);
    for _ in 0..2 {
        let error = DurableDirectory::open(&mut disk, Time::ZERO, SMALL).unwrap_err();
        assert!(matches!(error, DirectoryOpenError::Damaged(_)), "{error}");
        assert!(error.to_string().contains("Stop every host first"), "{error}");
    }
    for name in disk.list().unwrap() {
        if name.starts_with("aside-") {
            disk.remove(&name).unwrap();
        }
    }
    assert_eq!(open(disk).directory().revision(), Revision(0));
}

#[test]
fn senseless_records_are_named() {
    let (mut log, _) = Log::open(MemoryDisk::new(), SCHEMA, SMALL.limits).unwrap();
    log.append(1, &[vec![2, 5], vec![3]]).unwrap();
    let error = DurableDirectory::open(log.into_media(), Time::ZERO, SMALL).unwrap_err();
    assert!(matches!(error, DirectoryOpenError::Senseless { index: 2, .. }), "{error}");
    assert!(error.to_string().starts_with("record 2 of the directory makes no sense"), "{error}");
}

proptest! {
    /// [directory-05] Opening never panics, whichever undamaged records are on the disk.
    #[test]
    fn any_records(
        snapshot in prop::option::of(prop::collection::vec(0..6u8, 0..30)),
        records in prop::collection::vec(prop::collection::vec(0..6u8, 0..16), 0..6),
    ) {
        let (mut log, _) = Log::open(MemoryDisk::new(), SCHEMA, SMALL.limits).unwrap();
        if let Some(snapshot) = snapshot {
            log.keep(0, &snapshot).unwrap();
        }
        log.append(1, &records).unwrap();
        if let Ok(mut directory) = DurableDirectory::open(log.into_media(), Time::ZERO, SMALL) {
            directory.serve(Time::from_millis(1), read());
            directory.serve(Time::from_millis(2), promote(1));
            directory.serve(Time::from_millis(3), DirectoryRequest::Clock { ticket: Ticket(3) });
        }
    }
}

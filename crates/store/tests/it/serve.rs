//! A machine's requests and their answers; refused requests; [store-04].

use crate::bench::{SCHEMA, SMALL};
use machine::disk::{DiskContents, DiskReply, DiskRequest};
use machine::{Rng, Ticket};
use store::config::{APPEND_MAX, INDEX_MAX, RECORD_MAX};
use store::{Log, LogLimits, MediaError, MemoryDisk, StoreError};

fn new_log() -> Log<MemoryDisk> {
    Log::open(MemoryDisk::new(), SCHEMA, SMALL).unwrap().0
}

fn append(ticket: u64, first: u64, records: &[&[u8]]) -> DiskRequest {
    let records = records.iter().map(|record| record.to_vec()).collect();
    DiskRequest::Append { ticket: Ticket(ticket), first, records }
}

#[test]
fn requests_are_answered() {
    let mut log = new_log();
    let persisted = |ticket| DiskReply::Persisted { ticket: Ticket(ticket) };
    assert_eq!(log.serve(append(1, 1, &[b"a", b"b", b"c"])), persisted(1));
    assert_eq!(log.serve(DiskRequest::Cut { ticket: Ticket(2), from: 3 }), persisted(2));
    assert_eq!(
        log.serve(DiskRequest::Keep { ticket: Ticket(3), index: 1, snapshot: b"A".to_vec() }),
        persisted(3)
    );
    let recalled =
        DiskContents { snapshot: Some((1, b"A".to_vec())), first: 2, records: vec![b"b".to_vec()] };
    let recall = DiskRequest::Recall { ticket: Ticket(4) };
    assert_eq!(log.serve(recall), DiskReply::Recalled { ticket: Ticket(4), recalled });
    assert_eq!(log.serve(append(5, 3, &[])), persisted(5));
    assert_eq!(log.failure(), None);
}

/// A refused request changes nothing, and does no harm.
#[test]
fn wrong_requests_are_refused() {
    let mut log = new_log();
    log.append(1, &[b"a".to_vec(), b"b".to_vec()]).unwrap();
    log.keep(1, b"A").unwrap();
    assert_eq!(log.append(2, &[vec![]]), Err(StoreError::NotNext { expected: 3, found: 2 }));
    assert_eq!(log.append(3, &[vec![0; RECORD_MAX + 1]]), Err(StoreError::RecordTooLong(RECORD_MAX + 1)));
    let many = vec![vec![0; RECORD_MAX]; APPEND_MAX / RECORD_MAX];
    assert!(matches!(log.append(3, &many), Err(StoreError::AppendTooLong(_))));
    assert_eq!(log.cut(1), Err(StoreError::CutInSnapshot { from: 1, snapshot: 1 }));
    assert_eq!(log.keep(0, b""), Err(StoreError::OldSnapshot { index: 0, snapshot: 1 }));
    assert_eq!(log.keep(u64::MAX, b""), Err(StoreError::IndexTooHigh(u64::MAX)));
    assert_eq!(log.replace(u64::MAX, b""), Err(StoreError::IndexTooHigh(u64::MAX)));
    assert_eq!(log.serve(append(7, 9, &[b"x"])), DiskReply::Failed { ticket: Ticket(7) });
    assert_eq!(log.failure(), Some(&StoreError::NotNext { expected: 3, found: 9 }));
    assert_eq!(log.append(3, &[b"c".to_vec()]), Ok(()));
}

#[test]
fn the_last_numbers_can_be_used() {
    let mut log = new_log();
    log.keep(INDEX_MAX - 2, b"").unwrap();
    assert_eq!(log.append(INDEX_MAX - 1, &[vec![1]]), Ok(()));
    assert!(matches!(log.append(INDEX_MAX, &[vec![1]]), Err(StoreError::IndexTooHigh(_))));
    log.keep(INDEX_MAX, b"the end").unwrap();
    let (log, opened) = Log::open(log.into_media(), SCHEMA, SMALL).unwrap();
    assert_eq!(opened.recalled.snapshot, Some((INDEX_MAX, b"the end".to_vec())));
    assert_eq!(log.next(), INDEX_MAX + 1);
}

#[test]
fn the_longest_record_fits() {
    let mut log = new_log();
    log.append(1, &[vec![7; RECORD_MAX]]).unwrap();
    let (_, opened) = Log::open(log.into_media(), SCHEMA, LogLimits::default()).unwrap();
    assert_eq!(opened.recalled.records[0].len(), RECORD_MAX);
}

/// [store-04] A sync that failed cannot be repeated: the log says so until it is opened again.
#[test]
fn a_failed_sync_poisons() {
    let mut log = new_log();
    log.append(1, &[b"a".to_vec()]).unwrap();
    log.media_mut().fail_next_sync(&mut Rng::seeded(1));
    assert_eq!(log.serve(append(1, 2, &[b"b"])), DiskReply::Failed { ticket: Ticket(1) });
    let why = log.failure().cloned();
    assert!(matches!(why, Some(StoreError::Media(MediaError::Failed { .. }))), "{why:?}");
    assert_eq!(log.serve(append(2, 2, &[b"b"])), DiskReply::Failed { ticket: Ticket(2) });
    assert_eq!(log.serve(DiskRequest::Recall { ticket: Ticket(3) }), DiskReply::Failed { ticket: Ticket(3) });
    assert_eq!(log.failure().cloned(), why, "the first failure is reported");
    let (mut log, opened) = Log::open(log.into_media(), SCHEMA, SMALL).unwrap();
    let next = opened.recalled.first + opened.recalled.records.len() as u64;
    assert_eq!(log.append(next, &[b"c".to_vec()]), Ok(()));
}

#[test]
fn a_full_disk_poisons_and_keeps_what_it_had() {
    let mut log = new_log();
    log.append(1, &[b"a".to_vec()]).unwrap();
    log.media_mut().limit(Some(60));
    assert_eq!(log.append(2, &[vec![2; 40]]), Err(StoreError::Media(MediaError::Full)));
    let mut disk = log.into_media();
    assert!(matches!(Log::open(&mut disk, SCHEMA, SMALL), Err(StoreError::Media(MediaError::Full))));
    disk.limit(None);
    let (_, opened) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    assert_eq!(opened.recalled.records, [b"a"]);
    assert!(!opened.recovery.is_damaged());
}

//! [store-05]: damage by the disk is noticed, reported and set aside; everything before it stays.

use crate::bench::{SCHEMA, SMALL};
use machine::Rng;
use store::{DropReason, Log, LogLimits, Media, MemoryDisk, StoreError};

/// Snapshot at 2; records 1 to 4 in one segment, 5 to 7 in the next, 8 in the last. All of 10 bytes.
fn disk() -> MemoryDisk {
    let mut disk = MemoryDisk::new();
    let (mut log, _) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    for index in 1..=8 {
        log.append(index, &[vec![index as u8; 10]]).unwrap();
    }
    log.keep(2, b"two").unwrap();
    disk
}

const SECOND: &str = "log-00000000000000000004";
const LAST: &str = "log-00000000000000000007";
const SNAPSHOT: &str = "snap-00000000000000000002";
const REPLACEMENT: &str = "new-00000000000000000001";

/// Opens, and prints the findings. Files that were set aside must not come back.
fn check(mut disk: MemoryDisk) -> String {
    let (log, opened) = match Log::open(&mut disk, SCHEMA, SMALL) {
        Ok(opened) => opened,
        Err(error) => return format!("refused: {error}"),
    };
    let next = log.next();
    let (mut log, again) = Log::open(log.into_media(), SCHEMA, SMALL).unwrap();
    assert_eq!(again.recalled, opened.recalled);
    assert_eq!(again.recovery.dropped, []);
    assert_eq!(again.recovery.aside, opened.recovery.aside);
    log.append(next, &[b"life goes on".to_vec()]).unwrap();

    let records: Vec<String> = opened.recalled.records.iter().map(|record| record[0].to_string()).collect();
    let snapshot = opened.recalled.snapshot.map_or(0, |(index, _)| index);
    format!("{snapshot} | {} | {}", records.join(" "), opened.recovery)
}

/// The disk with one bit of a file flipped.
fn flipped(name: &str, byte: u64) -> MemoryDisk {
    let mut disk = disk();
    assert!(disk.flip_bit(name, 8 * byte + 3), "{:?}", disk.list());
    disk
}

#[test]
fn an_undamaged_disk_has_no_findings() {
    assert_eq!(check(disk()), "2 | 3 4 5 6 7 8 | everything is whole");
}

/// Each record takes 26 bytes, after a header of 32.
#[test]
fn a_flipped_bit_ends_the_log_and_is_reported() {
    assert_eq!(
        check(flipped(SECOND, 32 + 26 + 20)),
        "2 | 3 4 | log-00000000000000000004: 52 bytes from 58 on dropped, damaged on the disk after they were \
         acknowledged; log-00000000000000000007: 84 bytes from 0 on dropped, they lie behind the damage; set aside, \
         for you to look at and remove: aside-log-00000000000000000004, aside-log-00000000000000000007"
    );
}

#[test]
fn every_field_is_guarded() {
    // Length, checksum, number, payload of record 8, the last but for one behind it.
    for byte in [32, 36, 40, 48] {
        let found = check(flipped(LAST, byte));
        assert!(found.starts_with("2 | 3 4 5 6 | log-00000000000000000007: 52 bytes from 32 on"), "{found}");
        assert!(found.contains("damaged on the disk"), "{found}");
    }
    // Version, first record, schema and checksum of the segment.
    for byte in [8, 12, 20, 28] {
        let found = check(flipped(SECOND, byte));
        assert!(found.starts_with("2 | 3 | log-00000000000000000004: 110 bytes from 0 on"), "{found}");
    }
    for byte in [8, 12, 20, 28, 36, 40, 42] {
        let found = check(flipped(SNAPSHOT, byte));
        assert!(found.starts_with("0 | 1 2 3 4 5 6 7 8 | snap-00000000000000000002: 43 bytes"), "{found}");
    }
}

#[test]
fn a_torn_tail_is_no_damage() {
    let mut disk = disk();
    disk.append(LAST, b"the beginning of a rec").unwrap();
    assert_eq!(
        check(disk),
        "2 | 3 4 5 6 7 8 | log-00000000000000000007: 22 bytes from 84 on dropped, an append that was cut short and \
         never acknowledged"
    );
}

#[test]
fn a_hole_in_the_last_segment_is_a_torn_tail() {
    let mut disk = disk();
    disk.append(LAST, &[0; 100]).unwrap();
    let (_, opened) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    assert_eq!(opened.recovery.dropped[0].reason, DropReason::TornTail);
    // A whole segment that was never written.
    disk.create("log-00000000000000000009").unwrap();
    disk.append("log-00000000000000000009", &[0; 100]).unwrap();
    let (_, opened) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    assert_eq!(opened.recovery.dropped[0].reason, DropReason::TornTail);
    assert_eq!(opened.recalled.records.len(), 6);
}

#[test]
fn a_missing_segment_is_a_gap() {
    let mut disk = disk();
    disk.remove(SECOND).unwrap();
    let found = check(disk);
    assert!(
        found.starts_with("2 | 3 | log-00000000000000000007: 84 bytes from 0 on dropped, record 4 before"),
        "{found}"
    );
}

/// The power fails when a replacement has its name, and nothing else has happened yet.
fn replacing() -> MemoryDisk {
    let mut disk = disk();
    let (mut log, _) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    log.media_mut().cut_power_after(6);
    assert!(log.replace(1, b"one").is_err());
    disk.heal();
    disk
}

#[test]
fn a_replacement_counts_from_its_name_on() {
    let mut disk = replacing();
    assert!(disk.list().unwrap().iter().any(|it| it == REPLACEMENT));
    assert_eq!(check(disk.clone()), "1 |  | everything is whole");
    Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    assert_eq!(disk.list().unwrap(), ["snap-00000000000000000001"]);
}

/// What it should have replaced may be there or not.
#[test]
fn a_damaged_replacement_is_set_aside() {
    let mut disk = replacing();
    disk.flip_bit(REPLACEMENT, 330);
    let found = check(disk);
    assert!(
        found.starts_with(&format!("2 | 3 4 5 6 7 8 | {REPLACEMENT}: 43 bytes from 0 on dropped")),
        "{found}"
    );
    assert!(found.contains(&format!("aside-{REPLACEMENT}")), "{found}");
}

#[test]
fn without_its_snapshot_a_log_that_starts_late_is_set_aside() {
    let mut disk = disk();
    Log::open(&mut disk, SCHEMA, SMALL).unwrap().0.keep(5, b"five").unwrap();
    disk.flip_bit("snap-00000000000000000005", 300);
    let found = check(disk);
    assert!(found.starts_with("0 |  | snap-00000000000000000005: 44 bytes"), "{found}");
    assert!(found.contains("record 1 before them is missing"), "{found}");
    assert!(
        found.contains("aside-log-00000000000000000004, aside-log-00000000000000000007, aside-snap"),
        "{found}"
    );
}

/// A file copied over another one.
#[test]
fn a_file_under_another_name_is_damage() {
    let mut misnamed = disk();
    misnamed.rename(SECOND, LAST).unwrap();
    misnamed.create(SECOND).unwrap();
    misnamed.append(SECOND, &disk().read(SECOND).unwrap()).unwrap();
    let found = check(misnamed);
    assert!(
        found.starts_with("2 | 3 4 5 6 | log-00000000000000000007: 110 bytes from 0 on dropped, damaged"),
        "{found}"
    );
    let mut misnamed = disk();
    misnamed.rename(SNAPSHOT, "snap-00000000000000000003").unwrap();
    let found = check(misnamed);
    assert!(
        found.starts_with(
            "0 | 1 2 3 4 5 6 7 8 | snap-00000000000000000003: 43 bytes from 0 on dropped, damaged"
        ),
        "{found}"
    );
}

/// Between the rename and the removals of a `keep` both snapshots are there.
#[test]
fn an_older_whole_snapshot_is_better_than_none() {
    let mut both = disk();
    let mut newer = disk();
    Log::open(&mut newer, SCHEMA, SMALL).unwrap().0.keep(5, b"five").unwrap();
    let name = "snap-00000000000000000005";
    both.create(name).unwrap();
    both.append(name, &newer.read(name).unwrap()).unwrap();
    assert_eq!(check(both.clone()), "5 | 6 7 8 | everything is whole");
    both.flip_bit(name, 333);
    assert!(check(both).starts_with("2 | 3 4 5 6 7 8 | snap-00000000000000000005: 44 bytes"));
}

/// A crash while the damage is set aside: the next opening finds the same, or at least the files set aside.
#[test]
fn setting_aside_may_be_interrupted() {
    for (operations, seed) in (0..14).flat_map(|operations| (0..10).map(move |seed| (operations, seed))) {
        let mut disk = flipped(SECOND, 32 + 26 + 20);
        disk.cut_power_after(operations);
        let _ = Log::open(&mut disk, SCHEMA, SMALL);
        disk.crash(&mut Rng::seeded(seed));
        let (_, opened) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
        assert_eq!(opened.recalled.records.len(), 2);
        assert_eq!(opened.recovery.aside.len(), 2, "{operations} {seed}: {}", opened.recovery);
    }
}

/// Damage while the log is open is noticed by the next read.
#[test]
fn damage_under_an_open_log_poisons_it() {
    let (mut log, _) = Log::open(disk(), SCHEMA, SMALL).unwrap();
    log.media_mut().flip_bit(SECOND, 8 * 60);
    assert!(matches!(log.recall(), Err(StoreError::Damaged { file }) if file == SECOND));
    assert_eq!(log.append(9, &[vec![9]]), Err(StoreError::Poisoned));
}

#[test]
fn an_old_disk_put_back_is_an_old_log() {
    let old = disk();
    let mut disk = old.clone();
    Log::open(&mut disk, SCHEMA, SMALL).unwrap().0.append(9, &[vec![9]]).unwrap();
    assert_eq!(check(old), "2 | 3 4 5 6 7 8 | everything is whole");
    disk.wipe();
    assert_eq!(check(disk), "0 |  | everything is whole");
}

/// Bytes that claim a long record at every offset must not take quadratic time.
#[test]
fn a_tail_made_to_exhaust_the_search_is_damage() {
    let mut disk = disk();
    let claim = [&(4u32 << 20).to_le_bytes()[..], &[0; 4], &10u64.to_le_bytes()].concat();
    disk.append(LAST, &claim.repeat(1 << 19)).unwrap();
    let (_, opened) = Log::open(&mut disk, SCHEMA, LogLimits::default()).unwrap();
    assert_eq!(opened.recovery.dropped[0].reason, DropReason::Damaged);
    assert_eq!(opened.recalled.records.len(), 6);
}

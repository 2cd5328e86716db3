//! [store-08]: other schemas, other formats and other programs' files are told apart, and none of them is
//! touched.

use crate::bench::{SCHEMA, SMALL};
use machine::Rng;
use machine::disk::DiskContents;
use store::{Log, Media, MemoryDisk, StoreError};

const NEWER: u64 = 0xbeef;

fn disk() -> MemoryDisk {
    let (mut log, _) = Log::open(MemoryDisk::new(), SCHEMA, SMALL).unwrap();
    log.append(1, &[b"one".to_vec(), b"two".to_vec()]).unwrap();
    log.keep(1, b"old shape").unwrap();
    log.append(3, &[b"three".to_vec()]).unwrap();
    log.into_media()
}

fn refusal(disk: &mut MemoryDisk, schema: u64) -> StoreError {
    let before: Vec<_> = disk.list().unwrap().iter().map(|name| disk.read(name)).collect();
    let operations = disk.operations();
    let error = Log::open(&mut *disk, schema, SMALL).unwrap_err();
    let after: Vec<_> = disk.list().unwrap().iter().map(|name| disk.read(name)).collect();
    assert_eq!((after, disk.operations()), (before, operations), "a refused disk is left as it was");
    error
}

#[test]
fn another_schema_is_refused_with_advice() {
    let error = refusal(&mut disk(), NEWER);
    assert_eq!(error, StoreError::Schema { found: SCHEMA, expected: NEWER });
    let message = error.to_string();
    assert!(message.contains("`migrate`") && message.contains("`--fresh`"), "{message}");
}

#[test]
fn migration_takes_one_snapshot() {
    let (mut log, opened) = Log::open_to_migrate(disk(), NEWER, SMALL).unwrap();
    assert_eq!(opened.schema, Some(SCHEMA));
    assert_eq!(opened.recalled.records, [b"two".to_vec(), b"three".to_vec()]);
    let refused = Err(StoreError::Schema { found: SCHEMA, expected: NEWER });
    assert_eq!(log.append(4, &[b"four".to_vec()]), refused);
    assert_eq!(log.cut(3), refused);
    assert_eq!(log.keep(2, b"not all of it"), refused);
    assert_eq!(log.keep(3, b"new shape"), Ok(()));
    assert_eq!(log.append(4, &[b"four".to_vec()]), Ok(()));
    let (_, opened) = Log::open(log.into_media(), NEWER, SMALL).unwrap();
    assert_eq!(opened.recalled.snapshot, Some((3, b"new shape".to_vec())));
    assert_eq!(opened.recalled.records, [b"four"]);
}

#[test]
fn migration_may_be_interrupted() {
    let (mut old, mut new) = (0, 0);
    for (operations, seed) in (0..20).flat_map(|operations| (0..10).map(move |seed| (operations, seed))) {
        let mut disk = disk();
        disk.cut_power_after(operations);
        let migrated = Log::open_to_migrate(&mut disk, NEWER, SMALL)
            .is_ok_and(|(mut log, _)| log.keep(3, b"new shape").is_ok());
        disk.crash(&mut Rng::seeded(seed));
        match Log::open(&mut disk, NEWER, SMALL) {
            Ok((_, opened)) => {
                new += 1;
                assert_eq!(opened.recalled.snapshot, Some((3, b"new shape".to_vec())));
            }
            Err(error) => {
                old += 1;
                assert_eq!(error, StoreError::Schema { found: SCHEMA, expected: NEWER });
                assert!(!migrated);
                let (_, opened) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
                assert_eq!(opened.recalled.records.len(), 2);
            }
        }
    }
    assert!(0 < old && 0 < new);
}

#[test]
fn opening_to_migrate_the_same_schema_is_opening() {
    let (mut log, opened) = Log::open_to_migrate(disk(), SCHEMA, SMALL).unwrap();
    assert_eq!(opened.schema, Some(SCHEMA));
    assert_eq!(log.append(4, &[b"four".to_vec()]), Ok(()));
    let (_, opened) = Log::open_to_migrate(MemoryDisk::new(), SCHEMA, SMALL).unwrap();
    assert_eq!(
        (opened.schema, opened.recalled),
        (None, DiskContents { first: 1, ..DiskContents::default() })
    );
}

#[test]
fn mixed_schemas_are_refused_either_way() {
    let mut disk = disk();
    let (mut other, _) = Log::open(MemoryDisk::new(), NEWER, SMALL).unwrap();
    other.append(1, &[b"uno".to_vec(), b"due".to_vec(), b"tre".to_vec()]).unwrap();
    let name = "log-00000000000000000001";
    disk.remove(name).unwrap();
    disk.create(name).unwrap();
    disk.append(name, &other.media().read(name).unwrap()).unwrap();
    assert_eq!(refusal(&mut disk, SCHEMA), StoreError::Schema { found: NEWER, expected: SCHEMA });
    let migrating = Log::open_to_migrate(disk, NEWER, SMALL).unwrap_err();
    assert_eq!(migrating, StoreError::Schema { found: NEWER, expected: SCHEMA });
}

#[test]
fn files_of_other_programs_are_left_alone() {
    for name in ["log-00000000000000000001", "snap-00000000000000000007"] {
        let mut disk = MemoryDisk::holding([(
            name,
            b"A letter to my grandmother, which is longer than a header.".to_vec(),
        )]);
        let error = refusal(&mut disk, SCHEMA);
        assert_eq!(error, StoreError::Foreign { file: name.to_owned() });
    }
    let mut disk = MemoryDisk::holding([("notes.txt", b"remember the milk".to_vec())]);
    let (mut log, _) = Log::open(&mut disk, SCHEMA, SMALL).unwrap();
    log.append(1, &[b"one".to_vec()]).unwrap();
    assert_eq!(disk.read("notes.txt").unwrap(), b"remember the milk");
}

/// Magic, version and checksum keep their places in every format, so that this program can name a later one.
#[test]
fn another_format_is_named() {
    let source = disk();
    for (name, checked) in [("log-00000000000000000001", 28), ("snap-00000000000000000001", 36)] {
        let mut bytes = source.read(name).unwrap();
        bytes[8] = 2;
        let payload = if checked == 36 { &bytes[40..] } else { &[] };
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..checked]), payload);
        bytes[checked..checked + 4].copy_from_slice(&checksum.to_le_bytes());
        let error = refusal(&mut MemoryDisk::holding([(name, bytes)]), SCHEMA);
        assert_eq!(error, StoreError::Version { file: name.to_owned(), found: 2 });
        assert!(error.to_string().contains("has format 2, this program knows format 1"), "{error}");
    }
}

//! [store-07]: old files open in every later version, and the present writer still writes them.
//!
//! `testdata/v1` is never written again. A new format gets a folder of its own beside it.

use crate::bench::SMALL;
use machine::disk::DiskContents;
use store::{Log, Media, MemoryDisk};

const SCHEMA: u64 = 0x0123_4567_89ab_cdef;

const FILES: [(&str, &[u8]); 3] = [
    ("log-00000000000000000001", include_bytes!("../../testdata/v1/log-00000000000000000001")),
    ("log-00000000000000000004", include_bytes!("../../testdata/v1/log-00000000000000000004")),
    ("snap-00000000000000000002", include_bytes!("../../testdata/v1/snap-00000000000000000002")),
];

/// The calls that produced the files.
fn write() -> MemoryDisk {
    let (mut log, _) = Log::open(MemoryDisk::new(), SCHEMA, SMALL).unwrap();
    log.append(1, &[b"the sword lies here".to_vec(), b"ada takes it".to_vec()]).unwrap();
    log.append(3, &[(0..=31).collect()]).unwrap();
    log.append(4, &[b"grace asks for it".to_vec(), Vec::new(), b"ada gives it".to_vec()]).unwrap();
    log.cut(6).unwrap();
    log.append(6, &[b"ada keeps it".to_vec()]).unwrap();
    log.keep(2, b"ada has the sword").unwrap();
    log.into_media()
}

#[test]
fn old_files_open() {
    let disk = MemoryDisk::holding(FILES.map(|(name, bytes)| (name, bytes.to_vec())));
    let (_, opened) = Log::open(disk, SCHEMA, SMALL).unwrap();
    let records = [&(0..=31).collect::<Vec<u8>>()[..], b"grace asks for it", b"", b"ada keeps it"];
    let expected = DiskContents {
        snapshot: Some((2, b"ada has the sword".to_vec())),
        first: 3,
        records: records.map(<[u8]>::to_vec).to_vec(),
    };
    assert_eq!(opened.recalled, expected);
    assert_eq!(opened.schema, Some(SCHEMA));
    assert_eq!(opened.recovery.dropped, []);
}

#[test]
fn the_writer_still_writes_them() {
    let disk = write();
    assert_eq!(disk.list().unwrap(), FILES.map(|(name, _)| name));
    for (name, bytes) in FILES {
        assert_eq!(disk.read(name).unwrap(), bytes, "{name}");
    }
}

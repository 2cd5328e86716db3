//! The faulty disk itself: the bytes that it may lose, and those that it must not.

use machine::Rng;
use store::{Media, MediaError, MemoryDisk};

fn outcomes(prepare: impl Fn(&mut MemoryDisk)) -> Vec<Vec<(String, Vec<u8>)>> {
    let mut outcomes: Vec<_> = (0..400)
        .map(|seed| {
            let mut disk = MemoryDisk::new();
            prepare(&mut disk);
            disk.crash(&mut Rng::seeded(seed));
            let names = disk.list().unwrap().into_iter();
            names.map(|name| (name.clone(), disk.read(&name).unwrap())).collect()
        })
        .collect();
    outcomes.sort();
    outcomes.dedup();
    outcomes
}

#[test]
fn synced_bytes_under_a_synced_name_stay() {
    let outcomes = outcomes(|disk| {
        disk.create("a").unwrap();
        disk.append("a", b"kept").unwrap();
        disk.sync("a").unwrap();
        disk.sync_names().unwrap();
        disk.append("a", b"?").unwrap();
    });
    assert!(outcomes.iter().all(|files| files[0].1.starts_with(b"kept")));
    assert!(outcomes.contains(&vec![("a".into(), b"kept".to_vec())]));
    assert!(outcomes.contains(&vec![("a".into(), b"kept?".to_vec())]));
    assert!(2 < outcomes.len(), "and sometimes it is garbled");
}

#[test]
fn names_change_in_order_or_not_at_all() {
    let outcomes = outcomes(|disk| {
        for name in ["a", "b"] {
            disk.create(name).unwrap();
        }
        disk.rename("b", "a").unwrap();
        disk.remove("a").unwrap();
    });
    let names: Vec<Vec<&str>> =
        outcomes.iter().map(|files| files.iter().map(|(name, _)| name.as_str()).collect()).collect();
    assert_eq!(names, [vec![], vec!["a"], vec!["a", "b"]]);
}

/// After a failed sync the next one succeeds, and still the bytes are not on the disk.
#[test]
fn a_failed_sync_cannot_be_repeated() {
    let outcomes = outcomes(|disk| {
        disk.create("a").unwrap();
        disk.sync_names().unwrap();
        disk.append("a", b"lost").unwrap();
        disk.fail_next_sync(&mut Rng::seeded(3));
        assert!(matches!(disk.sync("a"), Err(MediaError::Failed { .. })));
        disk.append("a", b"kept").unwrap();
        assert_eq!(disk.sync("a"), Ok(()));
        assert_eq!(disk.read("a").unwrap(), b"lostkept");
    });
    assert_eq!(outcomes.len(), 1);
    let bytes = &outcomes[0][0].1;
    assert_eq!(bytes.len(), 8);
    assert_ne!(bytes, b"lostkept");
    assert!(bytes.ends_with(b"kept"));
}

#[test]
fn a_full_disk_takes_what_fits() {
    let mut disk = MemoryDisk::new();
    disk.limit(Some(6));
    disk.create("a").unwrap();
    assert_eq!(disk.append("a", b"1234567"), Err(MediaError::Full));
    assert_eq!(disk.read("a").unwrap(), b"123456");
    disk.remove("a").unwrap();
    disk.create("b").unwrap();
    assert_eq!(disk.append("b", b"123456"), Ok(()));
}

#[test]
fn old_disks_can_be_put_back_and_new_ones_put_in() {
    let mut disk = MemoryDisk::holding([("a", b"old".to_vec())]);
    let old = disk.clone();
    assert!(disk.flip_bit("a", 0) && !disk.flip_bit("a", 24) && !disk.flip_bit("b", 0));
    assert_eq!(disk.read("a").unwrap(), b"nld");
    disk.wipe();
    assert_eq!(disk.list().unwrap(), Vec::<String>::new());
    disk = old;
    disk.crash(&mut Rng::seeded(0));
    assert_eq!(disk.read("a").unwrap(), b"old");
}

/// One seed gives one sequence of faults.
#[test]
fn the_same_calls_and_seed_leave_the_same_bytes() {
    let run = |seed| {
        let mut disk = MemoryDisk::new();
        disk.create("a").unwrap();
        disk.sync_names().unwrap();
        disk.append("a", &[7; 100]).unwrap();
        disk.crash(&mut Rng::seeded(seed));
        disk.read("a").unwrap()
    };
    assert!((0..100).all(|seed| run(seed) == run(seed)));
}

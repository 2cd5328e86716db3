//! Requests that are refused, and counted.

use directory::config::{KEY_MAX, KEYS_MAX, REQUEST_KEYS_MAX, VALUE_MAX};
use directory::{Directory, DirectoryRefusal, DirectorySettings, DurableDirectory, SwapError, refusal_of};
use machine::directory::{DirectoryEntry, DirectoryReply, DirectoryRequest, DirectoryWrite, Key, Revision};
use machine::{Ticket, Time};
use store::MemoryDisk;

fn put(key: impl Into<String>, value: usize) -> DirectoryWrite {
    DirectoryWrite { key: Key(key.into()), expected: Revision(0), value: Some(vec![0; value]) }
}

#[test]
fn limits_hold_to_the_byte() {
    let mut directory = Directory::new(Time::ZERO);
    let many = |count: usize| (0..count).map(|it| put(format!("many/{it}"), 1)).collect::<Vec<_>>();
    let cases = [
        (vec![put("k".repeat(KEY_MAX + 1), 1)], DirectoryRefusal::KeyTooLong(KEY_MAX + 1)),
        (vec![put("k", VALUE_MAX + 1)], DirectoryRefusal::ValueTooLong(VALUE_MAX + 1)),
        (many(REQUEST_KEYS_MAX + 1), DirectoryRefusal::TooManyInRequest(REQUEST_KEYS_MAX + 1)),
        (vec![put("k", 1), put("k", 2)], DirectoryRefusal::Twice(Key("k".into()))),
    ];
    for (writes, refusal) in cases {
        assert_eq!(directory.swap(&writes), Err(SwapError::Refused(refusal)));
    }
    assert_eq!(directory.revision(), Revision(0));
    assert_eq!(directory.swap(&[put("k".repeat(KEY_MAX), VALUE_MAX)]), Ok(Revision(1)));
    assert_eq!(directory.swap(&many(REQUEST_KEYS_MAX)), Ok(Revision(2)));
}

#[test]
fn a_full_directory_takes_only_what_makes_room() {
    let mut directory = Directory::new(Time::ZERO);
    for chunk in 0..KEYS_MAX / REQUEST_KEYS_MAX {
        let writes = (0..REQUEST_KEYS_MAX).map(|it| put(format!("{chunk}/{it}"), 1));
        directory.swap(&writes.collect::<Vec<_>>()).unwrap();
    }
    let refused = directory.swap(&[put("one more", 1)]);
    assert_eq!(refused, Err(SwapError::Refused(DirectoryRefusal::TooManyKeys(KEYS_MAX + 1))));
    let remove = DirectoryWrite { key: Key("0/0".into()), expected: Revision(1), value: None };
    assert!(directory.swap(&[put("one more", 1), remove]).is_ok());
    assert_eq!(directory.entries().count(), KEYS_MAX);
}

/// A directory full to its limits still fits into a snapshot.
#[test]
fn the_largest_swaps_are_kept() {
    let settings = DirectorySettings { snapshot_every: 2, ..DirectorySettings::default() };
    let mut directory = DurableDirectory::open(MemoryDisk::new(), Time::ZERO, settings).unwrap();
    for chunk in 0..3 {
        let key = |it: usize| format!("{chunk}/{it:0width$}", width = KEY_MAX - 2);
        let writes = (0..REQUEST_KEYS_MAX).map(|it| put(key(it), VALUE_MAX)).collect();
        let answer = directory.serve(Time::ZERO, DirectoryRequest::Swap { ticket: Ticket(chunk), writes });
        assert!(matches!(answer, DirectoryReply::Won { .. }));
    }
    let directory = DurableDirectory::open(directory.into_media(), Time::ZERO, settings).unwrap();
    assert_eq!(directory.directory().entries().count(), 3 * REQUEST_KEYS_MAX);
}

/// A refused swap never happens, which is what `Lost` says; a refused read gives no information.
#[test]
fn refusals_are_answered_and_counted() {
    let mut directory =
        DurableDirectory::open(MemoryDisk::new(), Time::ZERO, DirectorySettings::default()).unwrap();
    let writes = vec![put("k", VALUE_MAX + 1)];
    let nothing = DirectoryEntry { key: Key("k".into()), revision: Revision(0), value: vec![] };
    let answer = directory.serve(Time::ZERO, DirectoryRequest::Swap { ticket: Ticket(1), writes });
    assert_eq!(answer, DirectoryReply::Lost { ticket: Ticket(1), entries: vec![nothing] });
    let keys = vec![Key("k".into()); REQUEST_KEYS_MAX + 1];
    let answer = directory.serve(Time::ZERO, DirectoryRequest::Read { ticket: Ticket(2), keys });
    assert_eq!(answer, DirectoryReply::Unknown { ticket: Ticket(2) });
    let last = DirectoryRefusal::TooManyInRequest(REQUEST_KEYS_MAX + 1);
    assert_eq!(directory.directory().refusals(), (2, Some(&last)));
    assert_eq!(directory.failure(), None);
}

#[test]
fn a_swap_of_nothing_changes_nothing() {
    let mut directory = Directory::new(Time::ZERO);
    assert_eq!(directory.swap(&[]), Ok(Revision(0)));
    assert_eq!(directory.swap(&[put("k", 0)]), Ok(Revision(1)));
    assert_eq!(directory.swap(&[]), Ok(Revision(1)));
}

/// `Lost` stands for both, so the caller tells them apart by the revisions.
#[test]
fn a_refusal_is_told_from_a_lost_race() {
    let mut directory = Directory::new(Time::ZERO);
    let mut refusal = |writes: Vec<DirectoryWrite>| {
        let request = DirectoryRequest::Swap { ticket: Ticket(1), writes: writes.clone() };
        refusal_of(&writes, &directory.serve(Time::ZERO, request))
    };
    assert_eq!(refusal(vec![put("k", 1)]), None, "it happens");
    assert_eq!(refusal(vec![put("k", 1)]), None, "it loses a race");
    assert_eq!(refusal(vec![put("new", 1), put("k", 1)]), None, "one key of two loses a race");
    let too_long = Some(DirectoryRefusal::ValueTooLong(VALUE_MAX + 1));
    assert_eq!(refusal(vec![put("new", VALUE_MAX + 1)]), too_long);
    assert_eq!(refusal(vec![put("k", VALUE_MAX + 1)]), too_long, "whatever the revision");
    for chunk in 0..KEYS_MAX / REQUEST_KEYS_MAX - 1 {
        assert_eq!(refusal((0..REQUEST_KEYS_MAX).map(|it| put(format!("{chunk}/{it}"), 1)).collect()), None);
    }
    assert_eq!(refusal((1..REQUEST_KEYS_MAX).map(|it| put(format!("{it}"), 1)).collect()), None);
    assert_eq!(refusal(vec![put("one more", 1)]), Some(DirectoryRefusal::Unstated));
    let unknown = DirectoryReply::Unknown { ticket: Ticket(1) };
    assert_eq!(refusal_of(&[put("k", 1)], &unknown), None);
    assert_eq!(refusal_of(&[put("k", VALUE_MAX + 1)], &unknown), too_long);
}

//! [directory-03]: the world's time never goes back, and runs as fast as the caller's clock.

use crate::bench::SMALL;
use directory::config::CLOCK_RESERVE;
use directory::{Directory, DurableDirectory};
use machine::directory::{DirectoryReply, DirectoryRequest};
use machine::{Span, Ticket, Time};
use store::{Media, MemoryDisk};

fn time<M: Media>(directory: &mut DurableDirectory<M>, now: Time) -> Time {
    match directory.serve(now, DirectoryRequest::Clock { ticket: Ticket(1) }) {
        DirectoryReply::Clock { time, .. } => time,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_world_starts_at_zero_and_goes_on_after_a_restart() {
    let boot = Time::from_millis(123_456);
    let mut directory = DurableDirectory::open(MemoryDisk::new(), boot, SMALL).unwrap();
    assert_eq!(time(&mut directory, boot), Time::ZERO);
    assert_eq!(time(&mut directory, boot + Span::from_millis(250)), Time::from_millis(250));
    assert_eq!(time(&mut directory, boot), Time::from_millis(250), "a caller's clock that goes back");

    // Another boot: the caller's clock starts again.
    let mut directory = DurableDirectory::open(directory.into_media(), Time::ZERO, SMALL).unwrap();
    let resumed = time(&mut directory, Time::ZERO);
    assert!(Time::from_millis(250) <= resumed);
    assert!(resumed <= Time::from_millis(250) + CLOCK_RESERVE);
    assert_eq!(time(&mut directory, Time::from_millis(10)), resumed + Span::from_millis(10));
}

/// The clock costs one record per second, however often it is read.
#[test]
fn reading_the_clock_is_cheap() {
    let mut directory = DurableDirectory::open(MemoryDisk::new(), Time::ZERO, SMALL).unwrap();
    for millis in 0..5_000 {
        time(&mut directory, Time::from_millis(millis));
    }
    // Opening takes two syncs, a mark one append and one sync, every fifth change a snapshot.
    let operations = directory.media_mut().operations();
    assert!(operations < 30, "{operations} changes and syncs of the disk");
}

#[test]
fn the_end_of_time_does_not_wrap() {
    let mut directory = DurableDirectory::open(MemoryDisk::new(), Time::ZERO, SMALL).unwrap();
    assert_eq!(time(&mut directory, Time::MAX), Time::MAX);
    let mut directory = DurableDirectory::open(directory.into_media(), Time::ZERO, SMALL).unwrap();
    assert_eq!(time(&mut directory, Time::from_millis(1)), Time::MAX);
}

#[test]
fn the_pure_directory_keeps_time_too() {
    let mut directory = Directory::new(Time::from_millis(70));
    assert_eq!(directory.time(Time::from_millis(75)), Time::from_millis(5));
    assert_eq!(directory.time(Time::ZERO), Time::from_millis(5));
}

//! The limits of log-in, and that they stay small.

use lobby::config::{ACCOUNT_RATE, BUCKETS_MAX};
use lobby::{Attempts, Buckets, Name, Rate, TooOften};
use machine::{Span, Time};
use proptest::prelude::*;
use std::net::IpAddr;

const RATE: Rate = Rate { burst: 3, every: Span::from_secs(2) };

fn at(secs: u64) -> Time {
    Time::from_millis(1_000 * secs)
}

#[test]
fn a_burst_then_a_steady_pace() {
    let mut buckets = Buckets::new(RATE);
    let mut take = |secs| buckets.take(at(secs), &"ada").is_ok();
    assert_eq!(
        [0, 0, 0, 0, 1, 2, 2, 3, 4, 4].map(&mut take),
        [true, true, true, false, false, true, false, false, true, false]
    );
    assert_eq!([100, 100, 100, 100].map(take), [true, true, true, false]);
}

#[test]
fn the_wait_is_told() {
    let mut buckets = Buckets::new(RATE);
    (0..3).for_each(|_| buckets.take(at(10), &1).unwrap());
    let refused = buckets.take(Time::from_millis(10_500), &1).unwrap_err();
    assert_eq!(refused, TooOften(Span::from_millis(1_500)));
    assert_eq!(refused.to_string(), "too many attempts: try again in 2 s");
    assert!(buckets.take(at(12), &1).is_ok());
    assert!(buckets.take(at(12), &2).is_ok(), "others are not concerned");
}

#[test]
fn full_buckets_take_no_memory() {
    let mut buckets = Buckets::new(RATE);
    (0..100).for_each(|key| buckets.take(at(0), &key).unwrap());
    assert_eq!(buckets.len(), 100);
    buckets.take(at(2), &7).unwrap();
    assert_eq!(buckets.len(), 1);
}

/// Whoever tried too often is not forgotten because many others came.
#[test]
fn a_flood_of_keys_frees_nobody() {
    let mut buckets = Buckets::new(RATE);
    (0..3).for_each(|_| buckets.take(at(0), &0).unwrap());
    for key in 1..3 * BUCKETS_MAX {
        buckets.take(at(0), &key).unwrap();
        assert!(buckets.len() <= BUCKETS_MAX);
    }
    assert!(buckets.take(at(0), &0).is_err());
}

#[test]
fn one_network_is_one_address() {
    let mut attempts = Attempts::new(RATE, RATE);
    let mut tried = |text: &str| attempts.from_address(at(0), text.parse::<IpAddr>().unwrap()).is_ok();
    let many = ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::", "2001:db8::3", "2001:db8:0:1::1"];
    assert_eq!(many.map(&mut tried), [true, true, true, false, true]);
    let v4 = ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"];
    assert_eq!(v4.map(tried), [true, true, true, false, true]);
}

#[test]
fn one_account_is_one_whatever_the_case() {
    let mut attempts = Attempts::default();
    let key = |text: &str| Name::parse(text).unwrap().key();
    (0..ACCOUNT_RATE.burst).for_each(|_| attempts.for_account(at(0), &key("Ada")).unwrap());
    assert!(attempts.for_account(at(0), &key("ADA")).is_err());
    assert!(attempts.for_account(at(6), &key("ada")).is_ok());
}

proptest! {
    /// In no window is more allowed than the burst and what time brings.
    #[test]
    fn never_more_than_the_rate(waits in prop::collection::vec(0..5_000u64, 1..80)) {
        let (mut buckets, mut millis, mut taken) = (Buckets::new(RATE), 0, Vec::new());
        for wait in waits {
            millis += wait;
            if buckets.take(Time::from_millis(millis), &()).is_ok() {
                taken.push(millis);
            }
        }
        for first in 0..taken.len() {
            for last in first..taken.len() {
                prop_assert!((last - first + 1) as u64 <= 3 + (taken[last] - taken[first]) / 2_000);
            }
        }
    }
}

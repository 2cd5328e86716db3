//! The limits of log-in, and the bound on their memory.

use lobby::config::{ACCOUNT_RATE, RATE_LIMIT_KEYS_MAX};
use lobby::{LoginLimits, PlayerName, Rate, RateLimits, TooOften};
use machine::{Span, Time};
use proptest::prelude::*;
use std::net::IpAddr;

const RATE: Rate = Rate { burst: 3, every: Span::from_secs(2) };

fn at(secs: u64) -> Time {
    Time::from_millis(1_000 * secs)
}

#[test]
fn a_burst_then_a_steady_pace() {
    let mut limits = RateLimits::new(RATE);
    let mut take = |secs| limits.take(at(secs), &"ada").is_ok();
    assert_eq!(
        [0, 0, 0, 0, 1, 2, 2, 3, 4, 4].map(&mut take),
        [true, true, true, false, false, true, false, false, true, false]
    );
    assert_eq!([100, 100, 100, 100].map(take), [true, true, true, false]);
}

#[test]
fn a_refusal_tells_the_wait() {
    let mut limits = RateLimits::new(RATE);
    (0..3).for_each(|_| limits.take(at(10), &1).unwrap());
    let refused = limits.take(Time::from_millis(10_500), &1).unwrap_err();
    assert_eq!(refused, TooOften(Span::from_millis(1_500)));
    assert_eq!(refused.to_string(), "too many attempts: try again in 2 s");
    assert!(limits.take(at(12), &1).is_ok());
    assert!(limits.take(at(12), &2).is_ok(), "other keys are not affected");
}

#[test]
fn full_buckets_take_no_memory() {
    let mut limits = RateLimits::new(RATE);
    (0..100).for_each(|key| limits.take(at(0), &key).unwrap());
    assert_eq!(limits.len(), 100);
    limits.take(at(2), &7).unwrap();
    assert_eq!(limits.len(), 1);
}

/// A key that tried too often is not forgotten because many others came.
#[test]
fn a_flood_of_keys_resets_no_limit() {
    let mut limits = RateLimits::new(RATE);
    (0..3).for_each(|_| limits.take(at(0), &0).unwrap());
    for key in 1..3 * RATE_LIMIT_KEYS_MAX {
        limits.take(at(0), &key).unwrap();
        assert!(limits.len() <= RATE_LIMIT_KEYS_MAX);
    }
    assert!(limits.take(at(0), &0).is_err());
}

#[test]
fn one_home_is_one_address() {
    let mut login_limits = LoginLimits::new(RATE, RATE);
    let mut tried = |text: &str| login_limits.from_address(at(0), text.parse::<IpAddr>().unwrap()).is_ok();
    let many = ["2001:db8::1", "2001:db8:0:1::2", "2001:db8:0:ff:ffff::", "2001:db8::3", "2001:db8:0:100::1"];
    assert_eq!(many.map(&mut tried), [true, true, true, false, true]);
    let v4 = ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"];
    assert_eq!(v4.map(tried), [true, true, true, false, true]);
}

#[test]
fn account_limits_ignore_the_case_of_the_name() {
    let mut login_limits = LoginLimits::default();
    let key = |text: &str| PlayerName::parse(text).unwrap().key();
    (0..ACCOUNT_RATE.burst).for_each(|_| login_limits.for_account(at(0), &key("Ada")).unwrap());
    assert!(login_limits.for_account(at(0), &key("ADA")).is_err());
    assert!(login_limits.for_account(at(6), &key("ada")).is_ok());
}

proptest! {
    /// In no interval are more attempts allowed than the burst and the rate.
    #[test]
    fn never_more_than_the_rate(waits in prop::collection::vec(0..5_000u64, 1..80)) {
        let (mut limits, mut millis, mut taken) = (RateLimits::new(RATE), 0, Vec::new());
        for wait in waits {
            millis += wait;
            if limits.take(Time::from_millis(millis), &()).is_ok() {
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

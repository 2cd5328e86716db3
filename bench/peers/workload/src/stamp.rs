//! Points in time that processes of one computer can compare.

use nix::time::{ClockId, clock_gettime};

/// A point in time, in tenths of a millisecond of `CLOCK_MONOTONIC`; it wraps around after five days. 0 is never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(pub u32);

impl Stamp {
    /// The present.
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has this clock");
        Self((time.tv_sec() * 10_000 + time.tv_nsec() / 100_000) as u32)
    }

    /// Tenths of a millisecond since `earlier`.
    pub fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// True if this is later than `other`, or `other` is never.
    pub fn is_after(self, other: Self) -> bool {
        other.0 == 0 || (1..=i32::MAX as u32).contains(&self.since(other))
    }
}

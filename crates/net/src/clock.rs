//! The machine's time: the system's monotonic clock, which all processes of one computer share.

use machine::Time;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Microseconds since the system started, as a machine's time.
pub fn now() -> Time {
    let it = clock_gettime(ClockId::Monotonic);
    Time::from_micros(it.tv_sec as u64 * 1_000_000 + it.tv_nsec as u64 / 1_000)
}

/// The duration from `now` until `then`; zero if `then` is past.
pub fn until(now: Time, then: Time) -> Duration {
    if then <= now { Duration::ZERO } else { Duration::from_micros(then.since(now).as_micros()) }
}

//! The quarantine of a replica that fails: how long it rests before it is started again, and when its failures are forgotten.

use std::time::Duration;

/// Pause before a replica that failed for the first time is started again.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The most doublings of that pause: four minutes. A zone whose disk was full is back soon after there is room.
const DOUBLINGS_MAX: u32 = 9;

/// Time without a failure after which the count begins anew: one now and then over months is no broken replica.
pub const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

/// The failures of one replica in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quarantine {
    failures: u32,
}

impl Quarantine {
    /// A replica that has failed so often in earlier lives of its host.
    pub const fn after(failures: u32) -> Self {
        Self { failures }
    }

    /// The replica failed. Returns the pause before it is started again.
    pub const fn fail(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        pause(self.failures)
    }

    /// The pause that a host begins with if the replica failed in earlier lives; the first time there is none.
    pub fn pause_at_start(self) -> Option<Duration> {
        self.failures.checked_sub(1).filter(|it| 0 < *it).map(pause)
    }

    /// Number of failures in a row.
    pub const fn failures(self) -> u32 {
        self.failures
    }

    /// The replica has worked for long enough: its failures are forgotten.
    pub const fn forget(&mut self) {
        self.failures = 0;
    }
}

const fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1);
    let doublings = if doublings < DOUBLINGS_MAX { doublings } else { DOUBLINGS_MAX };
    FIRST_PAUSE.saturating_mul(1 << doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_pause_up_to_minutes() {
        let mut it = Quarantine::default();
        let millis: Vec<_> = (0..4).map(|_| it.fail().as_millis()).collect();
        assert_eq!(millis, [500, 1_000, 2_000, 4_000]);
        for _ in 0..100 {
            it.fail();
        }
        assert_eq!(it.fail().as_secs(), 256);
        it.forget();
        assert_eq!(it.fail(), FIRST_PAUSE);
    }

    #[test]
    fn a_host_that_was_restarted_for_a_zone_waits_from_the_second_time_on() {
        let at_start = |failures| Quarantine::after(failures).pause_at_start();
        assert_eq!((at_start(0), at_start(1)), (None, None));
        assert_eq!(at_start(2), Some(FIRST_PAUSE));
        assert_eq!(Quarantine::after(2).fail(), FIRST_PAUSE * 4);
    }
}

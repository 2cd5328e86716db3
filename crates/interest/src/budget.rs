//! Who goes first when a crowd has more to say than a line can carry.

use crate::Schedule;
use machine::{Span, Time};

/// How many bytes of updates one observer may get.
///
/// A bucket that fills with time: unused bytes are saved up to `burst`, which should hold what flows in
/// during a tick at least, or the line is never used in full. An update leaves while the
/// bucket is not empty, even if it is larger than what is left (the debt is paid back before the next),
/// so nothing is too large to ever be sent.
///
/// When not everything that is due fits, the longest wait times relevance goes first. A waiting update
/// only grows more urgent, and a sent one starts from zero: whoever is relevant gets a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What flows in.
    pub bytes_per_second: u32,
    /// What can be saved up.
    pub burst: u32,
}

impl Budget {
    /// The bucket's size in millionths of a byte; at least one byte, or nothing could ever leave.
    fn capacity(self) -> i64 {
        i64::from(self.burst.max(1)) * MICROBYTES
    }
}

/// One observer's bucket, in millionths of a byte, so that it fills exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    level: i64,
    filled: Time,
}

const MICROBYTES: i64 = 1_000_000;

impl Bucket {
    pub(crate) fn full(budget: Budget) -> Self {
        Self { level: budget.capacity(), filled: Time::ZERO }
    }

    /// What was saved under another budget stays, as far as the new one holds it; so do debts.
    pub(crate) fn fit(&mut self, budget: Budget) {
        self.level = self.level.min(budget.capacity());
    }

    /// Lets in what has flowed since the last time.
    pub(crate) fn fill(&mut self, budget: Budget, now: Time) {
        let inflow = i128::from(now.since(self.filled).as_micros()) * i128::from(budget.bytes_per_second);
        let level = (i128::from(self.level) + inflow).min(i128::from(budget.capacity()));
        *self = Self { level: level as i64, filled: now };
    }

    /// How many updates of these sizes may leave at most, whichever go first; `None` if something is left after all of
    /// them, so that it does not matter.
    pub(crate) fn fitting_at_most(&self, sizes: impl Iterator<Item = u32>) -> Option<usize> {
        let (mut sum, mut least) = (0, u32::MAX);
        for bytes in sizes {
            (sum, least) = (sum + u64::from(bytes), least.min(bytes));
        }
        let level = self.level.max(0) as u64;
        if u128::from(sum) * u128::from(MICROBYTES.unsigned_abs()) < u128::from(level) {
            return None;
        }
        // Rounded up: the last one may leave on credit.
        let most = level.div_ceil((u64::from(least) * MICROBYTES.unsigned_abs()).max(1));
        Some(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Whether something may leave; if so, its bytes are gone.
    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        let open = 0 < self.level;
        if open {
            self.level -= i64::from(bytes) * MICROBYTES;
        }
        open
    }
}

/// How much an update wants to leave: the time it has waited, times its relevance.
///
/// A subject that the observer does not know of waits as if it had been due for [`NEWCOMER_LEAD`]
/// intervals already: somebody invisible is worse than somebody a little late. Not more, or a player who
/// turns round in a crowd would hear of a hundred newcomers far away before the one beside them again.
pub(crate) fn urgency(schedule: &Schedule, waited: Span, relevance: f32, heard: bool) -> f32 {
    let lead = if heard { Span::ZERO } else { schedule.normal.times(NEWCOMER_LEAD) };
    (waited + lead).as_micros() as f32 * relevance
}

const NEWCOMER_LEAD: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_to_its_burst_and_pays_its_debts() {
        let budget = Budget { bytes_per_second: 1_000, burst: 100 };
        let mut bucket = Bucket::full(budget);
        assert!(bucket.take(90) && bucket.take(60), "the last one may be larger than what is left");
        assert!(!bucket.take(1));
        bucket.fill(budget, Time::from_millis(50)); // 50 bytes flowed in, 50 were owed
        assert!(!bucket.take(1));
        bucket.fill(budget, Time::from_millis(51));
        assert!(bucket.take(1) && !bucket.take(1));
        bucket.fill(budget, Time::MAX);
        assert!(bucket.take(100) && !bucket.take(1), "no more than the burst is saved up");
    }

    #[test]
    fn a_bucket_knows_how_many_fit() {
        let budget = Budget { bytes_per_second: 1, burst: 100 };
        let mut bucket = Bucket::full(budget);
        let fitting = |bucket: &Bucket, sizes: &[u32]| bucket.fitting_at_most(sizes.iter().copied());
        assert_eq!(fitting(&bucket, &[60, 39]), None);
        assert!(2 <= fitting(&bucket, &[100, 0]).unwrap(), "the second leaves only if it goes first");
        assert_eq!(fitting(&bucket, &[60, 30, 30]), Some(4));
        assert!(0 < fitting(&bucket, &[0, 200]).unwrap());
        assert!(bucket.take(100));
        assert_eq!(fitting(&bucket, &[1]), Some(0));
    }
}

//! The budget of an observer, and which updates go first when not all of them fit it.

use crate::UpdateSchedule;
use machine::{Span, Time};

/// The bytes of updates that one observer may get.
///
/// A bucket that fills with time: unused bytes are saved up to `burst`, which should hold at least the inflow
/// of one tick, or the budget is never used in full. An update leaves while the
/// bucket is not empty, even if it is larger than the rest (the debt is paid back before the next),
/// so no update is too large to ever be sent.
///
/// When not everything that is due fits, the longest wait times relevance goes first. A waiting update
/// only grows more urgent, and a sent one starts from zero: every relevant subject gets a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Inflow of the bucket in bytes per second.
    pub bytes_per_second: u32,
    /// Most bytes that the bucket can hold.
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
pub(crate) struct BudgetBucket {
    level: i64,
    filled: Time,
}

const MICROBYTES: i64 = 1_000_000;

impl BudgetBucket {
    pub(crate) fn full(budget: Budget) -> Self {
        Self { level: budget.capacity(), filled: Time::ZERO }
    }

    /// Changes to another budget. Saved bytes stay, as far as the new bucket holds them; so do debts.
    pub(crate) fn fit(&mut self, budget: Budget) {
        self.level = self.level.min(budget.capacity());
    }

    /// Adds the inflow since the last call.
    pub(crate) fn fill(&mut self, budget: Budget, now: Time) {
        // Wide, because a long silence times a large budget does not fit 64 bits.
        let inflow = i128::from(now.since(self.filled).as_micros()) * i128::from(budget.bytes_per_second);
        let level = (i128::from(self.level) + inflow).min(i128::from(budget.capacity()));
        *self = Self { level: level as i64, filled: now };
    }

    /// The most updates of these sizes that may leave, whichever go first; `None` if the bucket holds more than all of
    /// them, so that their order does not matter.
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

    /// Takes the bytes of an update; false if it may not leave now.
    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        let open = 0 < self.level;
        if open {
            self.level -= i64::from(bytes) * MICROBYTES;
        }
        open
    }
}

/// The urgency of an update: the time it has waited, times its relevance.
///
/// A subject that the observer does not know of waits as if it had been due for [`NEWCOMER_LEAD`]
/// intervals already: an invisible subject is worse than one that is a little late. Not more, or a player who
/// turns round in a crowd would get a hundred newcomers far away before the next update of the avatar beside them.
pub(crate) fn urgency(schedule: &UpdateSchedule, waited: Span, relevance: f32, told: bool) -> f32 {
    let lead = if told { Span::ZERO } else { schedule.normal.times(NEWCOMER_LEAD) };
    (waited + lead).as_micros() as f32 * relevance
}

const NEWCOMER_LEAD: u64 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_to_its_burst_and_pays_its_debts() {
        let budget = Budget { bytes_per_second: 1_000, burst: 100 };
        let mut bucket = BudgetBucket::full(budget);
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
        let mut bucket = BudgetBucket::full(budget);
        let fitting = |bucket: &BudgetBucket, sizes: &[u32]| bucket.fitting_at_most(sizes.iter().copied());
        assert_eq!(fitting(&bucket, &[60, 39]), None);
        assert!(2 <= fitting(&bucket, &[100, 0]).unwrap(), "the second leaves only if it goes first");
        assert_eq!(fitting(&bucket, &[60, 30, 30]), Some(4));
        assert!(0 < fitting(&bucket, &[0, 200]).unwrap());
        assert!(bucket.take(100));
        assert_eq!(fitting(&bucket, &[1]), Some(0));
    }
}

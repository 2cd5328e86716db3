//! The world's clock: the caller's monotonic clock plus an offset.
//!
//! It never goes back, also not after a restart, without storing each answer: a mark ahead of it is
//! made durable, and no answer passes the mark. A restarted clock goes on from the mark. While the
//! directory is down the world's time stands still; hosts run free meanwhile.

use crate::config::CLOCK_RESERVE;
use machine::Time;

/// The world's clock, as the directory keeps it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectoryClock {
    /// No answer may pass this. Durable.
    mark: Time,
    /// The caller's time when this clock was started.
    started: Time,
    /// The world's time when this clock was started.
    from: Time,
    /// The highest answer so far.
    last: Time,
}

impl DirectoryClock {
    /// Starts the clock, at the mark.
    pub fn resume(&mut self, now: Time) {
        *self = Self { mark: self.mark, started: now, from: self.mark, last: self.mark };
    }

    /// The world's time. A caller whose clock goes back gets the last answer again.
    pub fn time(&mut self, now: Time) -> Time {
        self.last = self.last.max(self.from + now.since(self.started));
        self.last
    }

    /// The mark that must be durable before `time` may be answered, if the present one is too low.
    pub fn mark_for(&self, time: Time) -> Option<Time> {
        // Why ahead of `time`: one durable mark then serves all answers of the next second.
        (self.mark < time).then_some(time + CLOCK_RESERVE)
    }

    /// Raises the mark: it is durable from now on.
    pub fn reserve(&mut self, mark: Time) {
        self.mark = self.mark.max(mark);
    }

    /// The durable mark, which no answer so far passes.
    pub fn mark(&self) -> Time {
        self.mark
    }
}

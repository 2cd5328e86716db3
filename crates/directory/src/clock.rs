//! The world's clock: the caller's monotonic one, plus where it stood.
//!
//! It never goes back, also not after a restart, without writing each answer down: a mark ahead of it is
//! made durable, and no answer passes the mark. A restarted clock goes on from the mark. While the
//! directory is down the world's time stands still; hosts run free meanwhile.

use crate::config::CLOCK_RESERVE;
use machine::Time;

/// The world's clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// No answer may pass this. Durable.
    mark: Time,
    /// What the caller's clock showed when this one was started.
    started: Time,
    /// What this one showed then.
    from: Time,
    /// The last answer.
    last: Time,
}

impl Clock {
    /// Starts the clock, at the mark.
    pub fn resume(&mut self, now: Time) {
        *self = Self { mark: self.mark, started: now, from: self.mark, last: self.mark };
    }

    /// What time it is. A caller whose clock goes back gets the last answer again.
    pub fn time(&mut self, now: Time) -> Time {
        self.last = self.last.max(self.from + now.since(self.started));
        self.last
    }

    /// The mark that must be durable before `time` may be answered, if it is not.
    pub fn mark_for(&self, time: Time) -> Option<Time> {
        (self.mark < time).then_some(time + CLOCK_RESERVE)
    }

    /// Answers up to `mark` are safe from now on.
    pub fn reserve(&mut self, mark: Time) {
        self.mark = self.mark.max(mark);
    }

    /// No answer so far passes this.
    pub fn mark(&self) -> Time {
        self.mark
    }
}

//! Named timers: one slot per purpose, so that a machine's deadline is a plain minimum.

use crate::Time;

/// The purposes a machine wakes for, usually a small enum.
///
/// ```
/// use machine::{Time, TimerName, Timers};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Purpose { Beacon, Retry }
/// impl TimerName for Purpose {
///     const ALL: &'static [Self] = &[Self::Beacon, Self::Retry];
///     fn slot(self) -> usize { self as usize }
/// }
///
/// let mut timers = Timers::new();
/// timers.set(Purpose::Retry, Time::from_millis(20));
/// timers.set(Purpose::Beacon, Time::from_millis(50));
/// assert_eq!(timers.deadline(), Some(Time::from_millis(20)));
/// assert_eq!(timers.take_due(Time::from_millis(20)), Some(Purpose::Retry));
/// assert_eq!(timers.take_due(Time::from_millis(20)), None);
/// ```
pub trait TimerName: Copy + 'static {
    /// Every purpose; the order breaks ties between timers that fall due together.
    const ALL: &'static [Self];
    /// This purpose's place in [`TimerName::ALL`].
    fn slot(self) -> usize;
}

/// A set of timers: at most one pending instant per purpose.
#[derive(Clone, Debug)]
pub struct Timers<T> {
    at: Vec<Option<Time>>,
    purposes: std::marker::PhantomData<T>,
}

impl<T: TimerName> Default for Timers<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: TimerName> Timers<T> {
    /// A set in which no timer is set.
    // Why checked here: a wrong slot would silently move another purpose's timer.
    pub fn new() -> Self {
        for (slot, &purpose) in T::ALL.iter().enumerate() {
            assert_eq!(purpose.slot(), slot, "TimerName::slot must be the place in TimerName::ALL");
        }
        Self { at: vec![None; T::ALL.len()], purposes: std::marker::PhantomData }
    }

    /// Sets, or moves, the timer for `purpose`.
    pub fn set(&mut self, purpose: T, at: Time) {
        self.at[purpose.slot()] = Some(at);
    }

    /// Clears the timer for `purpose`.
    pub fn stop(&mut self, purpose: T) {
        self.at[purpose.slot()] = None;
    }

    /// The time at which the timer for `purpose` falls due, if it is set.
    pub fn at(&self, purpose: T) -> Option<Time> {
        self.at[purpose.slot()]
    }

    /// The earliest pending instant of all purposes.
    pub fn deadline(&self) -> Option<Time> {
        self.at.iter().flatten().min().copied()
    }

    /// Takes the earliest timer that is due. With nothing due it takes nothing, so drivers may wake a
    /// machine early or twice.
    pub fn take_due(&mut self, now: Time) -> Option<T> {
        let earliest = |&purpose: &T| self.at[purpose.slot()].filter(|&at| at <= now);
        // `min_by_key` takes the first of equals, so the order of `ALL` breaks ties.
        let due = T::ALL.iter().copied().filter(|it| earliest(it).is_some()).min_by_key(earliest)?;
        self.stop(due);
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum TestTimer {
        Early,
        Late,
        Never,
    }

    impl TimerName for TestTimer {
        const ALL: &'static [Self] = &[Self::Early, Self::Late, Self::Never];
        fn slot(self) -> usize {
            self as usize
        }
    }

    #[test]
    fn timers_fall_due_in_time_order_and_once() {
        let mut timers = Timers::new();
        timers.set(TestTimer::Late, Time::from_millis(10));
        timers.set(TestTimer::Early, Time::from_millis(20));
        assert_eq!(timers.take_due(Time::from_millis(9)), None);
        assert_eq!(timers.take_due(Time::from_millis(30)), Some(TestTimer::Late));
        assert_eq!(timers.take_due(Time::from_millis(30)), Some(TestTimer::Early));
        assert_eq!(timers.take_due(Time::from_millis(30)), None);
        assert_eq!(timers.deadline(), None);
    }

    #[test]
    fn a_moved_timer_forgets_its_old_time() {
        let mut timers = Timers::new();
        timers.set(TestTimer::Never, Time::from_millis(1));
        timers.set(TestTimer::Never, Time::from_millis(5));
        assert_eq!(timers.take_due(Time::from_millis(4)), None);
        timers.stop(TestTimer::Never);
        assert_eq!(timers.take_due(Time::from_millis(5)), None);
    }
}

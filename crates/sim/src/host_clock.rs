//! A host's own clock: it may run fast or slow and jump ahead, but never back.

use crate::config::TRUE_CLOCK_RATE;
use machine::{Span, Time};

/// The clock of one host. Whole numbers only, so that it shows the same on every platform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostClock {
    /// The true time of the last change of rate or step; `shown` is what the clock showed then.
    since: Time,
    shown: Time,
    /// Rate in millionths of the true rate; never 0.
    rate: u32,
}

impl HostClock {
    /// A clock that shows the true time.
    pub(crate) const TRUE: Self = Self { since: Time::ZERO, shown: Time::ZERO, rate: TRUE_CLOCK_RATE };

    /// The time that the clock shows at `now`, which is not before its last change.
    #[cold] // Few hosts have a clock of their own, and others must not pay for the division.
    pub(crate) fn read(&self, now: Time) -> Time {
        let passed = scale(now.since(self.since), self.rate, TRUE_CLOCK_RATE, Round::Down);
        self.shown + passed
    }

    /// The first true time at which the clock shows `shown` or later; [`Time::MAX`] if that never comes.
    ///
    /// Rounded up: a machine that is woken for its deadline must see that it has come, or it would be woken
    /// again and again.
    #[cold]
    pub(crate) fn when(&self, shown: Time) -> Time {
        // A deadline at the end of time never comes, however fast the clock runs.
        if shown == Time::MAX {
            return Time::MAX;
        }
        self.since + scale(shown.since(self.shown), TRUE_CLOCK_RATE, self.rate, Round::Up)
    }

    /// Sets the rate from `now` on, without a jump.
    pub(crate) fn set_rate(&mut self, now: Time, rate: u32) {
        assert!(0 < rate, "a clock that stands never comes to a deadline: give it a rate");
        // Starts from what the clock shows now, so that a new rate makes no jump.
        *self = Self { since: now, shown: self.read(now), rate };
    }

    /// Lets the clock jump ahead by `by`.
    pub(crate) fn step(&mut self, now: Time, by: Span) {
        *self = Self { since: now, shown: self.read(now) + by, rate: self.rate };
    }
}

#[derive(Clone, Copy)]
enum Round {
    Down,
    Up,
}

/// `span · times / parts`, saturating.
fn scale(span: Span, times: u32, parts: u32, round: Round) -> Span {
    let (product, parts) = (u128::from(span.as_micros()) * u128::from(times), u128::from(parts));
    let scaled = match round {
        Round::Down => product / parts,
        Round::Up => product.div_ceil(parts),
    };
    Span::from_micros(u64::try_from(scaled).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn touched(touches: &[(u64, u32, u64)]) -> (HostClock, Time) {
        let (mut clock, mut now) = (HostClock::TRUE, Time::ZERO);
        for &(later, rate, step) in touches {
            now += Span::from_micros(later);
            clock.set_rate(now, rate);
            clock.step(now, Span::from_micros(step));
        }
        (clock, now)
    }

    fn touches() -> impl Strategy<Value = Vec<(u64, u32, u64)>> {
        proptest::collection::vec((0u64..10_000_000, 250_000u32..=4_000_000, 0u64..1_000), 0..5)
    }

    proptest! {
        #[test]
        fn a_deadline_is_met_at_the_first_moment_that_shows_it(
            touches in touches(),
            ahead in 1u64..100_000_000,
        ) {
            let (clock, now) = touched(&touches);
            let deadline = clock.read(now) + Span::from_micros(ahead);
            let met = clock.when(deadline);
            prop_assert!(deadline <= clock.read(met), "woken too early");
            prop_assert!(clock.read(met - Span::from_micros(1)) < deadline, "woken too late");
        }

        #[test]
        fn it_never_goes_back_and_keeps_its_rate(touches in touches(), rate in 250_000u32..=4_000_000) {
            let (mut clock, now) = touched(&touches);
            let before = clock.read(now);
            clock.set_rate(now, rate);
            prop_assert_eq!(clock.read(now), before);
            let later = clock.read(now + Span::from_secs(1));
            prop_assert_eq!(later.since(before), Span::from_micros(u64::from(rate)));
        }
    }

    #[test]
    fn the_end_of_time_saturates() {
        let mut clock = HostClock::TRUE;
        clock.set_rate(Time::ZERO, 250_000);
        assert_eq!(clock.when(Time::MAX - Span::from_secs(1)), Time::MAX);
        clock.set_rate(Time::ZERO, 4_000_000);
        assert_eq!((clock.when(Time::MAX), clock.read(Time::MAX)), (Time::MAX, Time::MAX));
    }
}

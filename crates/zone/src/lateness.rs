//! The lateness of a replica: how long after the time that was set do its timers fire.
//!
//! A host without enough processor time is late with everything. What it tells of its own lateness extends the time for
//! which others wait for it, within a bound: lateness is not death, and silence is.

use machine::{Span, Time};

/// The most lateness that counts. A replica that stood still for longer was as good as dead.
const COUNTED_MAX: Span = Span::from_millis(400);

/// Lateness below this is how timers are, and extends nothing.
const USUAL: Span = Span::from_millis(20);

/// The most by which lateness extends a timeout.
pub(crate) const EXTENSION_MAX: Span = Span::from_millis(1_200);

/// How late a replica was lately.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lateness {
    late: Span,
    at: Time,
}

impl Lateness {
    /// A timer fires at `now`, this much later than it was set for.
    pub(crate) fn measure(&mut self, now: Time, late: Span) {
        *self = Self { late: self.at(now).max(late.min(COUNTED_MAX)), at: now };
    }

    /// The lateness: the most of the last moments. It fades by half a millisecond per millisecond, so that a timeout that
    /// it extends never shrinks faster than time passes.
    pub(crate) fn at(self, now: Time) -> Span {
        let faded = now.since(self.at).as_micros() / 2;
        Span::from_micros(self.late.as_micros().saturating_sub(faded))
    }
}

/// A timeout for a replica that told this lateness. Three times the lateness: the beacon, its answer, and the turn in which it
/// is read may each be so late.
pub(crate) fn extended(timeout: Span, late: Span) -> Span {
    timeout + extension(late).min(EXTENSION_MAX)
}

/// The extension of a timeout without its bound.
pub(crate) fn extension(late: Span) -> Span {
    if late < USUAL { Span::ZERO } else { late.times(3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_fades_and_is_bounded() {
        let ms = Span::from_millis;
        let mut lateness = Lateness::default();
        lateness.measure(Time::from_millis(1_000), ms(5_000));
        assert_eq!(lateness.at(Time::from_millis(1_000)), COUNTED_MAX);
        assert_eq!(lateness.at(Time::from_millis(1_400)), ms(200));
        lateness.measure(Time::from_millis(1_400), ms(10));
        assert_eq!(lateness.at(Time::from_millis(1_400)), ms(200), "a punctual timer does not undo it");
        assert_eq!(lateness.at(Time::from_millis(2_000)), Span::ZERO);
    }

    #[test]
    fn an_extended_timeout_has_an_end() {
        let ms = Span::from_millis;
        assert_eq!(extended(ms(300), ms(19)), ms(300));
        assert_eq!(extended(ms(300), ms(100)), ms(600));
        assert_eq!(extended(ms(300), ms(60_000)), ms(1_500));
    }
}

//! The intervals at which updates are due.

use machine::Span;

/// Turns relevance into time: at relevance 1 an update every normal interval, at relevance r every
/// normal interval ÷ r, and the first one at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateSchedule {
    /// The interval at relevance 1.
    pub normal: Span,
    /// The rule for an update when exactly its interval has passed.
    pub due: DueRule,
    /// A subject that has not been relevant for this long is forgotten; if it comes back later, it counts as new and is
    /// due at once: it may have changed course meanwhile without an update to the observer. Without the wait, a subject
    /// that steps in and out of view would be sent at every step. Never less than the normal interval.
    ///
    /// If this is shorter than an interval, a subject that goes and comes back is sent sooner than one that stays. With
    /// four normal intervals that holds for relevances below ¼: at 0.1 an update is due after ten, but at once after
    /// four out of view. An experiment that must not send more than relevance alone allows, as `lab a3` to compare with
    /// the paper, sets [`Span::MAX`].
    pub forget_after: Span,
}

/// The rule for an update when exactly its interval has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DueRule {
    /// An update is due as soon as the interval has passed.
    #[default]
    AtInterval,
    /// An update is due only when more than the interval has passed. Checked every 10 ms, a 250 ms interval becomes
    /// 260, as with the paper's server.
    AfterInterval,
}

/// A subject that was due and did not fit the budget keeps the time it has waited in view for at least this long while
/// it is out of view. Otherwise a subject that is only now and then in view, as when a player looks about in a crowd,
/// would begin to wait anew each time, and never be the one that has waited longest. A round through a crowd of a
/// thousand takes about as long on a slow connection (1 kB/s).
const OWED_FOR: Span = Span::from_secs(30);

impl UpdateSchedule {
    /// Updates every `normal` at relevance 1; forgets after four of them.
    pub const fn every(normal: Span) -> Self {
        Self { normal, due: DueRule::AtInterval, forget_after: normal.times(4) }
    }

    /// True if an update of a subject of this relevance is due `age` after the last one.
    ///
    /// Written as a product: no division, and relevance 0 is never due.
    #[inline]
    pub fn is_due(&self, age: Span, relevance: f32) -> bool {
        let waited = age.as_micros() as f64 * f64::from(relevance);
        let normal = self.normal.as_micros() as f64;
        match self.due {
            DueRule::AtInterval => 0.0 < relevance && normal <= waited,
            DueRule::AfterInterval => normal < waited,
        }
    }

    /// True if no relevance could make an update due `age` after the last one.
    #[inline]
    pub(crate) fn is_fresh(&self, age: Span) -> bool {
        age < self.normal
    }

    /// True if a subject that was last relevant `age` ago is forgotten; `owed` if an update was due then and not sent.
    #[inline]
    pub(crate) fn is_forgotten(&self, age: Span, owed: bool) -> bool {
        let keep = self.forget_after.max(self.normal);
        (if owed { keep.max(OWED_FOR) } else { keep }) <= age
    }
}

impl Default for UpdateSchedule {
    /// The paper's normal interval of 250 ms.
    fn default() -> Self {
        Self::every(Span::from_millis(250))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_relevance_doubles_the_interval() {
        let schedule = UpdateSchedule::every(Span::from_millis(200));
        assert!(
            schedule.is_due(Span::from_millis(200), 1.0) && !schedule.is_due(Span::from_millis(199), 1.0)
        );
        assert!(
            schedule.is_due(Span::from_millis(400), 0.5) && !schedule.is_due(Span::from_millis(399), 0.5)
        );
        assert!(!schedule.is_due(Span::MAX, 0.0));
        assert!(!UpdateSchedule::every(Span::ZERO).is_due(Span::MAX, 0.0));
    }

    #[test]
    fn the_paper_waits_until_the_interval_is_past() {
        let schedule = UpdateSchedule { due: DueRule::AfterInterval, ..UpdateSchedule::default() };
        assert!(
            !schedule.is_due(Span::from_millis(250), 1.0) && schedule.is_due(Span::from_millis(260), 1.0)
        );
    }
}

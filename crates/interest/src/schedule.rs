//! When an update is due.

use machine::Span;

/// Turns relevance into time: at relevance 1 an update every normal interval, at relevance r every
/// normal interval ÷ r, and the first one at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The interval at relevance 1.
    pub normal: Span,
    /// What exactly at the interval means.
    pub due: Due,
    /// A subject that has not been relevant for this long is forgotten; if it comes back later, it counts as new and is
    /// told at once. Who comes back after a while is news: they may have changed course meanwhile, and nobody was told.
    /// Without the wait, who steps in and out of view would be sent at every step. Never less than the normal interval.
    ///
    /// Where this is shorter than an interval, who goes and comes back is told sooner than who stays. With four normal
    /// intervals that holds for relevances below ¼: at 0.1 an update is due after ten, but at once after four out of view.
    /// Who must not send more than relevance alone allows, as `lab a3` to compare with the paper, sets [`Span::MAX`].
    pub forget_after: Span,
}

/// Whether an update is due when exactly its interval has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Due {
    /// As soon as the interval has passed.
    #[default]
    AtInterval,
    /// Only when more than the interval has passed. Checked every 10 ms, a 250 ms interval becomes 260,
    /// which is what the paper's server did.
    AfterInterval,
}

/// Who was due and did not fit the budget keeps the time they have waited in view for at least this long while they are
/// out of it. Otherwise who is only now and then in view, as before a player who looks about in a crowd, would
/// begin to wait anew each time, and never be the one who has waited longest. A round through a crowd of a thousand
/// takes a thin line (1 kB/s) about as long.
const OWED_FOR: Span = Span::from_secs(30);

impl Schedule {
    /// Updates every `normal` at relevance 1; forgets after four of them.
    pub const fn every(normal: Span) -> Self {
        Self { normal, due: Due::AtInterval, forget_after: normal.times(4) }
    }

    /// Whether an update of a subject of this relevance is due `age` after the last one.
    ///
    /// Written as a product: no division, and relevance 0 is never due.
    #[inline]
    pub fn is_due(&self, age: Span, relevance: f32) -> bool {
        let waited = age.as_micros() as f64 * f64::from(relevance);
        let normal = self.normal.as_micros() as f64;
        match self.due {
            Due::AtInterval => 0.0 < relevance && normal <= waited,
            Due::AfterInterval => normal < waited,
        }
    }

    /// Whether no relevance could make an update due `age` after the last one.
    #[inline]
    pub(crate) fn is_fresh(&self, age: Span) -> bool {
        age < self.normal
    }

    /// Whether a subject is forgotten that was last relevant `age` ago, and whether it was owed an update then.
    #[inline]
    pub(crate) fn is_forgotten(&self, age: Span, owed: bool) -> bool {
        let keep = self.forget_after.max(self.normal);
        (if owed { keep.max(OWED_FOR) } else { keep }) <= age
    }
}

impl Default for Schedule {
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
        let schedule = Schedule::every(Span::from_millis(200));
        assert!(
            schedule.is_due(Span::from_millis(200), 1.0) && !schedule.is_due(Span::from_millis(199), 1.0)
        );
        assert!(
            schedule.is_due(Span::from_millis(400), 0.5) && !schedule.is_due(Span::from_millis(399), 0.5)
        );
        assert!(!schedule.is_due(Span::MAX, 0.0));
        assert!(!Schedule::every(Span::ZERO).is_due(Span::MAX, 0.0));
    }

    #[test]
    fn the_paper_waits_until_the_interval_is_past() {
        let schedule = Schedule { due: Due::AfterInterval, ..Schedule::default() };
        assert!(
            !schedule.is_due(Span::from_millis(250), 1.0) && schedule.is_due(Span::from_millis(260), 1.0)
        );
    }
}

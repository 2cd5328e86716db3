//! The pace at which players enter: it grows slowly while all hosts are calm, and halves when one is busy.
//!
//! That is the rule by which TCP shares a line (additive increase, multiplicative decrease): it finds what the hosts carry
//! without knowing their size, and goes on finding it when that changes.

use super::PaceSettings;
use super::headroom::HeadroomLevel;
use machine::Time;

/// Seconds of the rate that may be saved up: clients near the front ask every two seconds.
const SAVED_SECONDS: f64 = 3.0;

/// The rate, and the entries that may happen now.
#[derive(Clone, Copy, Debug)]
pub(super) struct AdmissionPace {
    settings: PaceSettings,
    /// Entries per second.
    rate: f64,
    /// Entries that may happen now: a token bucket.
    saved: f64,
    at: Time,
    level: HeadroomLevel,
    is_closed: bool,
    /// Time since when all hosts have been calm, while no player enters.
    calm_since: Option<Time>,
}

impl AdmissionPace {
    pub(super) const fn new(settings: PaceSettings, now: Time) -> Self {
        let (rate, saved, level) = (settings.start, settings.burst, HeadroomLevel::Unknown);
        Self { settings, rate, saved, at: now, level, is_closed: false, calm_since: None }
    }

    /// Number of players who may enter now.
    pub(super) const fn entries(&self) -> usize {
        if self.is_closed { 0 } else { self.saved as usize }
    }

    /// One player enters.
    pub(super) const fn take(&mut self) {
        self.saved -= 1.0;
    }

    /// Returns whether no player may enter, because a host is busy or was until a moment ago.
    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Entries per second at the present level.
    pub(super) fn rate(&self) -> f64 {
        match self.level {
            HeadroomLevel::Unknown => self.settings.unreported,
            _ => self.rate,
        }
    }

    /// Entries per second that a player who waits may expect, when the hosts are calm again.
    pub(super) fn usual_rate(&self) -> f64 {
        self.rate().max(1.0)
    }

    /// Takes in what the hosts have reported by now.
    pub(super) fn advance(&mut self, now: Time, level: HeadroomLevel, do_players_wait: bool) {
        let (passed, was_closed) = (now.since(self.at).as_secs_f64(), self.is_closed);
        (self.at, self.level) = (now, level);
        match level {
            HeadroomLevel::Silent | HeadroomLevel::Busy => return self.close(),
            HeadroomLevel::Tight => self.calm_since = None,
            HeadroomLevel::Calm => self.on_calm(now, passed, do_players_wait),
            HeadroomLevel::Unknown => (),
        }
        if !was_closed {
            self.saved = (self.saved + self.rate() * passed).min(self.saved_max());
        }
    }

    fn close(&mut self) {
        if !self.is_closed {
            // Once per time of trouble: players who entered before the first busy report make more of them.
            self.rate = (self.rate * self.settings.shrink).max(self.settings.least);
        }
        (self.is_closed, self.saved, self.calm_since) = (true, 0.0, None);
    }

    fn on_calm(&mut self, now: Time, passed: f64, do_players_wait: bool) {
        if self.is_closed {
            let since = *self.calm_since.get_or_insert(now);
            self.is_closed = now.since(since) < self.settings.calm_for;
            return;
        }
        let step = self.settings.growth * passed;
        self.rate = match do_players_wait {
            true => (self.rate + step).min(self.settings.most),
            // Without a queue nothing shows that hosts carry this rate: it goes back to where it began.
            false if self.settings.start < self.rate => (self.rate - step).max(self.settings.start),
            false => (self.rate + step).min(self.settings.start),
        };
    }

    /// The most entries that are saved up: a burst only while all hosts are calm.
    fn saved_max(&self) -> f64 {
        match self.level {
            HeadroomLevel::Tight => self.rate.clamp(1.0, self.settings.burst.max(1.0)),
            _ => self.settings.burst.max(SAVED_SECONDS * self.rate()),
        }
    }
}

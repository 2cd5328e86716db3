//! The part of a link that messages fly over: what chance does to them.

use crate::config::SURE_TRIES_MAX;
use crate::profile::{Profile, Quirks};
use machine::{Lane, Rng, Span, Time};

/// What chance decided for a message that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives at `at`, after `retries` lost tries.
    Arrives { at: Time, retries: u32 },
    /// It never arrives.
    Lost,
    /// It was lost too often: the link dies at this time.
    GivenUp(Time),
}

/// The part of a link that messages fly over.
#[derive(Debug)]
pub(crate) struct Flight {
    delay: Span,
    jitter: Span,
    loss: f64,
    rng: Rng,
    /// When the last `Sure` message arrives.
    last_sure: Time,
    /// Whether a `Sure` message was given up: those behind it cannot arrive either.
    broken: bool,
}

impl Flight {
    pub(crate) fn new(profile: Profile, rng: Rng) -> Self {
        let Profile { delay, jitter, loss, .. } = profile;
        Self { delay, jitter, loss, rng, last_sure: Time::ZERO, broken: false }
    }

    /// The same for a new link. Chance goes on where it was.
    pub(crate) fn anew(&self, profile: Profile) -> Self {
        Self::new(profile, self.rng.clone())
    }

    /// Another character from now on. What is promised to `Sure` messages stays: one that leaves later does
    /// not arrive before those that are on their way.
    pub(crate) const fn reshape(&mut self, profile: Profile) {
        let Profile { delay, jitter, loss, .. } = profile;
        (self.delay, self.jitter, self.loss) = (delay, jitter, loss);
    }

    /// Decides what becomes of a message that leaves now.
    pub(crate) fn fate(&mut self, now: Time, lane: Lane) -> Fate {
        match lane {
            Lane::Latest(_) if self.loses() => Fate::Lost,
            Lane::Latest(_) => Fate::Arrives { at: now + self.trip(), retries: 0 },
            Lane::Sure if self.broken => Fate::Lost,
            Lane::Sure => self.fate_of_sure(now),
        }
    }

    fn fate_of_sure(&mut self, now: Time) -> Fate {
        let mut left = now;
        for retries in 0..SURE_TRIES_MAX {
            if !self.loses() {
                self.last_sure = self.last_sure.max(left + self.trip());
                return Fate::Arrives { at: self.last_sure, retries };
            }
            left = left + self.trip() + self.delay;
        }
        self.broken = true;
        Fate::GivenUp(left)
    }

    /// Draws only where there is something to draw: certain links cost no chance and little time.
    fn loses(&mut self) -> bool {
        0.0 < self.loss && self.rng.chance(self.loss)
    }

    /// How much later than others a `Latest` message is on a link with `quirks`.
    pub(crate) fn lateness(&mut self, quirks: Quirks) -> Span {
        if !(0.0 < quirks.straggling && self.rng.chance(quirks.straggling)) {
            return Span::ZERO;
        }
        Span::from_micros(self.rng.below(quirks.lateness_max.as_micros().saturating_add(1)))
    }

    /// When a second copy of a `Latest` message arrives, if the link makes one.
    pub(crate) fn second_copy(&mut self, now: Time, quirks: Quirks) -> Option<Time> {
        let doubled = 0.0 < quirks.duplication && self.rng.chance(quirks.duplication);
        doubled.then(|| now + self.trip() + self.lateness(quirks))
    }

    /// How long one try takes.
    pub(crate) fn trip(&mut self) -> Span {
        if self.jitter == Span::ZERO {
            return self.delay;
        }
        let choices = self.jitter.as_micros().saturating_add(1);
        self.delay + Span::from_micros(self.rng.below(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::LatestKey;

    const KEY: Lane = Lane::Latest(LatestKey(0));

    fn flight(profile: Profile) -> Flight {
        Flight::new(profile, Rng::seeded(1))
    }

    #[test]
    fn a_certain_link_draws_no_chance() {
        let mut flight = flight(Profile::new(Span::from_millis(5)));
        for lane in [KEY, Lane::Sure] {
            let at = Time::from_millis(7);
            assert_eq!(flight.fate(Time::from_millis(2), lane), Fate::Arrives { at, retries: 0 });
        }
        assert_eq!(flight.rng.next_u64(), Rng::seeded(1).next_u64());
    }

    #[test]
    fn a_retry_costs_one_round_trip() {
        let profile = Profile::new(Span::from_millis(10)).with_loss(0.5).unwrap();
        for seed in 0..100 {
            // A new flight each time: nothing earlier holds the message up.
            let mut flight = Flight::new(profile, Rng::seeded(seed));
            let Fate::Arrives { at, retries } = flight.fate(Time::ZERO, Lane::Sure) else {
                panic!("given up")
            };
            assert_eq!(at, Time::from_millis(10 + 20 * u64::from(retries)));
        }
    }

    #[test]
    fn a_retry_has_jitter_too() {
        let profile = Profile::new(Span::from_millis(10)).with_jitter(Span::from_millis(5));
        let profile = profile.with_loss(0.5).unwrap();
        let late = |seed| {
            let mut flight = Flight::new(profile, Rng::seeded(seed));
            let Fate::Arrives { at, retries } = flight.fate(Time::ZERO, Lane::Sure) else {
                panic!("given up")
            };
            let late = at.since(Time::from_millis(10 + 20 * u64::from(retries)));
            assert!(late <= Span::from_millis(5 * (u64::from(retries) + 1)), "{retries} retries: {late:?}");
            late
        };
        // More than one trip's jitter can only have come from several trips.
        assert!((0..100).any(|seed| Span::from_millis(5) < late(seed)));
    }

    #[test]
    fn what_is_always_lost_is_given_up() {
        let mut flight = flight(Profile::new(Span::from_millis(10)).with_loss(1.0).unwrap());
        let died = Time::from_millis(20 * u64::from(SURE_TRIES_MAX));
        assert_eq!(flight.fate(Time::ZERO, Lane::Sure), Fate::GivenUp(died));
        assert_eq!(flight.fate(Time::ZERO, Lane::Sure), Fate::Lost);
    }
}

//! The delay, jitter and loss of one direction of a link: draws when a message arrives, if at all.

use crate::config::SURE_TRIES_MAX;
use crate::profile::{LatestFaults, Profile};
use machine::{Lane, Rng, Span, Time};

/// The drawn result for a message that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendOutcome {
    /// It arrives at `at`, after `retries` lost tries.
    Arrives {
        at: Time,
        retries: u32,
    },
    Lost,
    /// It was lost too often: the link dies at this time.
    GivenUp(Time),
}

/// Draws the delay and loss of messages on one direction of a link.
#[derive(Debug)]
pub(crate) struct DelayModel {
    delay: Span,
    jitter: Span,
    loss: f64,
    rng: Rng,
    /// The latest arrival of a `Sure` message so far; later ones do not arrive before it.
    last_sure: Time,
    /// True if a `Sure` message was given up: those behind it cannot arrive either.
    broken: bool,
}

impl DelayModel {
    pub(crate) fn new(profile: Profile, rng: Rng) -> Self {
        let Profile { delay, jitter, loss, .. } = profile;
        Self { delay, jitter, loss, rng, last_sure: Time::ZERO, broken: false }
    }

    /// The same for a new link. The stream of draws goes on where it was.
    pub(crate) fn anew(&self, profile: Profile) -> Self {
        Self::new(profile, self.rng.clone())
    }

    /// Takes another delay, jitter and loss from now on. The promise to `Sure` messages stays: a message that leaves
    /// later does not arrive before those that are on their way.
    pub(crate) const fn reshape(&mut self, profile: Profile) {
        let Profile { delay, jitter, loss, .. } = profile;
        (self.delay, self.jitter, self.loss) = (delay, jitter, loss);
    }

    /// Draws when a message that leaves now arrives, if at all.
    pub(crate) fn outcome(&mut self, now: Time, lane: Lane) -> SendOutcome {
        match lane {
            Lane::Latest(_) if self.loses() => SendOutcome::Lost,
            Lane::Latest(_) => SendOutcome::Arrives { at: now + self.trip(), retries: 0 },
            Lane::Sure if self.broken => SendOutcome::Lost,
            Lane::Sure => self.outcome_of_sure(now),
        }
    }

    fn outcome_of_sure(&mut self, now: Time) -> SendOutcome {
        let mut left = now;
        for retries in 0..SURE_TRIES_MAX {
            if !self.loses() {
                // A `Sure` message never overtakes an earlier one, whatever jitter it draws.
                self.last_sure = self.last_sure.max(left + self.trip());
                return SendOutcome::Arrives { at: self.last_sure, retries };
            }
            // The sender notices the loss one round trip later: there with jitter, back without.
            left = left + self.trip() + self.delay;
        }
        // Later `Sure` messages must not arrive before this one, so they are lost, too.
        self.broken = true;
        SendOutcome::GivenUp(left)
    }

    /// Draws only where there is something to draw: certain links cost no chance and little time.
    fn loses(&mut self) -> bool {
        0.0 < self.loss && self.rng.chance(self.loss)
    }

    /// The extra delay of a `Latest` message on a link with `latest_faults`; mostly zero.
    pub(crate) fn lateness(&mut self, latest_faults: LatestFaults) -> Span {
        if !(0.0 < latest_faults.straggling && self.rng.chance(latest_faults.straggling)) {
            return Span::ZERO;
        }
        Span::from_micros(self.rng.below(latest_faults.lateness_max.as_micros().saturating_add(1)))
    }

    /// The arrival time of a second copy of a `Latest` message, if the link makes one.
    pub(crate) fn second_copy(&mut self, now: Time, latest_faults: LatestFaults) -> Option<Time> {
        let doubled = 0.0 < latest_faults.duplication && self.rng.chance(latest_faults.duplication);
        doubled.then(|| now + self.trip() + self.lateness(latest_faults))
    }

    /// The time that one try takes: the delay plus a draw of the jitter.
    pub(crate) fn trip(&mut self) -> Span {
        // No draw: a link without jitter costs no random number.
        if self.jitter == Span::ZERO {
            return self.delay;
        }
        // The full jitter is included.
        let choices = self.jitter.as_micros().saturating_add(1);
        self.delay + Span::from_micros(self.rng.below(choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::LatestKey;

    const KEY: Lane = Lane::Latest(LatestKey(0));

    fn model(profile: Profile) -> DelayModel {
        DelayModel::new(profile, Rng::seeded(1))
    }

    #[test]
    fn a_certain_link_draws_no_chance() {
        let mut model = model(Profile::new(Span::from_millis(5)));
        for lane in [KEY, Lane::Sure] {
            let at = Time::from_millis(7);
            assert_eq!(model.outcome(Time::from_millis(2), lane), SendOutcome::Arrives { at, retries: 0 });
        }
        assert_eq!(model.rng.next_u64(), Rng::seeded(1).next_u64());
    }

    #[test]
    fn a_retry_costs_one_round_trip() {
        let profile = Profile::new(Span::from_millis(10)).with_loss(0.5).unwrap();
        for seed in 0..100 {
            // A new model each time: no earlier message holds this one up.
            let mut model = DelayModel::new(profile, Rng::seeded(seed));
            let SendOutcome::Arrives { at, retries } = model.outcome(Time::ZERO, Lane::Sure) else {
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
            let mut model = DelayModel::new(profile, Rng::seeded(seed));
            let SendOutcome::Arrives { at, retries } = model.outcome(Time::ZERO, Lane::Sure) else {
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
    fn a_message_that_is_always_lost_is_given_up() {
        let mut model = model(Profile::new(Span::from_millis(10)).with_loss(1.0).unwrap());
        let died = Time::from_millis(20 * u64::from(SURE_TRIES_MAX));
        assert_eq!(model.outcome(Time::ZERO, Lane::Sure), SendOutcome::GivenUp(died));
        assert_eq!(model.outcome(Time::ZERO, Lane::Sure), SendOutcome::Lost);
    }
}

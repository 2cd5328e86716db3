//! The profile of a link in one direction: delay, jitter, loss, rate.

use crate::config;
use machine::Span;
use std::num::NonZeroU64;
use thiserror::Error;

/// The properties of a link in one direction. Made by [`Profile::new`] and the `with_` functions, which
/// refuse impossible values.
///
/// ```
/// use machine::Span;
/// use sim::Profile;
///
/// let home = Profile::new(Span::from_millis(15))
///     .with_jitter(Span::from_millis(4))
///     .with_loss(0.01)?
///     .with_rate(1_250_000)?
///     .with_overhead(28);
/// assert!(home.with_loss(f64::NAN).is_err());
/// # Ok::<(), sim::ProfileError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    pub(crate) delay: Span,
    pub(crate) jitter: Span,
    pub(crate) loss: f64,
    pub(crate) rate: Option<NonZeroU64>,
    pub(crate) queue_limit: usize,
    pub(crate) overhead: usize,
    pub(crate) latest_faults: LatestFaults,
}

/// Duplication and large delays that hit few `Latest` messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LatestFaults {
    /// Probability that a second copy arrives, 0 to 1.
    pub(crate) duplication: f64,
    /// Probability that a message is much later than the others, 0 to 1.
    pub(crate) straggling: f64,
    /// The most that such a message is delayed in addition.
    pub(crate) lateness_max: Span,
}

impl LatestFaults {
    pub(crate) const NONE: Self = Self { duplication: 0.0, straggling: 0.0, lateness_max: Span::ZERO };
}

/// The reason why a profile was refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ProfileError {
    /// The loss is not a number from 0 to 1.
    #[error("a loss of {0} is not a probability: give a number from 0 to 1")]
    Loss(f64),
    /// The duplication is not a number from 0 to 1.
    #[error("a duplication of {0} is not a probability: give a number from 0 to 1")]
    Duplication(f64),
    /// The share of late messages is not a number from 0 to 1.
    #[error("{0} is no probability for a message to be late: give a number from 0 to 1")]
    Stragglers(f64),
    /// The rate is zero, so that no message would ever leave.
    #[error("a link at 0 bytes per second carries nothing: give a rate, or cut the link")]
    Rate,
}

impl Profile {
    /// A link that delivers everything after exactly `delay`, however much it is given.
    pub const fn new(delay: Span) -> Self {
        let queue_limit = config::QUEUE_LIMIT;
        let latest_faults = LatestFaults::NONE;
        Self { delay, jitter: Span::ZERO, loss: 0.0, rate: None, queue_limit, overhead: 0, latest_faults }
    }

    /// The least time that a message takes.
    pub const fn delay(&self) -> Span {
        self.delay
    }

    /// The most that jitter adds to the delay of a message.
    pub const fn jitter(&self) -> Span {
        self.jitter
    }

    /// The probability that a try is lost, 0 to 1.
    pub const fn loss(&self) -> f64 {
        self.loss
    }

    /// Adds up to `jitter` to each delay, drawn evenly. `Latest` messages may then overtake each other.
    pub const fn with_jitter(self, jitter: Span) -> Self {
        Self { jitter, ..self }
    }

    /// Loses each try with probability `loss`. A lost `Latest` message is gone; a lost `Sure` message is
    /// tried again one round trip later, and holds the `Sure` messages behind it.
    pub fn with_loss(self, loss: f64) -> Result<Self, ProfileError> {
        is_probability(loss).then_some(Self { loss, ..self }).ok_or(ProfileError::Loss(loss))
    }

    /// Lets a `Latest` message arrive twice with probability `duplication`; the second copy has a trip time
    /// of its own. `Sure` messages are never doubled: a transport throws second copies away.
    pub fn with_duplication(self, duplication: f64) -> Result<Self, ProfileError> {
        let latest_faults = LatestFaults { duplication, ..self.latest_faults };
        let valid = is_probability(duplication).then_some(Self { latest_faults, ..self });
        valid.ok_or(ProfileError::Duplication(duplication))
    }

    /// Delays a `Latest` message by up to `lateness_max` more, drawn evenly, with probability `share`: it got
    /// stuck in some buffer. It arrives only if its link is still up by then.
    pub fn with_stragglers(self, share: f64, lateness_max: Span) -> Result<Self, ProfileError> {
        let latest_faults = LatestFaults { straggling: share, lateness_max, ..self.latest_faults };
        is_probability(share).then_some(Self { latest_faults, ..self }).ok_or(ProfileError::Stragglers(share))
    }

    /// Lets `rate` bytes leave per second; what comes faster waits.
    pub fn with_rate(self, rate: u64) -> Result<Self, ProfileError> {
        let rate = Some(NonZeroU64::new(rate).ok_or(ProfileError::Rate)?);
        Ok(Self { rate, ..self })
    }

    /// Lets at most `bytes` bytes wait, overhead included, while another message leaves. Only links with
    /// a rate have a queue; without this limit it is [`config::QUEUE_LIMIT`].
    pub const fn with_queue_limit(self, bytes: usize) -> Self {
        Self { queue_limit: bytes, ..self }
    }

    /// Counts `bytes` bytes of headers per message against rate and queue limit.
    pub const fn with_overhead(self, bytes: usize) -> Self {
        Self { overhead: bytes, ..self }
    }
}

/// False for NaN, too, which no comparison contains.
fn is_probability(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_values_are_refused() {
        let profile = Profile::new(Span::ZERO);
        for loss in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(profile.with_loss(loss), Err(ProfileError::Loss(_))), "{loss}");
            assert!(matches!(profile.with_duplication(loss), Err(ProfileError::Duplication(_))), "{loss}");
            let late = profile.with_stragglers(loss, Span::ZERO);
            assert!(matches!(late, Err(ProfileError::Stragglers(_))), "{loss}");
        }
        assert_eq!(profile.with_rate(0), Err(ProfileError::Rate));
        assert!(profile.with_loss(0.0).and_then(|it| it.with_loss(1.0)).is_ok());
    }
}

//! The pace at which one neighbour is sent the local peer's steps.

use machine::{Span, Time};

/// Urgency of a step for a neighbour. Neighbours with full relevance come first, then by waiting time times relevance.
pub(crate) type Urgency = (bool, u64);

/// The pace of steps to one neighbour.
#[derive(Clone, Debug)]
pub(crate) struct UpdatePace {
    /// Time of the last step that was sent to the neighbour.
    sent_at: Time,
    /// True if that step said that the neighbour will be sent fewer.
    sent_sparse: bool,
}

impl UpdatePace {
    pub const fn new() -> Self {
        Self { sent_at: Time::ZERO, sent_sparse: false }
    }

    /// Notes that the neighbour is sent a step, and whether it will be sent fewer from now on.
    pub const fn note_sent(&mut self, now: Time, sparse: bool) {
        (self.sent_at, self.sent_sparse) = (now, sparse);
    }

    /// The urgency of this step for a neighbour of this relevance; `None` if it is not due.
    pub fn is_due(&self, now: Time, interval: Span, relevance: f32) -> Option<Urgency> {
        let waited = now.since(self.sent_at).as_micros() as f32;
        let interval = interval.as_micros() as f32;
        // Steps come at their own times: a neighbour that would be due half a step later is due now.
        let due = !self.sent_sparse || interval / relevance <= waited + interval / 2.0;
        // A neighbour that was sent every step so far must be told that this ends, or it would take the local peer for
        // gone.
        let first = 1.0 <= relevance || !self.sent_sparse;
        due.then_some((first, (waited * relevance) as u64))
    }
}

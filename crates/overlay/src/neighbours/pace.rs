//! How often one neighbour hears our steps.

use machine::{Span, Time};

/// Neighbours that always care come first, then by how long they have waited times how much they care.
pub(crate) type Urgency = (bool, u64);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// When we told the neighbour last where we are.
    told_at: Time,
    /// Whether we said then that it will hear us less often.
    told_sparse: bool,
}

impl Pace {
    pub const fn new() -> Self {
        Self { told_at: Time::ZERO, told_sparse: false }
    }

    /// The neighbour is told of a step, and whether it will hear us less often.
    pub const fn tell(&mut self, now: Time, sparse: bool) {
        (self.told_at, self.told_sparse) = (now, sparse);
    }

    /// Whether a neighbour that cares so much should hear this step, and how urgently.
    pub fn is_due(&self, now: Time, interval: Span, cares: f32) -> Option<Urgency> {
        let waited = now.since(self.told_at).as_micros() as f32;
        let interval = interval.as_micros() as f32;
        // Steps come when they come: half a step early is due.
        let due = !self.told_sparse || interval / cares <= waited + interval / 2.0;
        // A neighbour that heard every step so far must hear that this ends, or takes us for gone.
        let first = 1.0 <= cares || !self.told_sparse;
        due.then_some((first, (waited * cares) as u64))
    }
}

//! Signs of life of one neighbour.

use crate::config::SLOWEST;
use machine::{Span, Time};

/// Time after which a neighbour is pinged again.
const PING_AGAIN: Span = Span::from_millis(500);

/// Signs of life of one neighbour.
#[derive(Clone, Debug)]
pub(crate) struct LifeSigns {
    /// Time of the last message from the neighbour itself.
    heard: Time,
    /// True if a move of the neighbour ever arrived.
    met: bool,
    /// True if the neighbour has said that it sends fewer moves.
    sparse: bool,
    /// Time of the last ping; `None` once a message arrived.
    pinged: Option<Time>,
}

impl LifeSigns {
    pub const fn new(now: Time) -> Self {
        Self { heard: now, met: false, sparse: false, pinged: None }
    }

    pub const fn heard(&self) -> Time {
        self.heard
    }

    pub const fn is_met(&self) -> bool {
        self.met
    }

    /// Notes that any message of the neighbour arrived.
    pub const fn hear(&mut self, now: Time) {
        (self.heard, self.pinged) = (now, None);
    }

    /// Notes a move of the neighbour, and whether it sends fewer from now on. Returns whether it was its first.
    #[must_use]
    pub const fn hear_move(&mut self, now: Time, sparse: bool) -> bool {
        self.hear(now);
        self.sparse = sparse;
        !std::mem::replace(&mut self.met, true)
    }

    /// Returns whether the neighbour is silent for this long; one that sends fewer moves may be silent for longer.
    pub fn is_silent(&self, now: Time, span: Span) -> bool {
        let limit = if self.sparse { span.times(SLOWEST) } else { span };
        limit <= now.since(self.heard)
    }

    /// Returns whether the neighbour must be pinged now, after that much silence, and notes the ping.
    #[must_use]
    pub fn take_ping(&mut self, now: Time, after: Option<Span>) -> bool {
        let silent = after.is_some_and(|after| self.is_silent(now, after));
        let ask = silent && self.pinged.is_none_or(|at| PING_AGAIN <= now.since(at));
        if ask {
            self.pinged = Some(now);
        }
        ask
    }
}

//! Signs of life of one neighbour.

use crate::config::SLOWEST;
use machine::{Span, Time};

/// A neighbour that was asked whether it is there is asked again after this.
const PING_AGAIN: Span = Span::from_millis(500);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    /// When the neighbour itself was heard last.
    heard: Time,
    /// Whether the neighbour itself was ever heard to move.
    met: bool,
    /// Whether the neighbour has said that it is heard less often.
    sparse: bool,
    /// When the neighbour was asked whether it is there; `None` once it was heard.
    pinged: Option<Time>,
}

impl Signs {
    pub const fn new(now: Time) -> Self {
        Self { heard: now, met: false, sparse: false, pinged: None }
    }

    pub const fn heard(&self) -> Time {
        self.heard
    }

    pub const fn is_met(&self) -> bool {
        self.met
    }

    /// The neighbour says anything.
    pub const fn hear(&mut self, now: Time) {
        (self.heard, self.pinged) = (now, None);
    }

    /// The neighbour says that it moved, and whether it is heard less often from now on. Whether it is the first time.
    #[must_use]
    pub const fn hear_move(&mut self, now: Time, sparse: bool) -> bool {
        self.hear(now);
        self.sparse = sparse;
        !std::mem::replace(&mut self.met, true)
    }

    /// Whether the neighbour is silent for so long; one that is heard less often may be silent for longer.
    pub fn is_silent(&self, now: Time, span: Span) -> bool {
        let patience = if self.sparse { span.times(SLOWEST) } else { span };
        patience <= now.since(self.heard)
    }

    /// Whether a neighbour silent for so long is to be asked now whether it is there; if so, that is noted.
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

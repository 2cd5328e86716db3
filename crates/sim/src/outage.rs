//! A direction cut without a word: both ends believe in the link, but nothing comes through.
//!
//! `Latest` messages that leave or fly meanwhile are lost. `Sure` messages fly as always, so they come in
//! order to the place of the cut and are held there, as by a transport that tries them again. After healing
//! the last try gets through: what is held arrives one trip later, and `Sure` messages that come in
//! meanwhile queue up behind it. If the cut lasts too long, the transport gives up and the link dies.
//!
//! A sender that crashed tries nothing again: then everything `Sure` that meets the cut is lost, and
//! everything behind it, since a `Sure` message never arrives before an earlier one.

use crate::buffers::BufferId;
use machine::Time;
use std::collections::VecDeque;

/// An outage of one direction of a link.
#[derive(Debug)]
pub(crate) struct Outage {
    phase: Phase,
    /// Whether the sender is gone.
    orphaned: bool,
    held: VecDeque<BufferId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing comes through; at this time the link dies.
    Cut(Time),
    /// At this time what was held comes through.
    Healed(Time),
}

/// What becomes of a `Sure` message that comes to the place of an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    Held,
    Lost,
}

impl Outage {
    /// An outage that kills its link at `dies`.
    pub(crate) const fn new(dies: Time, orphaned: bool) -> Self {
        Self { phase: Phase::Cut(dies), orphaned, held: VecDeque::new() }
    }

    pub(crate) const fn is_cut(&self) -> bool {
        matches!(self.phase, Phase::Cut(_))
    }

    /// Cut again before what was held came through.
    pub(crate) const fn cut_again(&mut self, dies: Time) {
        self.phase = Phase::Cut(dies);
    }

    /// Healed: what is held comes through at `arrival`.
    pub(crate) const fn heal(&mut self, arrival: Time) {
        self.phase = Phase::Healed(arrival);
    }

    pub(crate) fn kills_at(&self, now: Time) -> bool {
        self.phase == Phase::Cut(now)
    }

    /// Whether this outage has nothing left to delay once it is healed.
    pub(crate) fn is_idle(&self) -> bool {
        self.held.is_empty() && !self.orphaned
    }

    pub(crate) fn meet(&mut self, sure: BufferId) -> Meeting {
        if self.orphaned {
            return Meeting::Lost;
        }
        self.held.push_back(sure);
        Meeting::Held
    }

    /// The first message held, if now is the time at which it comes through.
    pub(crate) fn release(&mut self, now: Time) -> Option<BufferId> {
        if self.phase != Phase::Healed(now) {
            return None;
        }
        self.held.pop_front()
    }

    /// The sender is gone. Gives back what is lost with it; what comes through already is in flight.
    pub(crate) fn orphan(&mut self) -> VecDeque<BufferId> {
        if !self.is_cut() {
            return VecDeque::new();
        }
        self.orphaned = true;
        std::mem::take(&mut self.held)
    }

    /// The link is gone: gives back everything held.
    pub(crate) fn into_held(self) -> VecDeque<BufferId> {
        self.held
    }
}

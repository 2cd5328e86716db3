//! A silently cut direction: both ends still have the link, but nothing comes through.
//!
//! `Latest` messages that leave or are in flight meanwhile are lost. `Sure` messages travel as always, so they come in
//! order to the place of the cut and are held there, as by a transport that tries them again. After healing
//! the last try gets through: the held messages arrive one trip later, and `Sure` messages that come in
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
    /// True if the sending machine crashed.
    orphaned: bool,
    held: VecDeque<BufferId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing comes through; unless healed before, the link dies at this time.
    Cut(Time),
    /// The held messages come through at this time.
    Healed(Time),
}

/// The result of an outage for a `Sure` message that meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutageResult {
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

    /// Cuts again before the held messages came through.
    pub(crate) const fn cut_again(&mut self, dies: Time) {
        self.phase = Phase::Cut(dies);
    }

    /// Heals the cut: the held messages come through at `arrival`.
    pub(crate) const fn heal(&mut self, arrival: Time) {
        self.phase = Phase::Healed(arrival);
    }

    pub(crate) fn kills_at(&self, now: Time) -> bool {
        self.phase == Phase::Cut(now)
    }

    /// True if this outage has nothing left to delay once it is healed.
    pub(crate) fn is_idle(&self) -> bool {
        self.held.is_empty() && !self.orphaned
    }

    pub(crate) fn hold_or_lose(&mut self, sure: BufferId) -> OutageResult {
        if self.orphaned {
            return OutageResult::Lost;
        }
        self.held.push_back(sure);
        OutageResult::Held
    }

    /// The first message held, if now is the time at which it comes through.
    pub(crate) fn release(&mut self, now: Time) -> Option<BufferId> {
        // Cut again since, or healed for another time: that outage has a release of its own.
        if self.phase != Phase::Healed(now) {
            return None;
        }
        self.held.pop_front()
    }

    /// The sending machine crashed. Returns the messages that are lost with it; after healing there are none, since
    /// the held messages count as in flight.
    pub(crate) fn orphan(&mut self) -> VecDeque<BufferId> {
        if !self.is_cut() {
            return VecDeque::new();
        }
        // From now on no `Sure` message may pass the cut, even after healing: there would be a gap.
        self.orphaned = true;
        std::mem::take(&mut self.held)
    }

    /// The messages still held, for a link that is gone.
    pub(crate) fn into_held(self) -> VecDeque<BufferId> {
        self.held
    }
}

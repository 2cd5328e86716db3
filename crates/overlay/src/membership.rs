//! Membership of the local peer: outside, in the overlay, or departed.

use crate::context::{PeerContext, PeerTimer};
use crate::event::PeerEvent;
use crate::info::Info;
use crate::msg::SearchPurpose;
use crate::search::search;
use machine::Span;

/// Time that a newcomer waits for the answers of its neighbours.
const SETTLE: Span = Span::from_millis(1_000);

/// Membership of the local peer in the overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverlayMembership {
    /// The peer has not joined yet.
    Outside,
    /// The peer is in the overlay.
    Ready,
    /// The peer has left, and ignores all messages until it joins again.
    Left,
}

impl OverlayMembership {
    pub fn is_ready(self) -> bool {
        self == Self::Ready
    }

    pub fn has_left(self) -> bool {
        self == Self::Left
    }

    /// Called when the owner wants to join, perhaps not for the first time.
    pub fn begin(&mut self) {
        if self.has_left() {
            *self = Self::Outside;
        }
    }

    /// Searches for the peer's place, and repeats that until an answer arrives.
    pub fn seek(self, me: &Info, ctx: &mut PeerContext) {
        if self.is_ready() {
            return;
        }
        ctx.wake_after(PeerTimer::Join, ctx.config().join_retry);
        search(SearchPurpose::Join, me, ctx);
    }

    /// Called when the peer has greeted its neighbours: waits for their answers.
    pub fn settle(self, ctx: &mut PeerContext) {
        ctx.wake_after(PeerTimer::Settle, SETTLE);
    }

    /// Returns whether the peer waits for the answers of its neighbours.
    pub fn is_settling(self, ctx: &PeerContext) -> bool {
        // The timer is the state: it is set exactly while the peer waits.
        !self.is_ready() && ctx.timer(PeerTimer::Settle).is_some()
    }

    /// Called when the peer is in the overlay.
    pub fn enter(&mut self, ctx: &mut PeerContext) {
        *self = Self::Ready;
        ctx.stop(PeerTimer::Join);
        ctx.stop(PeerTimer::Settle);
        ctx.raise(PeerEvent::Ready);
    }

    /// Called when the peer leaves; stops all its timers.
    pub fn leave(&mut self, ctx: &mut PeerContext) {
        *self = Self::Left;
        ctx.stop_all();
    }
}

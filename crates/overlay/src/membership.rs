//! Whether the peer is in the overlay.

use crate::ctx::{Ctx, Purpose};
use crate::event::Event;
use crate::info::Info;
use crate::msg::Search;
use crate::search::search;
use machine::Span;

/// A newcomer waits this long for the answers of its neighbours.
const SETTLE: Span = Span::from_millis(1_000);

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Membership {
    /// Not in yet.
    Outside,
    /// In.
    Ready,
    /// It has left, and is deaf until it joins again.
    Left,
}

impl Membership {
    pub fn is_ready(self) -> bool {
        self == Self::Ready
    }

    pub fn has_left(self) -> bool {
        self == Self::Left
    }

    /// The owner wants to join, perhaps again.
    pub fn begin(&mut self) {
        if self.has_left() {
            *self = Self::Outside;
        }
    }

    /// Asks for a place, and again until there is an answer.
    pub fn seek(self, me: &Info, ctx: &mut Ctx) {
        if self.is_ready() {
            return;
        }
        ctx.wake_after(Purpose::Join, ctx.config().join_retry);
        search(Search::Join, me, ctx);
    }

    /// The peer has greeted its neighbours and waits for their answers.
    pub fn settle(self, ctx: &mut Ctx) {
        ctx.wake_after(Purpose::Settle, SETTLE);
    }

    /// Whether the peer waits for the answers of its neighbours.
    pub fn is_settling(self, ctx: &Ctx) -> bool {
        !self.is_ready() && ctx.timer(Purpose::Settle).is_some()
    }

    /// The peer is in.
    pub fn enter(&mut self, ctx: &mut Ctx) {
        *self = Self::Ready;
        ctx.stop(Purpose::Join);
        ctx.stop(Purpose::Settle);
        ctx.raise(Event::Ready);
    }

    /// The peer leaves.
    pub fn leave(&mut self, ctx: &mut Ctx) {
        *self = Self::Left;
        ctx.stop_all();
    }
}

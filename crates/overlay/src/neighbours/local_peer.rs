//! The local peer: its position, its steps and its view.

use crate::context::PeerContext;
use crate::info::Info;
use machine::{Address, Span, Time};
use space::{Distance, Position};

/// Length of a step, in views, beyond which it is a leap: then the peer searches for its place anew.
const LEAP: u64 = 4;

/// Time for which every step announces a changed view, because single messages may get lost.
const ANNOUNCED_FOR: Span = Span::from_secs(5);

/// Least change of a view, in millimetres, that is announced.
const VIEW_CHANGE_MIN: u32 = 500;

/// Length of a step, capped at [`LEAP`] views: a peer must not widen its reach without limit by claiming a long step.
pub(super) fn stride(before: Position, after: Position, view: Distance) -> Distance {
    let step = before.distance_squared(after).isqrt().min(u64::from(view.millimetres()) * LEAP);
    Distance::new(step as u32).unwrap_or(view)
}

#[derive(Debug)]
pub(crate) struct LocalPeer {
    info: Info,
    /// Time of its last step, and the length of that step if it was a long one.
    stepped: Time,
    stride: Distance,
    /// Its view outside of crowds.
    widest: Distance,
    /// Its view in thousandths of a millimetre, so that small changes add up.
    fine: u64,
    /// Time of the last announced change of the view.
    changed: Option<Time>,
}

impl LocalPeer {
    pub fn new(info: Info) -> Self {
        Self {
            info,
            stepped: Time::ZERO,
            stride: Distance::ZERO,
            widest: info.aoi,
            fine: u64::from(info.aoi.millimetres()) * 1_000,
            changed: None,
        }
    }

    /// The information that it sends about itself.
    pub const fn info(&self) -> &Info {
        &self.info
    }

    pub const fn address(&self) -> Address {
        self.info.address
    }

    pub const fn position(&self) -> Position {
        self.info.position
    }

    /// Time of its last step.
    pub const fn stepped(&self) -> Time {
        self.stepped
    }

    /// Distance within which newcomers are looked for around it; after a long step widened by another such step.
    pub fn reach(&self, ctx: &PeerContext) -> Distance {
        ctx.config().reach_with(self.info.aoi, self.stride)
    }

    pub(super) const fn place(&mut self, position: Position) {
        self.info.position = position;
    }

    /// Steps to a position; returns the position before.
    pub(super) fn step(&mut self, position: Position, ctx: &PeerContext) -> Position {
        let before = std::mem::replace(&mut self.info.position, position);
        self.info.sequence += 1;
        let step = stride(before, position, self.info.aoi);
        // Shorter steps are covered by the buffer around the view.
        let long = ctx.config().buffer.millimetres() / 2 < step.millimetres();
        self.stride = if ctx.config().swept && long { step } else { Distance::ZERO };
        before
    }

    /// Returns whether the last step was so long that its receivers must be told where it began.
    pub fn made_long_step(&self) -> bool {
        self.stride != Distance::ZERO
    }

    /// Returns whether the last step, which began at `before`, was a leap.
    pub fn made_leap(&self, before: Position) -> bool {
        let leap = u64::from(self.info.aoi.millimetres()) * LEAP;
        leap.pow(2) < before.distance_squared(self.info.position)
    }

    /// Shrinks the view while more peers are seen than make a crowd, and widens it again otherwise. Ends every step.
    pub(super) fn adapt_view(&mut self, seen: usize, ctx: &PeerContext) {
        let passed = ctx.now().since(std::mem::replace(&mut self.stepped, ctx.now()));
        let Some(crowd) = ctx.config().crowd.map(|it| it as i64) else { return };
        let most = u64::from(self.widest.millimetres()) * 1_000;
        let least = (u64::from(ctx.config().aoi_min.millimetres()) * 1_000).min(most);
        // A long pause counts as one second, so that the view never jumps.
        let passed = passed.as_micros().min(1_000_000) as i64;
        // A tenth of the whole range per second for every full crowd above or below the limit: slow, so that views do
        // not swing back and forth.
        let change = (most - least) as i64 / 10 * (crowd - seen as i64) / crowd * passed / 1_000_000;
        self.fine = self.fine.saturating_add_signed(change).clamp(least, most);
        let aoi = Distance::new((self.fine / 1_000) as u32).unwrap_or(self.info.aoi);
        // The ends are announced exactly, however small the last change is.
        let at_an_end = self.fine == least || self.fine == most;
        let difference = aoi.millimetres().abs_diff(self.info.aoi.millimetres());
        if VIEW_CHANGE_MIN <= difference || at_an_end && aoi != self.info.aoi {
            self.info.aoi = aoi;
            self.changed = Some(ctx.now());
        }
    }

    /// Its view, if others may not know it yet.
    pub fn announced_view(&self, ctx: &PeerContext) -> Option<Distance> {
        self.changed.filter(|at| ctx.now().since(*at) < ANNOUNCED_FOR).map(|_| self.info.aoi)
    }
}

//! The local peer itself: where it is, how it moves, and how far it sees.

use crate::ctx::Ctx;
use crate::info::Info;
use machine::{Address, Span, Time};
use space::{Distance, Position};

/// A peer that is suddenly farther away than so many views has leapt, and looks for its place anew.
const LEAP: u64 = 4;

/// How far a peer sees is said with every step for so long after it has changed.
const SAID_FOR: Span = Span::from_secs(5);

/// A view changes by at least this much, in millimetres, or is not worth saying.
const NOTEWORTHY: u32 = 500;

/// How long a step was, of those long enough to be told, and at most a few views.
pub(super) fn stride(before: Position, after: Position, view: Distance) -> Distance {
    let step = before.distance_squared(after).isqrt().min(u64::from(view.millimetres()) * LEAP);
    Distance::new(step as u32).unwrap_or(view)
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Local {
    info: Info,
    /// When it moved last, and how far, if that was a long step.
    stepped: Time,
    stride: Distance,
    /// How far it would see if there were no crowd.
    widest: Distance,
    /// How far it sees, in thousandths of a millimetre, so that small changes add up.
    fine: u64,
    /// Since when it sees so far as it says.
    changed: Option<Time>,
}

impl Local {
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

    /// What it says about itself.
    pub const fn info(&self) -> &Info {
        &self.info
    }

    pub const fn address(&self) -> Address {
        self.info.address
    }

    pub const fn position(&self) -> Position {
        self.info.position
    }

    /// When it moved last.
    pub const fn stepped(&self) -> Time {
        self.stepped
    }

    /// How far newcomers are looked for around it: after a long step as far ahead as the next one.
    pub fn reach(&self, ctx: &Ctx) -> Distance {
        ctx.config().reach_with(self.info.aoi, self.stride)
    }

    pub(super) const fn place(&mut self, position: Position) {
        self.info.position = position;
    }

    /// Steps to a place; returns where it was.
    pub(super) fn step(&mut self, position: Position, ctx: &Ctx) -> Position {
        let before = std::mem::replace(&mut self.info.position, position);
        self.info.sequence += 1;
        let step = stride(before, position, self.info.aoi);
        let long = ctx.config().buffer.millimetres() / 2 < step.millimetres();
        self.stride = if ctx.config().swept && long { step } else { Distance::ZERO };
        before
    }

    /// Whether the last step was so long that its receivers must know where it began.
    pub fn has_stridden(&self) -> bool {
        self.stride != Distance::ZERO
    }

    /// Whether the last step, from there, was a leap.
    pub fn has_leapt(&self, before: Position) -> bool {
        let leap = u64::from(self.info.aoi.millimetres()) * LEAP;
        leap.pow(2) < before.distance_squared(self.info.position)
    }

    /// Sees less far if more peers are in view than a crowd has, and farther again when there are not; a step ends with this.
    pub(super) fn adapt_view(&mut self, seen: usize, ctx: &Ctx) {
        let passed = ctx.now().since(std::mem::replace(&mut self.stepped, ctx.now()));
        let Some(crowd) = ctx.config().crowd.map(|it| it as i64) else { return };
        let most = u64::from(self.widest.millimetres()) * 1_000;
        let least = (u64::from(ctx.config().aoi_min.millimetres()) * 1_000).min(most);
        let passed = passed.as_micros().min(1_000_000) as i64;
        // A tenth of the whole range per second, for every crowd too many.
        let change = (most - least) as i64 / 10 * (crowd - seen as i64) / crowd * passed / 1_000_000;
        self.fine = self.fine.saturating_add_signed(change).clamp(least, most);
        let aoi = Distance::new((self.fine / 1_000) as u32).unwrap_or(self.info.aoi);
        let at_an_end = self.fine == least || self.fine == most;
        let difference = aoi.millimetres().abs_diff(self.info.aoi.millimetres());
        if NOTEWORTHY <= difference || at_an_end && aoi != self.info.aoi {
            self.info.aoi = aoi;
            self.changed = Some(ctx.now());
        }
    }

    /// How far it sees, if others may not know yet.
    pub fn announced_view(&self, ctx: &Ctx) -> Option<Distance> {
        self.changed.filter(|at| ctx.now().since(*at) < SAID_FOR).map(|_| self.info.aoi)
    }
}

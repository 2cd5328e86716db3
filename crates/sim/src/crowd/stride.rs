//! One step, before it is rounded to whole millimetres.
//!
//! Only `+ − × ÷ √`, which every platform computes to the same bit.

use super::ground::Square;
use space::Position;
use std::ops::AddAssign;

/// A step as a vector in millimetres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Stride {
    pub(super) const NONE: Self = Self { x: 0.0, y: 0.0 };

    /// Towards `to`, `pace` long, but not beyond it.
    pub(super) fn towards(from: Position, to: Position, pace: f64) -> Self {
        let (dx, dy) = from.step_to(to);
        Self { x: dx.into(), y: dy.into() }.at_most(pace)
    }

    pub(super) fn length_squared(self) -> f64 {
        self.x * self.x + self.y * self.y
    }

    pub(super) fn scaled(self, factor: f64) -> Self {
        Self { x: self.x * factor, y: self.y * factor }
    }

    /// The same direction, not longer than `pace`.
    pub(super) fn at_most(self, pace: f64) -> Self {
        let length_squared = self.length_squared();
        if length_squared <= pace * pace {
            return self;
        }
        self.scaled(pace / length_squared.sqrt())
    }

    /// The position after this step from `from`, inside `square`. Cut to whole millimetres and not rounded, so that no
    /// walker is faster than allowed.
    pub(super) fn from(self, from: Position, square: Square) -> Position {
        square.clamp(i64::from(from.x()) + self.x as i64, i64::from(from.y()) + self.y as i64)
    }
}

impl AddAssign for Stride {
    fn add_assign(&mut self, other: Self) {
        self.x += other.x;
        self.y += other.y;
    }
}

//! The world in which a crowd walks, and squares in it.

use super::error::CrowdError;
use machine::{Rng, Span};
use space::{COORDINATE_MAX, Distance, Position};

/// The world: a square with a corner at the origin, and the speed of all walkers in it.
///
/// By default that of *VAST revisited*, section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// The width of the square, which is also its height.
    pub side: Distance,
    /// Walking speed in millimetres per second; not zero.
    pub speed: u32,
}

impl Default for Ground {
    fn default() -> Self {
        Self { side: Distance::of_metres(10_000), speed: 6_000 }
    }
}

impl Ground {
    pub(super) fn check(&self) -> Result<(), CrowdError> {
        let side = self.side.millimetres();
        if !(1..=COORDINATE_MAX.unsigned_abs()).contains(&side) {
            return Err(CrowdError::Side(side));
        }
        if self.speed == 0 {
            return Err(CrowdError::Speed);
        }
        Ok(())
    }

    pub(super) fn square(&self) -> Square {
        Square { low: 0, high: self.side.millimetres().into() }
    }

    /// The distance walked in `span`, in millimetres.
    pub(super) fn pace(&self, span: Span) -> f64 {
        f64::from(self.speed) * span.as_micros() as f64 / 1e6
    }
}

/// A square on the world's diagonal: both coordinates have the same range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Square {
    low: i64,
    high: i64,
}

impl Square {
    /// The square of this side in the middle; the side is not wider than the whole.
    pub(super) fn middle(self, side: Distance) -> Self {
        let low = (self.low + self.high - i64::from(side.millimetres())) / 2;
        Self { low, high: low + i64::from(side.millimetres()) }
    }

    pub(super) fn somewhere(self, rng: &mut Rng) -> Position {
        let mut coordinate = || rng.between(self.low, self.high);
        Position::saturating(coordinate(), coordinate())
    }

    /// A place at most `spread` from `place` in each direction, but inside.
    pub(super) fn near(self, place: Position, spread: Distance, rng: &mut Rng) -> Position {
        let spread = i64::from(spread.millimetres());
        let mut offset = || rng.between(-spread, spread);
        self.clamp(i64::from(place.x()) + offset(), i64::from(place.y()) + offset())
    }

    /// The place inside that is nearest to these coordinates.
    pub(super) fn clamp(self, x: i64, y: i64) -> Position {
        Position::saturating(x.clamp(self.low, self.high), y.clamp(self.low, self.high))
    }
}

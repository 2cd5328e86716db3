//! Places and distances in whole millimetres.

use postcard_schema::Schema;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The smallest coordinate, about -1074 km.
///
/// Differences of two coordinates fit an `i32` and products of two differences fit an `i64`, so the
/// hot paths are exact without wide arithmetic.
pub const COORDINATE_MIN: i32 = -(1 << 30);
/// The largest coordinate, about 1074 km.
pub const COORDINATE_MAX: i32 = (1 << 30) - 1;

const _: () = assert!(COORDINATE_MAX.checked_sub(COORDINATE_MIN).is_some());

/// The error for a number that is not finite or out of range as coordinate, distance or speed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{what} must lie between {low} and {high}, not {value}")]
pub struct OutOfRange {
    /// The quantity that was being made, with its unit.
    pub what: &'static str,
    /// The number that was given.
    pub value: f64,
    /// The least that is allowed.
    pub low: f64,
    /// The most that is allowed.
    pub high: f64,
}

impl OutOfRange {
    /// `value` as whole thousandths, rounded to the nearest, if it lies within `low` to `high`
    /// thousandths before rounding: otherwise a negative distance could round to none.
    /// NaN lies in no range.
    pub(crate) fn thousandths(what: &'static str, value: f64, low: i32, high: i32) -> Result<i32, Self> {
        let (low, high) = (f64::from(low) / 1e3, f64::from(high) / 1e3);
        if (low..=high).contains(&value) {
            return Ok((value * 1e3).round() as i32);
        }
        Err(Self { what, value, low, high })
    }
}

/// A place in the world, in millimetres, with both coordinates in range.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema,
)]
#[serde(try_from = "UncheckedPosition")]
pub struct Position {
    x: i32,
    y: i32,
}

/// A position as bytes have it: not yet known to lie in range.
#[derive(Deserialize)]
struct UncheckedPosition {
    x: i32,
    y: i32,
}

impl TryFrom<UncheckedPosition> for Position {
    type Error = OutOfRange;

    fn try_from(it: UncheckedPosition) -> Result<Self, OutOfRange> {
        Self::new(it.x, it.y)
    }
}

impl Position {
    /// The place where both axes cross.
    pub const ORIGIN: Self = Self { x: 0, y: 0 };

    /// The place at (`x`, `y`) millimetres.
    pub fn new(x: i32, y: i32) -> Result<Self, OutOfRange> {
        for value in [x, y] {
            if !(COORDINATE_MIN..=COORDINATE_MAX).contains(&value) {
                let (low, high) = (f64::from(COORDINATE_MIN), f64::from(COORDINATE_MAX));
                return Err(OutOfRange {
                    what: "a coordinate in millimetres",
                    value: f64::from(value),
                    low,
                    high,
                });
            }
        }
        Ok(Self { x, y })
    }

    /// The place at (`x`, `y`) metres, to the nearest millimetre. NaN and infinities are refused.
    pub fn from_metres(x: f64, y: f64) -> Result<Self, OutOfRange> {
        let checked = |metres| {
            OutOfRange::thousandths("a coordinate in metres", metres, COORDINATE_MIN, COORDINATE_MAX)
        };
        Ok(Self { x: checked(x)?, y: checked(y)? })
    }

    /// The place at (`x`, `y`) millimetres, or the nearest in range: a trajectory that leaves the range
    /// stops at its edge.
    pub fn saturating(x: i64, y: i64) -> Self {
        let clamped = |value: i64| value.clamp(i64::from(COORDINATE_MIN), i64::from(COORDINATE_MAX)) as i32;
        Self { x: clamped(x), y: clamped(y) }
    }

    /// Millimetres east of the origin.
    pub const fn x(self) -> i32 {
        self.x
    }

    /// Millimetres north of the origin.
    pub const fn y(self) -> i32 {
        self.y
    }

    /// The step from `self` to `other`, in millimetres; always fits.
    pub const fn step_to(self, other: Self) -> (i32, i32) {
        (other.x - self.x, other.y - self.y)
    }

    /// The squared distance to `other`, in square millimetres, exact.
    pub const fn distance_squared(self, other: Self) -> u64 {
        let (dx, dy) = self.step_to(other);
        dx.unsigned_abs() as u64 * dx.unsigned_abs() as u64
            + dy.unsigned_abs() as u64 * dy.unsigned_abs() as u64
    }

    /// True if `other` is at most `reach` away, exactly.
    pub const fn is_within(self, reach: Distance, other: Self) -> bool {
        self.distance_squared(other) <= reach.squared()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", f64::from(self.x) / 1e3, f64::from(self.y) / 1e3)
    }
}

/// A length in millimetres, at most `i32::MAX`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Schema,
)]
#[serde(try_from = "u32")]
pub struct Distance(u32);

impl TryFrom<u32> for Distance {
    type Error = OutOfRange;

    fn try_from(millimetres: u32) -> Result<Self, OutOfRange> {
        Self::new(millimetres)
    }
}

impl Distance {
    /// The longest distance, about 2147 km.
    pub const MAX: Self = Self(i32::MAX as u32);

    /// A distance of zero millimetres.
    pub const ZERO: Self = Self(0);

    /// `metres` whole metres, for constants.
    ///
    /// # Panics
    /// If that is more than fits; in a constant, the compiler says so.
    pub const fn of_metres(metres: u32) -> Self {
        assert!(metres <= i32::MAX as u32 / 1_000, "a distance has at most 2,147,483 metres");
        Self(metres * 1_000)
    }

    /// A distance of `millimetres` millimetres.
    pub fn new(millimetres: u32) -> Result<Self, OutOfRange> {
        if i32::try_from(millimetres).is_ok() {
            return Ok(Self(millimetres));
        }
        let (value, high) = (f64::from(millimetres), f64::from(i32::MAX));
        Err(OutOfRange { what: "a distance in millimetres", value, low: 0.0, high })
    }

    /// `metres` metres, to the nearest millimetre. NaN, infinities and negative numbers are refused.
    pub fn from_metres(metres: f64) -> Result<Self, OutOfRange> {
        OutOfRange::thousandths("a distance in metres", metres, 0, i32::MAX).map(|mm| Self(mm.unsigned_abs()))
    }

    /// The length in whole millimetres.
    pub const fn millimetres(self) -> u32 {
        self.0
    }

    /// The length in metres, for messages and drawings.
    pub fn metres(self) -> f64 {
        f64::from(self.0) / 1e3
    }

    /// The square of the length in square millimetres, exact.
    pub const fn squared(self) -> u64 {
        self.0 as u64 * self.0 as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        let beyond = [1_073_741.824, 1_073_741.823_4, -1_073_741.824_4, -1_073_741.825];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300_f64].into_iter().chain(beyond) {
            assert!(Position::from_metres(bad, 0.0).is_err(), "{bad}");
            assert!(Position::from_metres(0.0, bad).is_err(), "{bad}");
        }
        for bad in [i32::MIN, COORDINATE_MIN - 1, COORDINATE_MAX + 1, i32::MAX] {
            assert!(Position::new(bad, 0).is_err() && Position::new(0, bad).is_err(), "{bad}");
        }
        for bad in [f64::NAN, -0.001, -0.0004, -f64::MIN_POSITIVE, f64::INFINITY, 2_147_483.648] {
            assert!(Distance::from_metres(bad).is_err(), "{bad}");
        }
        assert!(Distance::new(u32::MAX).is_err());
        assert_eq!(
            Position::from_metres(f64::NAN, 0.0).unwrap_err().to_string(),
            "a coordinate in metres must lie between -1073741.824 and 1073741.823, not NaN"
        );
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        let low = Position::new(COORDINATE_MIN, COORDINATE_MIN).unwrap();
        let high = Position::new(COORDINATE_MAX, COORDINATE_MAX).unwrap();
        assert_eq!(low.step_to(high), (i32::MAX, i32::MAX));
        assert_eq!(low.distance_squared(high), 2 * (i32::MAX as u64).pow(2));
        assert!(!low.is_within(Distance::new(i32::MAX as u32).unwrap(), high));
        assert_eq!(
            Position::saturating(i64::MIN, i64::MAX),
            Position::new(COORDINATE_MIN, COORDINATE_MAX).unwrap()
        );
    }

    #[test]
    fn metres_round_to_the_nearest_millimetre() {
        assert_eq!(Position::from_metres(1.0004, -1.0006).unwrap(), Position::new(1_000, -1_001).unwrap());
        assert_eq!(Distance::from_metres(120.0).unwrap().millimetres(), 120_000);
        assert_eq!(Distance::from_metres(-0.0).unwrap(), Distance::ZERO);
        assert_eq!(Distance::from_metres(2_147_483.647).unwrap().millimetres(), i32::MAX as u32);
        let ends = Position::from_metres(-1_073_741.824, 1_073_741.823).unwrap();
        assert_eq!((ends.x(), ends.y()), (COORDINATE_MIN, COORDINATE_MAX));
    }
}

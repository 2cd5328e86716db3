//! Split lines: directed, through whole-millimetre points, exact.
//!
//! Every place has one side, the line itself belonging to its left, so that two zones never both own
//! a border and never both leave it to the other. Nothing here rounds.

use crate::{Distance, Position};
use thiserror::Error;

/// One side of a [`Line`], looking along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Left of the line, or on it.
    Left,
    /// Right of the line, never on it.
    Right,
}

/// A straight line without end, directed from one point to another.
///
/// The direction matters: places on the line belong to its left, so the reversed line gives them to
/// the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    first: Position,
    second: Position,
}

/// Two equal points, which no single line runs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a line needs two different points, not {0} twice: move one of them")]
pub struct SamePoint(pub Position);

impl Line {
    /// The line from `first` through `second`.
    pub fn through(first: Position, second: Position) -> Result<Self, SamePoint> {
        if first == second {
            return Err(SamePoint(first));
        }
        Ok(Self { first, second })
    }

    /// The point it comes from.
    pub const fn first(&self) -> Position {
        self.first
    }

    /// The point it leads through.
    pub const fn second(&self) -> Position {
        self.second
    }

    /// The same line, looked along the other way. What lies on it changes sides.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self { first: self.second, second: self.first }
    }

    /// The side that `place` is on.
    pub const fn side(&self, place: Position) -> Side {
        if 0 <= self.offset(place) { Side::Left } else { Side::Right }
    }

    /// The side on which the disc lies whole, without touching the line; `None` if it meets the line.
    pub fn disc_side(&self, centre: Position, radius: Distance) -> Option<Side> {
        // offset < 2^63, its square < 2^126; radius^2 < 2^62, length^2 < 2^63: all fit an i128.
        let offset = i128::from(self.offset(centre));
        let reach_squared = i128::from(radius.squared()) * i128::from(self.length_squared());
        (reach_squared < offset * offset).then(|| self.side(centre))
    }

    /// The distance of `place` from the line times the length of [`Line::step`], positive to the left.
    ///
    /// Steps are below 2^31, their products below 2^62, the difference below 2^63: an `i64` holds it.
    pub(crate) const fn offset(&self, place: Position) -> i64 {
        let (along_x, along_y) = self.step();
        let (x, y) = self.first.step_to(place);
        along_x as i64 * y as i64 - along_y as i64 * x as i64
    }

    /// From the first point to the second.
    pub(crate) const fn step(&self) -> (i32, i32) {
        self.first.step_to(self.second)
    }

    /// The square of the step's length, below 2^63.
    pub(crate) const fn length_squared(&self) -> u64 {
        self.first.distance_squared(self.second)
    }

    /// The factors `(a, b, c)` with `offset(x, y) = a x + b y + c`.
    ///
    /// `a` and `b` are below 2^31, `c` below 2^62.
    pub(crate) const fn equation(&self) -> (i64, i64, i64) {
        let (x, y) = self.step();
        let (a, b) = (-(y as i64), x as i64);
        (a, b, -(a * self.first.x() as i64 + b * self.first.y() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{COORDINATE_MAX, COORDINATE_MIN};
    use proptest::prelude::*;

    fn at(x: i32, y: i32) -> Position {
        Position::new(x, y).unwrap()
    }

    fn line(ax: i32, ay: i32, bx: i32, by: i32) -> Line {
        Line::through(at(ax, ay), at(bx, by)).unwrap()
    }

    #[test]
    fn the_line_itself_is_left() {
        let north = line(0, -3, 0, 5);
        assert_eq!(north.side(at(-1, 100)), Side::Left);
        assert_eq!(north.side(at(0, 100)), Side::Left);
        assert_eq!(north.side(at(1, 100)), Side::Right);
        assert_eq!(north.reversed().side(at(0, 100)), Side::Left);
        assert_eq!(north.reversed().side(at(-1, 100)), Side::Right);
    }

    #[test]
    fn one_point_is_no_line() {
        let refusal = Line::through(at(7, 8), at(7, 8)).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "a line needs two different points, not (0.007, 0.008) twice: move one of them"
        );
    }

    #[test]
    fn a_disc_that_touches_the_line_is_on_no_side() {
        let slanted = line(0, 0, 4, 3);
        let five = Distance::new(5).unwrap();
        assert_eq!(slanted.disc_side(at(-3, 4), five), None);
        assert_eq!(slanted.disc_side(at(-3, 5), five), Some(Side::Left));
        assert_eq!(slanted.disc_side(at(3, -4), five), None);
        assert_eq!(slanted.disc_side(at(3, -5), five), Some(Side::Right));
        assert_eq!(slanted.disc_side(at(8, 6), Distance::ZERO), None);
    }

    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        let (low, high) = (COORDINATE_MIN, COORDINATE_MAX);
        let across = line(low, low, high, high);
        assert_eq!(across.side(at(low, high)), Side::Left);
        assert_eq!(across.side(at(high, low)), Side::Right);
        assert_eq!(across.offset(at(high, low)), -(i64::from(i32::MAX).pow(2)));
        let farthest = Distance::new(i32::MAX as u32).unwrap();
        assert_eq!(across.disc_side(at(high, low), farthest), None);
        assert_eq!(line(low, low, low, high).disc_side(at(high, low), farthest), None);
    }

    fn anywhere() -> impl Strategy<Value = Position> {
        let coordinate = || {
            prop_oneof![COORDINATE_MIN..=COORDINATE_MAX, -20..20, Just(COORDINATE_MIN), Just(COORDINATE_MAX)]
        };
        (coordinate(), coordinate()).prop_map(|(x, y)| at(x, y))
    }

    proptest! {
        #[test]
        fn the_offset_is_the_cross_product(a in anywhere(), b in anywhere(), p in anywhere()) {
            prop_assume!(a != b);
            let line = Line::through(a, b).unwrap();
            let wide = |value: i32| i128::from(value);
            let exact = (wide(b.x()) - wide(a.x())) * (wide(p.y()) - wide(a.y()))
                - (wide(b.y()) - wide(a.y())) * (wide(p.x()) - wide(a.x()));
            prop_assert_eq!(i128::from(line.offset(p)), exact);
            let (ca, cb, cc) = line.equation();
            let by_equation = i128::from(ca) * wide(p.x()) + i128::from(cb) * wide(p.y()) + i128::from(cc);
            prop_assert_eq!(by_equation, exact);
            prop_assert_eq!(line.side(p) == Side::Left, 0 <= exact);
            prop_assert_eq!(line.reversed().side(p) == Side::Left, exact <= 0);
        }
    }
}

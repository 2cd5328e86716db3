//! Split lines: directed, through whole-millimetre points, exact.
//!
//! Every place has one side, the line itself belonging to its left, so that two zones never both own
//! a border and never both leave it to the other. Nothing here rounds.

use crate::{Distance, Position};
use std::hash::{Hash, Hasher};
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
/// the other side. Two lines are equal when they run along the same points in the same direction,
/// whichever two points they were given by: they part the world alike.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    first: Position,
    second: Position,
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.reduced_equation() == other.reduced_equation()
    }
}

impl Eq for Line {}

impl Hash for Line {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.reduced_equation().hash(state);
    }
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

    /// The first of the two points that gave the line.
    pub const fn first(&self) -> Position {
        self.first
    }

    /// The second of the two points that gave the line.
    pub const fn second(&self) -> Position {
        self.second
    }

    /// The same line in the other direction. Places on it change sides.
    #[must_use]
    pub const fn reversed(&self) -> Self {
        Self { first: self.second, second: self.first }
    }

    /// The side that `place` is on.
    pub const fn side(&self, place: Position) -> Side {
        // The line itself belongs to its left, so that each place has exactly one side.
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

    /// The step from the first point to the second.
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

    /// The equation in lowest terms: the same for all points that give the same directed line.
    fn reduced_equation(&self) -> (i64, i64, i64) {
        let (a, b, c) = self.equation();
        // c is a sum of multiples of a and b, so what divides those divides it too. The points
        // differ, so a and b are not both zero.
        let divisor = common_divisor(a.into(), b.into()) as i64;
        (a / divisor, b / divisor, c / divisor)
    }
}

/// The greatest number that divides both, never negative; zero only for two zeros.
pub(crate) fn common_divisor(mut one: i128, mut other: i128) -> i128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.abs()
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

    fn hash_of(line: &Line) -> u64 {
        let mut hasher = std::hash::DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn a_line_is_where_it_runs_whatever_its_points() {
        let north = line(5, 0, 5, 1);
        for same in [line(5, 0, 5, 2), line(5, 9, 5, 10), line(5, COORDINATE_MIN, 5, COORDINATE_MAX)] {
            assert_eq!((same, hash_of(&same)), (north, hash_of(&north)));
        }
        assert_ne!(north, north.reversed());
        assert_ne!(north, line(6, 0, 6, 1));
        assert_ne!(north, line(5, 0, 6, 1));
        let (low, high) = (COORDINATE_MIN, COORDINATE_MAX);
        assert_eq!(line(low, low, high, high), line(0, 0, 1, 1));
        assert_ne!(line(low, low, high, high), line(low, low + 1, high, high));
        assert_ne!(line(low, low, high, high), line(high, high, low, low));
    }

    fn anywhere() -> impl Strategy<Value = Position> {
        let coordinate = || {
            prop_oneof![COORDINATE_MIN..=COORDINATE_MAX, -20..20, Just(COORDINATE_MIN), Just(COORDINATE_MAX)]
        };
        (coordinate(), coordinate()).prop_map(|(x, y)| at(x, y))
    }

    proptest! {
        /// Points further along the same line, as many steps ahead or behind as the range allows.
        #[test]
        fn equal_lines_part_the_plane_alike(a in anywhere(), x in -50..50i32, y in -50..50i32, far in 1..20i32) {
            prop_assume!((x, y) != (0, 0));
            let place = |steps: i32| Position::new(a.x() + steps * x, a.y() + steps * y);
            let (Ok(near), Ok(next), Ok(behind)) = (place(1), place(far + 1), place(-far)) else {
                return Ok(());
            };
            let one = Line::through(a, near).unwrap();
            for same in [(behind, a), (a, next), (near, next), (behind, next)] {
                let same = Line::through(same.0, same.1).unwrap();
                prop_assert_eq!((same, hash_of(&same)), (one, hash_of(&one)));
                prop_assert_ne!(same.reversed(), one);
            }
        }

        #[test]
        fn lines_are_equal_when_all_points_agree(a in anywhere(), b in anywhere(), c in anywhere(), d in anywhere()) {
            prop_assume!(a != b && c != d);
            let (one, other) = (Line::through(a, b).unwrap(), Line::through(c, d).unwrap());
            let (x, y) = one.step();
            let ahead = i128::from(x) * i128::from(other.step().0) + i128::from(y) * i128::from(other.step().1);
            let same = one.offset(c) == 0 && one.offset(d) == 0 && 0 < ahead;
            prop_assert_eq!(one == other, same);
        }

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

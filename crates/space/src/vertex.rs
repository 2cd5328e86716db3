//! The crossing of two split lines: exact fractions of millimetres.
//!
//! Lines at any angle meet between the whole millimetres. A rounded corner would lie off its own
//! lines and make a gap or an overlap, so corners are kept as fractions and compared without rounding.
//! Every corner comes from two lines through whole points, never from other corners, so the numbers
//! do not grow from cut to cut.
//!
//! # Widths
//!
//! | what | below |
//! |---|---|
//! | a line's factors `a`, `b`; `c` | 2^31; 2^62 |
//! | `w` | 2^63 |
//! | `x`, `y` (a corner lies within the coordinate range, so `x/w` is at most 2^30) | 2^93 |
//! | `a x + b y + c w` | 2^124 + 2^124 + 2^125 = 2^126 |
//! | its square | 2^252 |
//! | `x - px w`, for a place `p` | 2^94 |
//! | `x1 w2 - x2 w1` | 2^157 |

use crate::line::common_divisor;
use crate::{COORDINATE_MAX, COORDINATE_MIN, Distance, Line, Position};
use bnum::cast::As;
use bnum::types::{I256, U256, U512};
use std::cmp::Ordering;

/// The point (`x / w`, `y / w`), in lowest terms with `w` positive: equal points are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Vertex {
    x: i128,
    y: i128,
    w: i128,
}

impl From<Position> for Vertex {
    fn from(place: Position) -> Self {
        Self { x: place.x().into(), y: place.y().into(), w: 1 }
    }
}

impl Vertex {
    /// The crossing of two lines. They must not be parallel, and must cross within the coordinate range.
    pub(crate) fn crossing(one: &Line, other: &Line) -> Self {
        Self::anywhere(one, other).expect("parallel lines do not cross")
    }

    /// The crossing of two lines, if it lies within the coordinate range.
    pub(crate) fn checked_crossing(one: &Line, other: &Line) -> Option<Self> {
        let at = Self::anywhere(one, other)?;
        // w < 2^63 times 2^30 fits.
        let range = i128::from(COORDINATE_MIN) * at.w..=i128::from(COORDINATE_MAX) * at.w;
        (range.contains(&at.x) && range.contains(&at.y)).then_some(at)
    }

    /// The crossing of two lines, unless they are parallel. Beyond the coordinate range, `x` and `y` may
    /// be too wide for anything but comparing them.
    fn anywhere(one: &Line, other: &Line) -> Option<Self> {
        let [(a1, b1, c1), (a2, b2, c2)] = [one, other].map(|line| {
            let (a, b, c) = line.equation();
            (i128::from(a), i128::from(b), i128::from(c))
        });
        let (x, y, w) = (b1 * c2 - b2 * c1, c1 * a2 - c2 * a1, a1 * b2 - a2 * b1);
        // Parallel lines have w = 0, and so a divisor of zero.
        let divisor = w.signum() * common_divisor(common_divisor(x, y), w);
        (divisor != 0).then(|| Self { x: x / divisor, y: y / divisor, w: w / divisor })
    }

    /// [`Line::offset`] of this point, times `w`: its sign says on which side the point lies.
    pub(crate) fn offset(&self, line: &Line) -> i128 {
        let (a, b, c) = line.equation();
        i128::from(a) * self.x + i128::from(b) * self.y + i128::from(c) * self.w
    }

    /// True if it is at most `reach` away from `line`.
    pub(crate) fn is_near_line(&self, line: &Line, reach: Distance) -> bool {
        // 252 bits on the left, 62 + 63 + 126 = 251 on the right.
        let offset: U256 = self.offset(line).unsigned_abs().as_();
        let w: U256 = self.w.as_();
        offset * offset <= reach.squared().as_::<U256>() * line.length_squared().as_::<U256>() * w * w
    }

    /// True if it is at most `reach` away from `place`.
    pub(crate) fn is_near_place(&self, place: Position, reach: Distance) -> bool {
        // Squares of 188 bits each; 62 + 126 = 188 on the right.
        let [dx, dy] = self.steps_from(place).map(|step| step.unsigned_abs().as_::<U256>());
        let w: U256 = self.w.as_();
        dx * dx + dy * dy <= reach.squared().as_::<U256>() * w * w
    }

    /// True if it is at most `reach` away from `other`.
    pub(crate) fn is_near(&self, other: &Self, reach: Distance) -> bool {
        // Differences of 157 bits, squares of 314; 62 + 252 = 314 on the right.
        let [dx, dy] = [(self.x, other.x), (self.y, other.y)].map(|(mine, theirs)| {
            let step =
                mine.as_::<I256>() * other.w.as_::<I256>() - theirs.as_::<I256>() * self.w.as_::<I256>();
            step.unsigned_abs().as_::<U512>()
        });
        let w = self.w.as_::<U512>() * other.w.as_::<U512>();
        dx * dx + dy * dy <= reach.squared().as_::<U512>() * w * w
    }

    /// The order of this point and `place` along `line`: less if this point comes first.
    pub(crate) fn order_along(&self, line: &Line, place: Position) -> Ordering {
        // Steps of 94 bits times 31, two of them: 126.
        let [dx, dy] = self.steps_from(place);
        let (x, y) = line.step();
        (dx * i128::from(x) + dy * i128::from(y)).cmp(&0)
    }

    /// The order of this point and `other` along `line`: less if this point comes first.
    pub(crate) fn compare_along(&self, other: &Self, line: &Line) -> Ordering {
        // 93 + 31 + 1 = 125 bits, times the other's 63: 188.
        let (x, y) = line.step();
        let advance = |at: &Self| (i128::from(x) * at.x + i128::from(y) * at.y).as_::<I256>();
        (advance(self) * other.w.as_::<I256>()).cmp(&(advance(other) * self.w.as_::<I256>()))
    }

    /// The nearest floats, for drawing and planning; never for ownership.
    pub(crate) fn to_f64(self) -> [f64; 2] {
        [self.x as f64 / self.w as f64, self.y as f64 / self.w as f64]
    }

    /// The whole place at or next below it on both axes.
    pub(crate) fn floor(&self) -> Position {
        Position::saturating(self.x.div_euclid(self.w) as i64, self.y.div_euclid(self.w) as i64)
    }

    /// The whole place at or next above it on both axes.
    pub(crate) fn ceil(&self) -> Position {
        let up = |value: i128| -((-value).div_euclid(self.w)) as i64;
        Position::saturating(up(self.x), up(self.y))
    }

    /// The steps from `place` to here, times `w`.
    fn steps_from(&self, place: Position) -> [i128; 2] {
        [self.x - i128::from(place.x()) * self.w, self.y - i128::from(place.y()) * self.w]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ax: i32, ay: i32, bx: i32, by: i32) -> Line {
        Line::through(Position::new(ax, ay).unwrap(), Position::new(bx, by).unwrap()).unwrap()
    }

    fn mm(millimetres: u32) -> Distance {
        Distance::new(millimetres).unwrap()
    }

    #[test]
    fn one_point_has_one_value_however_it_was_made() {
        let half = Vertex::crossing(&line(0, 0, 1, 1), &line(0, 1, 1, 0));
        assert_eq!(half, Vertex { x: 1, y: 1, w: 2 });
        assert_eq!(half, Vertex::crossing(&line(9, -8, -8, 9), &line(-5, -5, -7, -7)));
        let whole = Vertex::crossing(&line(0, 4, 9, 4), &line(-3, 0, -3, 2));
        assert_eq!(whole, Position::new(-3, 4).unwrap().into());
        assert_eq!(Vertex::crossing(&line(0, 0, 5, 0), &line(0, 0, 0, 5)), Position::ORIGIN.into());
    }

    #[test]
    fn rounding_goes_outwards_both_ways() {
        let between = Vertex { x: -1, y: 3, w: 2 };
        assert_eq!(between.floor(), Position::new(-1, 1).unwrap());
        assert_eq!(between.ceil(), Position::new(0, 2).unwrap());
        let whole = Vertex { x: -4, y: 3, w: 1 };
        assert_eq!(
            (whole.floor(), whole.ceil()),
            (Position::new(-4, 3).unwrap(), Position::new(-4, 3).unwrap())
        );
    }

    /// Nearly equal slopes across the whole range give the largest numbers that can occur. Debug
    /// arithmetic panics on overflow, bnum's too.
    #[test]
    fn the_ends_of_the_range_do_not_overflow() {
        let (low, high) = (COORDINATE_MIN, COORDINATE_MAX);
        let lines = [
            line(low, low, high, high),
            line(low, low + 1, high, high - 1),
            line(low, high, high, low),
            line(low + 1, high, high, low),
            line(high, high, low, low + 1),
            line(low, low, low + 1, high),
            line(high, low, low, high - 1),
        ];
        let all: Vec<Vertex> = lines
            .iter()
            .enumerate()
            .flat_map(|(i, one)| lines[i + 1..].iter().map(move |other| (one, other)))
            .filter_map(|(one, other)| Vertex::checked_crossing(one, other))
            .collect();
        assert!(5 < all.len());
        assert!(all.contains(&Position::new(low, low).unwrap().into()), "the lowest corner is one of them");
        let farthest = mm(i32::MAX as u32);
        let corner = Position::new(high, low).unwrap();
        for one in &all {
            for line in &lines {
                assert_eq!(one.is_near_line(line, Distance::ZERO), one.offset(line) == 0);
                one.is_near_line(line, farthest);
                one.order_along(line, corner);
                for other in &all {
                    assert_eq!(one.compare_along(other, line), other.compare_along(one, line).reverse());
                    one.is_near(other, farthest);
                }
            }
            one.is_near_place(corner, farthest);
            assert!(one.is_near(one, Distance::ZERO));
        }
    }

    #[test]
    fn distances_are_exact() {
        // (1/3, 0) is 4 + 2/3 from (5, 0) and 1/3 from the y axis.
        let third = Vertex { x: 1, y: 0, w: 3 };
        let five = Position::new(5, 0).unwrap();
        assert!(third.is_near_place(five, mm(5)) && !third.is_near_place(five, mm(4)));
        assert!(third.is_near_line(&line(0, 0, 0, 7), mm(1)));
        assert!(!third.is_near_line(&line(0, 0, 0, 7), Distance::ZERO));
        let far = Vertex { x: 10, y: 0, w: 3 };
        assert!(third.is_near(&far, mm(3)) && !third.is_near(&far, mm(2)));
        assert_eq!(third.compare_along(&far, &line(0, 0, 3, 1)), Ordering::Less);
        assert_eq!(third.order_along(&line(3, 0, 0, 0), Position::ORIGIN), Ordering::Less);
    }
}

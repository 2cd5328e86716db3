//! Borders of Voronoi regions, exact.
//!
//! A border is the part of the bisector between a site and a neighbour that no third site is nearer to.
//! With the site as origin and the neighbour at `n`, the bisector is `n / 2 + t m`, `m` being `n` turned
//! left by a quarter. A third site at `p` ends it at `t = p·(p - n) / (2 n×p)`. So a border is a vector
//! and two fractions, and a corner is never written down in coordinates, which would be twice as wide.
//!
//! # Widths
//!
//! With L = 2^31 - 1, the longest step along an axis:
//!
//! | what | at most |
//! |---|---|
//! | a product `a·b` of two steps; a squared distance | 2 L² < 2^63 |
//! | `a×b`, twice the area of a triangle of three places | L² < 2^62 |
//! | `gap`: how much farther the site is from a place than the neighbour, in squares | 2 L² |
//! | `over`, `under` of a fraction | 2 L² |
//! | `over |n|² - foot under` | 6 L⁴ < 2^127 |
//! | four times its square, plus `gap² under²` | 160 L⁸ < 2^256 |

use crate::{Distance, Position};
use bnum::cast::As;
use bnum::types::U256;

/// A position along a bisector, in lengths of the step between its two sites: `over / under`, `under` positive.
#[derive(Clone, Copy, Debug)]
struct BisectorFraction {
    over: i64,
    under: i64,
}

/// The border of `site`'s region with `neighbour`'s.
#[derive(Clone, Copy, Debug)]
pub(super) struct VoronoiBorder {
    site: Position,
    neighbour: Position,
    /// Its ends, as seen from the site; `None` where it goes on for ever.
    right: Option<BisectorFraction>,
    left: Option<BisectorFraction>,
}

/// A border's bisector, as seen from a circle's centre.
struct BisectorView {
    gap: i64,
    /// The centre's foot on the bisector is `foot / length_squared` along.
    foot: i64,
    length_squared: i64,
}

impl VoronoiBorder {
    /// `right` and `left` are the third sites that end it, as seen from `site` looking at `neighbour`.
    pub(super) fn new(
        site: Position,
        neighbour: Position,
        right: Option<Position>,
        left: Option<Position>,
    ) -> Self {
        let end = |third| BisectorFraction::end(site.step_to(neighbour), site.step_to(third));
        Self { site, neighbour, right: right.map(end), left: left.map(end) }
    }

    /// True if `place` is nearer to the neighbour than to the site.
    pub(super) fn is_crossed(&self, place: Position) -> bool {
        self.neighbour.distance_squared(place) < self.site.distance_squared(place)
    }

    /// True if some point of it is at most `radius` from `centre`.
    pub(super) fn meets(&self, centre: Position, radius: Distance) -> bool {
        let view = self.view(centre);
        if !view.is_line_within(radius) {
            return false;
        }
        match (self.right, self.left) {
            (Some(right), _) if view.is_foot_before(right) => view.is_within(right, radius),
            (_, Some(left)) if view.is_foot_after(left) => view.is_within(left, radius),
            _ => true,
        }
    }

    /// True if its left end lies more than `radius` from `centre`, or does not exist.
    pub(super) fn ends_beyond(&self, centre: Position, radius: Distance) -> bool {
        self.left.is_none_or(|left| !self.view(centre).is_within(left, radius))
    }

    fn view(&self, centre: Position) -> BisectorView {
        let (site, neighbour) = (self.site.distance_squared(centre), self.neighbour.distance_squared(centre));
        BisectorView {
            gap: site as i64 - neighbour as i64,
            foot: cross(self.site.step_to(self.neighbour), self.site.step_to(centre)),
            length_squared: self.site.distance_squared(self.neighbour) as i64,
        }
    }
}

impl BisectorFraction {
    /// The point where the site at `third` ends the bisector between the origin and `neighbour`.
    fn end(neighbour: (i32, i32), third: (i32, i32)) -> Self {
        let (over, under) = (dot(third, third) - dot(third, neighbour), 2 * cross(neighbour, third));
        if under < 0 { Self { over: -over, under: -under } } else { Self { over, under } }
    }
}

impl BisectorView {
    fn is_line_within(&self, radius: Distance) -> bool {
        square(self.gap) <= 4 * u128::from(radius.squared()) * u128::from(self.length_squared.unsigned_abs())
    }

    fn is_foot_before(&self, end: BisectorFraction) -> bool {
        0 < self.past_foot(end)
    }

    fn is_foot_after(&self, end: BisectorFraction) -> bool {
        self.past_foot(end) < 0
    }

    /// By how much the end lies farther along than the foot, times both of their denominators.
    fn past_foot(&self, end: BisectorFraction) -> i128 {
        i128::from(end.over) * i128::from(self.length_squared) - i128::from(self.foot) * i128::from(end.under)
    }

    /// True if the bisector's point at `end` is at most `radius` away: by Pythagoras, from the centre to
    /// its foot and from there along.
    fn is_within(&self, end: BisectorFraction, radius: Distance) -> bool {
        let wide = |value: u128| value.as_::<U256>();
        let (across, along) = (wide(square(self.gap)), wide(self.past_foot(end).unsigned_abs()));
        let (under, length) = (wide(square(end.under)), wide(self.length_squared.unsigned_abs().into()));
        let four = wide(4);
        across * under + four * along * along <= four * wide(radius.squared().into()) * length * under
    }
}

/// True if the four places lie on one circle; on one line counts too.
pub(super) fn are_cocircular(origin: Position, places: [Position; 3]) -> bool {
    let [a, b, c] = places.map(|place| origin.step_to(place));
    let term = |one, other, third| i128::from(dot(one, one)) * i128::from(cross(other, third));
    // Three terms of 2 L² L² each: below 2^127.
    term(a, b, c) + term(b, c, a) + term(c, a, b) == 0
}

fn dot(one: (i32, i32), other: (i32, i32)) -> i64 {
    i64::from(one.0) * i64::from(other.0) + i64::from(one.1) * i64::from(other.1)
}

fn cross(one: (i32, i32), other: (i32, i32)) -> i64 {
    i64::from(one.0) * i64::from(other.1) - i64::from(one.1) * i64::from(other.0)
}

fn square(value: i64) -> u128 {
    u128::from(value.unsigned_abs()) * u128::from(value.unsigned_abs())
}

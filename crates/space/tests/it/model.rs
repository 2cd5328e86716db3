//! Regions as plain lists of half-planes, never simplified, and distances by trying every point that
//! could be the nearest. Slow, wide and separate from the code under test.

use bnum::cast::As;
use bnum::types::{I256, I512};
use space::{Distance, Position};

/// The places with `0 <= a x + b y + c`, or `0 <` if strict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelHalfPlane {
    a: I256,
    b: I256,
    c: I256,
    strict: bool,
}

/// A point (x / w, y / w), w positive, not in lowest terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelPoint {
    x: I256,
    y: I256,
    w: I256,
}

fn wide(value: i32) -> I256 {
    value.as_()
}

impl ModelHalfPlane {
    /// Left of the way from `from` to `to`, with the line itself.
    pub(crate) fn left(from: Position, to: Position) -> Self {
        let (fx, fy, tx, ty) = (wide(from.x()), wide(from.y()), wide(to.x()), wide(to.y()));
        Self { a: fy - ty, b: tx - fx, c: fx * ty - fy * tx, strict: false }
    }

    /// Right of it, without the line.
    pub(crate) fn right(from: Position, to: Position) -> Self {
        Self { strict: true, ..Self::left(to, from) }
    }

    /// At most as far from `site` as from `other`, which is elsewhere.
    pub(crate) fn nearer(site: Position, other: Position) -> Self {
        let (sx, sy, ox, oy) = (wide(site.x()), wide(site.y()), wide(other.x()), wide(other.y()));
        let two = wide(2);
        let c = ox * ox + oy * oy - sx * sx - sy * sy;
        Self { a: two * (sx - ox), b: two * (sy - oy), c, strict: false }
    }

    /// True if one can go along `line` for ever, one way or the other, without leaving.
    fn follows(&self, line: &Self, back: bool) -> bool {
        let along = self.b * line.a - self.a * line.b;
        if back { along <= wide(0) } else { wide(0) <= along }
    }

    /// True if the half-plane, or its closure, holds `at`.
    fn holds(&self, at: &ModelPoint, closed: bool) -> bool {
        let value = self.a * at.x + self.b * at.y + self.c * at.w;
        wide(0) < value || value == wide(0) && (closed || !self.strict)
    }

    fn crossing(&self, other: &Self) -> Option<ModelPoint> {
        let w = self.a * other.b - other.a * self.b;
        let x = self.b * other.c - other.b * self.c;
        let y = self.c * other.a - other.c * self.a;
        if w == wide(0) {
            return None;
        }
        Some(if w < wide(0) { ModelPoint { x: -x, y: -y, w: -w } } else { ModelPoint { x, y, w } })
    }

    /// True if `at` lies inside, off the line.
    fn holds_inside(&self, at: &ModelPoint) -> bool {
        wide(0) < self.a * at.x + self.b * at.y + self.c * at.w
    }

    /// The point of the line nearest to `at`.
    fn foot(&self, at: &ModelPoint) -> ModelPoint {
        let squared = self.a * self.a + self.b * self.b;
        let value = self.a * at.x + self.b * at.y + self.c * at.w;
        ModelPoint {
            x: at.x * squared - self.a * value,
            y: at.y * squared - self.b * value,
            w: at.w * squared,
        }
    }
}

impl From<Position> for ModelPoint {
    fn from(place: Position) -> Self {
        Self { x: wide(place.x()), y: wide(place.y()), w: wide(1) }
    }
}

impl ModelPoint {
    fn is_within(&self, reach: Distance, other: &Self) -> bool {
        let long = |value: I256| value.as_::<I512>();
        let dx = long(self.x) * long(other.w) - long(other.x) * long(self.w);
        let dy = long(self.y) * long(other.w) - long(other.y) * long(self.w);
        let w = long(self.w) * long(other.w);
        dx * dx + dy * dy <= reach.squared().as_::<I512>() * w * w
    }
}

/// A convex piece: what all its half-planes hold.
#[derive(Clone, Debug)]
pub(crate) struct ModelPiece(pub(crate) Vec<ModelHalfPlane>);

impl ModelPiece {
    /// The inside of these corners, counterclockwise, with the whole edge.
    pub(crate) fn bounded(corners: &[Position]) -> Self {
        let next = corners.iter().cycle().skip(1);
        Self(corners.iter().zip(next).map(|(&from, &to)| ModelHalfPlane::left(from, to)).collect())
    }

    pub(crate) fn and(&self, side: ModelHalfPlane) -> Self {
        Self(self.0.iter().copied().chain([side]).collect())
    }

    pub(crate) fn owns(&self, place: Position) -> bool {
        self.0.iter().all(|side| side.holds(&place.into(), false))
    }

    fn covers(&self, at: &ModelPoint) -> bool {
        self.0.iter().all(|side| side.holds(at, true))
    }

    /// Every point where two edges cross and that belongs to the closed piece.
    fn corners(&self) -> Vec<ModelPoint> {
        let pairs =
            self.0.iter().enumerate().flat_map(|(i, one)| self.0[..i].iter().map(move |it| (one, it)));
        pairs.filter_map(|(one, other)| one.crossing(other)).filter(|at| self.covers(at)).collect()
    }

    /// True if the closed piece comes within `reach` of the point: itself, its feet on the lines and the
    /// corners are the only points that can be nearest.
    fn is_near(&self, reach: Distance, at: &ModelPoint) -> bool {
        let feet = self.0.iter().map(|side| side.foot(at));
        let mut candidates = feet.chain([*at]).filter(|it| self.covers(it)).chain(self.corners());
        candidates.any(|it| it.is_within(reach, at))
    }

    pub(crate) fn meets_disc(&self, centre: Position, radius: Distance) -> bool {
        self.is_near(radius, &centre.into())
    }

    /// True if some of the closed piece, which must not be empty, lies outside the disc.
    pub(crate) fn reaches_beyond(&self, centre: Position, radius: Distance) -> bool {
        let way_out = |line, back| self.0.iter().all(|side| side.follows(line, back));
        self.0.is_empty()
            || self.0.iter().any(|line| way_out(line, false) || way_out(line, true))
            || self.corners().iter().any(|it| !it.is_within(radius, &centre.into()))
    }

    pub(crate) fn is_within(&self, reach: Distance, other: &Self) -> bool {
        let both = Self([self.0.as_slice(), &other.0].concat());
        !both.corners().is_empty()
            || self.corners().iter().any(|corner| other.is_near(reach, corner))
            || other.corners().iter().any(|corner| self.is_near(reach, corner))
    }
}

/// True if the line through two places has some of these pieces, which make up one region, on either side: a convex
/// piece lies on a side of a line if a corner does.
pub(crate) fn are_crossed(pieces: &[ModelPiece], from: Position, to: Position) -> bool {
    let corners: Vec<_> = pieces.iter().flat_map(ModelPiece::corners).collect();
    let sides = [ModelHalfPlane::left(from, to), ModelHalfPlane::left(to, from)];
    sides.iter().all(|side| corners.iter().any(|at| side.holds_inside(at)))
}

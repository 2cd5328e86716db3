//! Convex regions with exact edges.
//!
//! A region is the set of points inside all of its edges. An edge made by a split belongs to the region on its
//! left only, a corner to one region only, so the parts of a world cover it without gap or overlap.
//! Only whole places have owners; distances are taken to the closed region, edges and corners
//! included, so that a near region is never missed.
//!
//! Nothing here rounds, except functions that say "for drawing".

use crate::vertex::Vertex;
use crate::{CORNERS_MAX, Distance, Line, Position, Side};
use std::cmp::Ordering;
use thiserror::Error;

/// A convex region: the bounds of a world, or the part of one that some cuts left over.
///
/// Two are equal when they own the same points, those of their edges included.
#[derive(Clone, Debug)]
pub struct Polygon {
    /// Counterclockwise, no two on one line: the fewest that describe the region.
    edges: Vec<Edge>,
}

impl PartialEq for Polygon {
    fn eq(&self, other: &Self) -> bool {
        // The list of edges may begin at any corner: a region cut from a larger one begins elsewhere.
        let begin = self.edges.first().and_then(|first| other.edges.iter().position(|it| it == first));
        let (ahead, behind) = other.edges.split_at(begin.unwrap_or_default());
        self.edges.iter().eq(behind.iter().chain(ahead))
    }
}

impl Eq for Polygon {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    /// The start of the edge; it ends where the next one starts.
    start: Vertex,
    /// The region lies on its left.
    line: Line,
    /// Closed if the region owns the places along the edge, its ends aside.
    rim: Rim,
    /// Closed if the region owns the start of the edge. A corner may lie on a border that only touches the region
    /// there, so this does not follow from the two edges that meet in it.
    corner: Rim,
}

/// The ownership of a piece of an edge: closed if the region owns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rim {
    Open,
    Closed,
}

/// The reason why some corners make no region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PolygonError {
    /// Too few or too many corners.
    #[error("a region needs 3 to {CORNERS_MAX} corners, not {0}: add or leave out some")]
    Corners(usize),
    /// A corner that is doubled, or not on the left of some side.
    #[error(
        "the corner {0} is not left of all other sides: list the corners of a convex region once each, \
         counterclockwise, and none on the line between two others"
    )]
    NotConvex(Position),
}

impl Polygon {
    /// The region with these corners, counterclockwise. It owns its whole edge.
    pub fn new(corners: &[Position]) -> Result<Self, PolygonError> {
        if !(3..=CORNERS_MAX).contains(&corners.len()) {
            return Err(PolygonError::Corners(corners.len()));
        }
        let edges = (0..corners.len()).map(|index| bounding_edge(corners, index));
        Ok(Self { edges: edges.collect::<Result<_, _>>()? })
    }

    /// The closed region on the left of all these lines, given counterclockwise; `None` if they go
    /// around no region, or some line is no side of it.
    pub(crate) fn from_lines(lines: &[Line]) -> Option<Self> {
        let before = lines.iter().cycle().skip(lines.len().checked_sub(1)?);
        let edges = before.zip(lines).map(|(before, &line)| {
            let start = Vertex::checked_crossing(before, &line)?;
            Some(Edge { start, line, rim: Rim::Closed, corner: Rim::Closed })
        });
        let polygon = Self { edges: edges.collect::<Option<_>>()? };
        polygon.is_convex().then_some(polygon)
    }

    /// The upright rectangle with these opposite corners: `low` south-west, `high` north-east.
    pub fn rectangle(low: Position, high: Position) -> Result<Self, PolygonError> {
        Self::new(&[low, at(high.x(), low.y()), high, at(low.x(), high.y())])
    }

    /// True if the region owns `place`.
    pub fn contains(&self, place: Position) -> bool {
        let mut touched = None;
        for (index, edge) in self.edges.iter().enumerate() {
            match edge.line.offset(place).cmp(&0) {
                Ordering::Less => return false,
                Ordering::Equal => touched = Some(index),
                Ordering::Greater => (),
            }
        }
        touched.is_none_or(|index| self.rim_at(index, place) == Rim::Closed)
    }

    /// The parts on the left and on the right of `line`; `None` unless both have an area.
    ///
    /// The left part owns the points on the line, as far as this region owned them.
    pub fn cut(&self, line: &Line) -> Option<(Self, Self)> {
        let side = |wanted| self.edges.iter().any(|edge| edge.start.offset(line).cmp(&0) == wanted);
        let both = side(Ordering::Greater) && side(Ordering::Less);
        both.then(|| (self.part(*line, Rim::Closed), self.part(line.reversed(), Rim::Open)))
    }

    /// True if the closed disc meets the closed region.
    pub fn meets_disc(&self, centre: Position, radius: Distance) -> bool {
        let mut inside = true;
        for edge in &self.edges {
            if edge.line.offset(centre) < 0 {
                if edge.line.disc_side(centre, radius).is_some() {
                    return false;
                }
                inside = false;
            }
        }
        // The nearest point of a convex region lies on an edge that the centre is outside of.
        let mut outer = self.segments().filter(|(edge, _)| edge.line.offset(centre) < 0);
        inside || outer.any(|(edge, end)| edge.is_near_place(end, centre, radius))
    }

    /// True if some point of the closed region is at most `reach` away from some point of the other.
    pub fn is_within(&self, reach: Distance, other: &Self) -> bool {
        // The shortest way between two disjoint convex regions starts or ends in a corner.
        !(self.is_apart_from(other) || other.is_apart_from(self))
            || self.has_corner_near(reach, other)
            || other.has_corner_near(reach, self)
    }

    /// The smallest upright rectangle of whole places around the region: its south-west and north-east
    /// corners.
    pub fn bounding_box(&self) -> (Position, Position) {
        let floors = self.edges.iter().map(|edge| edge.start.floor());
        let ceils = self.edges.iter().map(|edge| edge.start.ceil());
        let least = floors.reduce(|a, b| at(a.x().min(b.x()), a.y().min(b.y())));
        let most = ceils.reduce(|a, b| at(a.x().max(b.x()), a.y().max(b.y())));
        least.zip(most).expect("a region has corners")
    }

    /// The corners in millimetres, counterclockwise, rounded: for drawing.
    pub fn vertices_f64(&self) -> impl ExactSizeIterator<Item = [f64; 2]> {
        self.edges.iter().map(|edge| edge.start.to_f64())
    }

    /// The area in square millimetres, rounded: for drawing and statistics.
    pub fn area_f64(&self) -> f64 {
        let corners: Vec<_> = self.vertices_f64().collect();
        // Relative to a corner: far from the origin, products of coordinates would lose their last digits.
        let [ox, oy] = corners[0];
        let twice = corners.windows(2).map(|pair| {
            let [[ax, ay], [bx, by]] = [pair[0], pair[1]];
            (ax - ox) * (by - oy) - (ay - oy) * (bx - ox)
        });
        twice.sum::<f64>() / 2.0
    }

    /// The same region, owning its whole edge.
    pub(crate) fn closed(mut self) -> Self {
        for edge in &mut self.edges {
            (edge.rim, edge.corner) = (Rim::Closed, Rim::Closed);
        }
        self
    }

    /// True if both cover the same points, whichever region owns the edges.
    pub(crate) fn covers_same(&self, other: &Self) -> bool {
        let sorted = |polygon: &Self| {
            let mut corners: Vec<_> = polygon.edges.iter().map(|edge| edge.start).collect();
            corners.sort_unstable();
            corners
        };
        sorted(self) == sorted(other)
    }

    /// The side on which the region lies whole, farther than `reach` from the line; `None` otherwise.
    pub(crate) fn side_beyond(&self, line: &Line, reach: Distance) -> Option<Side> {
        let side = |at: &Vertex| if 0 <= at.offset(line) { Side::Left } else { Side::Right };
        let first = side(&self.edges.first()?.start);
        let beyond = |at: &Vertex| side(at) == first && !at.is_near_line(line, reach);
        self.edges.iter().all(|edge| beyond(&edge.start)).then_some(first)
    }

    /// The lines around the region, which lies on the left of each.
    pub(crate) fn lines(&self) -> impl ExactSizeIterator<Item = &Line> {
        self.edges.iter().map(|edge| &edge.line)
    }

    /// The ends of the edge on exactly this line, rounded.
    pub(crate) fn edge_on(&self, line: &Line) -> Option<[[f64; 2]; 2]> {
        let (edge, end) = self.segments().find(|(edge, _)| edge.line == *line)?;
        Some([edge.start.to_f64(), end.to_f64()])
    }

    /// Each edge, with its end.
    fn segments(&self) -> impl Iterator<Item = (&Edge, &Vertex)> {
        let ends = self.edges.iter().cycle().skip(1).map(|edge| &edge.start);
        self.edges.iter().zip(ends)
    }

    /// True if every edge leads ahead along its line and has all other corners strictly on its left:
    /// then the edges go around once, counterclockwise.
    fn is_convex(&self) -> bool {
        let is_side = |(edge, end): (&Edge, &Vertex)| {
            let others = self.edges.iter().filter(|it| 0 < it.start.offset(&edge.line)).count();
            edge.start.compare_along(end, &edge.line).is_lt() && others + 2 == self.edges.len()
        };
        3 <= self.edges.len() && self.segments().all(is_side)
    }

    /// The ownership of `place`, a point of the closed region on edge `index`.
    fn rim_at(&self, index: usize, place: Position) -> Rim {
        let count = self.edges.len();
        let (edge, next) = (&self.edges[index], &self.edges[(index + 1) % count]);
        let before = &self.edges[(index + count - 1) % count];
        if before.line.offset(place) == 0 {
            edge.corner
        } else if next.line.offset(place) == 0 {
            next.corner
        } else {
            edge.rim
        }
    }

    /// The part on the left of `line`, which must leave an area on both sides.
    fn part(&self, line: Line, rim: Rim) -> Self {
        let mut edges = Vec::with_capacity(self.edges.len() + 1);
        for (edge, end) in self.segments() {
            let crossing = || Vertex::crossing(&edge.line, &line);
            let corner = rim.min(edge.rim);
            match (edge.start.offset(&line).cmp(&0), end.offset(&line).cmp(&0)) {
                (Ordering::Greater, Ordering::Less) => {
                    edges.extend([*edge, Edge { start: crossing(), line, rim, corner }]);
                }
                (Ordering::Greater, _) => edges.push(*edge),
                (Ordering::Less, Ordering::Greater) => {
                    edges.push(Edge { start: crossing(), corner, ..*edge });
                }
                // The line runs through a corner: one of the edges that meet there is left out.
                (Ordering::Equal, Ordering::Greater) => {
                    edges.push(Edge { corner: rim.min(edge.corner), ..*edge });
                }
                (Ordering::Equal, _) => {
                    edges.push(Edge { start: edge.start, line, rim, corner: rim.min(edge.corner) });
                }
                (Ordering::Less, _) => (),
            }
        }
        Self { edges }
    }

    /// True if some edge of this region has all of the other strictly outside.
    fn is_apart_from(&self, other: &Self) -> bool {
        self.lines().any(|line| other.edges.iter().all(|edge| edge.start.offset(line) < 0))
    }

    /// True if a corner is at most `reach` away from an edge of the other, a region apart from this.
    fn has_corner_near(&self, reach: Distance, other: &Self) -> bool {
        let mut corners = self.edges.iter().map(|edge| &edge.start);
        corners.any(|corner| other.segments().any(|(edge, end)| edge.is_near(end, corner, reach)))
    }
}

impl Edge {
    /// True if `place` is at most `reach` away from the edge, which ends at `end`.
    fn is_near_place(&self, end: &Vertex, place: Position, reach: Distance) -> bool {
        if self.start.order_along(&self.line, place).is_gt() {
            return self.start.is_near_place(place, reach);
        }
        if end.order_along(&self.line, place).is_lt() {
            return end.is_near_place(place, reach);
        }
        self.line.disc_side(place, reach).is_none()
    }

    /// True if `corner` is at most `reach` away from the edge, which ends at `end`.
    fn is_near(&self, end: &Vertex, corner: &Vertex, reach: Distance) -> bool {
        if self.start.compare_along(corner, &self.line).is_gt() {
            return self.start.is_near(corner, reach);
        }
        if end.compare_along(corner, &self.line).is_lt() {
            return end.is_near(corner, reach);
        }
        corner.is_near_line(&self.line, reach)
    }
}

/// The side that starts at corner `index`, if all other corners lie on its left: checked for every
/// side, this makes the corners distinct, the outline convex and wound once, counterclockwise.
fn bounding_edge(corners: &[Position], index: usize) -> Result<Edge, PolygonError> {
    let next = (index + 1) % corners.len();
    let start = corners[index];
    let line = Line::through(start, corners[next]).map_err(|_| PolygonError::NotConvex(start))?;
    let others = corners.iter().enumerate().filter(|(it, _)| ![index, next].contains(it));
    match others.map(|(_, &corner)| corner).find(|&corner| line.offset(corner) <= 0) {
        Some(corner) => Err(PolygonError::NotConvex(corner)),
        None => Ok(Edge { start: start.into(), line, rim: Rim::Closed, corner: Rim::Closed }),
    }
}

/// A place whose coordinates come from other places, so that they are in range.
fn at(x: i32, y: i32) -> Position {
    Position::saturating(x.into(), y.into())
}

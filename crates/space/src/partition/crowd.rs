//! Where too many regions come together.
//!
//! An event asks every zone that its circle meets, so a border that brings five regions within one
//! circle of the range R makes every event there slower. This module looks for such circles along a
//! border, before a split or growth makes it.
//!
//! The search halves the strip of centres around the border again and again, dropping each piece that
//! provably has at most four regions in reach. It plans and never decides ownership, so it uses floats
//! (only `+ - * /` and square roots, the same on every machine); what it cannot settle it refuses.

use super::node::{Node, Split};
use crate::{Distance, Line, Polygon, Position, REGIONS_TOGETHER_MAX, Side, ZoneId};
use std::fmt;
use thiserror::Error;

/// A circle that meets more regions than [`REGIONS_TOGETHER_MAX`], or so nearly that the search cannot
/// tell.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "a circle of {} m around {centre} {} meet {}; at most {REGIONS_TOGETHER_MAX} regions may come together: \
     draw the line farther from there or in another direction, or merge some of them first",
    .range.metres(), if *.proven { "would" } else { "may" }, Zones(.zones)
)]
pub struct TooCrowded {
    /// The centre of the circle, to the nearest millimetre.
    pub centre: Position,
    /// Its radius.
    pub range: Distance,
    /// Whom it meets, by ID; unless `proven`, some of them may lie just out of its reach.
    pub zones: Vec<ZoneId>,
    /// Whether it surely meets them all. Otherwise the search ended before it knew.
    pub proven: bool,
}

struct Zones<'a>(&'a [ZoneId]);

impl fmt::Display for Zones<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, zone) in self.0.iter().enumerate() {
            write!(f, "{}{zone}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A piece this many times smaller than the range is not halved again, and counts as crowded.
const GRAINS_PER_RANGE: f64 = 1_024.0;
/// No piece smaller than this is halved, in millimetres.
const GRAIN_MIN: f64 = 1.0;
/// Well above what the floats can be wrong by: coordinates below 2^31 have errors below 2^-20.
const SLACK: f64 = 1e-3;
/// The most pieces to look at; a border that needs more runs just beside the limit for miles.
const PIECES_MAX: usize = 1 << 15;

/// Looks for a circle of radius `range` that meets the border of `split` and too many regions of the
/// world under `root`.
pub(super) fn find(split: &Split, root: &Node, range: Distance) -> Option<TooCrowded> {
    let frame = Frame::new(&split.line, split.border());
    let reach = f64::from(range.millimetres()) + SLACK;
    let strip = Piece { middle: [0.0; 2], half: [frame.half_border + reach, reach] };
    let mut shapes = Vec::new();
    let only = |line: &Line| HalfPlane::new(line, &frame).side_beyond(&strip, reach);
    root.visit_zones(&only, &mut |zone, region| shapes.push(Shape::new(zone, region, &frame)));
    let found = Search { reach, half_border: frame.half_border, shapes }.run(strip)?;
    let mut zones = found.zones;
    zones.sort_unstable();
    Some(TooCrowded { centre: frame.place(found.middle), range, zones, proven: found.proven })
}

/// Coordinates with the border's middle as origin and the border along the first axis, so that a long
/// border lies in a long, thin strip whatever its angle.
struct Frame {
    origin: [f64; 2],
    along: [f64; 2],
    half_border: f64,
}

impl Frame {
    fn new(line: &Line, [start, end]: [[f64; 2]; 2]) -> Self {
        let (x, y) = line.step();
        let length = (line.length_squared() as f64).sqrt();
        Self {
            origin: [(start[0] + end[0]) / 2.0, (start[1] + end[1]) / 2.0],
            along: [f64::from(x) / length, f64::from(y) / length],
            half_border: norm([end[0] - start[0], end[1] - start[1]]) / 2.0,
        }
    }

    fn turn(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [ux, uy] = self.along;
        [ux * x + uy * y, ux * y - uy * x]
    }

    fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        self.turn([x - self.origin[0], y - self.origin[1]])
    }

    fn place(&self, [along, across]: [f64; 2]) -> Position {
        let [ux, uy] = self.along;
        let x = self.origin[0] + ux * along - uy * across;
        let y = self.origin[1] + uy * along + ux * across;
        Position::saturating(x.round() as i64, y.round() as i64)
    }
}

/// A region in the frame's coordinates.
struct Shape {
    zone: ZoneId,
    corners: Vec<[f64; 2]>,
    sides: Vec<HalfPlane>,
    low: [f64; 2],
    high: [f64; 2],
}

/// What lies on the inner side of an edge. Taken from the edge's line, since the direction between two
/// corners a hair apart is lost in rounding.
struct HalfPlane {
    on: [f64; 2],
    inward: [f64; 2],
}

impl HalfPlane {
    fn new(line: &Line, frame: &Frame) -> Self {
        let (x, y) = line.step();
        let length = (line.length_squared() as f64).sqrt();
        let first = line.first();
        Self {
            on: frame.point([f64::from(first.x()), f64::from(first.y())]),
            inward: frame.turn([-f64::from(y) / length, f64::from(x) / length]),
        }
    }

    /// How far inside `point` is; negative outside.
    fn depth(&self, point: [f64; 2]) -> f64 {
        self.inward[0] * (point[0] - self.on[0]) + self.inward[1] * (point[1] - self.on[1])
    }

    /// How much deeper than its middle the deepest point of `piece` is.
    fn swing(&self, piece: &Piece) -> f64 {
        self.inward[0].abs() * piece.half[0] + self.inward[1].abs() * piece.half[1]
    }

    /// The side on which `piece` lies whole, farther than `reach` from the edge's line; `None` otherwise.
    fn side_beyond(&self, piece: &Piece, reach: f64) -> Option<Side> {
        let depth = self.depth(piece.middle);
        let side = if 0.0 <= depth { Side::Left } else { Side::Right };
        (reach < depth.abs() - self.swing(piece)).then_some(side)
    }
}

impl Shape {
    fn new(zone: ZoneId, region: &Polygon, frame: &Frame) -> Self {
        let corners: Vec<_> = region.vertices_f64().map(|corner| frame.point(corner)).collect();
        let sides = region.lines().map(|line| HalfPlane::new(line, frame)).collect();
        let least = |axis: usize| corners.iter().map(|it| it[axis]).fold(f64::INFINITY, f64::min);
        let most = |axis: usize| corners.iter().map(|it| it[axis]).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = ([least(0), least(1)], [most(0), most(1)]);
        Self { zone, corners, sides, low, high }
    }

    /// The distance from `point`; zero inside.
    fn distance(&self, point: [f64; 2]) -> f64 {
        if self.sides.iter().all(|side| 0.0 <= side.depth(point)) {
            return 0.0;
        }
        let ends = self.corners.iter().cycle().skip(1);
        let edges = self.corners.iter().zip(ends);
        edges.map(|(&start, &end)| distance_to_segment(point, start, end)).fold(f64::INFINITY, f64::min)
    }

    /// A distance that no point of `piece` is nearer than. The nearer to the truth, the smaller the
    /// piece; for long pieces beside long edges it is good at once.
    fn distance_at_least(&self, piece: &Piece) -> f64 {
        let Piece { middle, half } = *piece;
        let mut gap = self.distance(middle) - norm(half);
        for axis in 0..2 {
            gap = gap.max(self.low[axis] - middle[axis] - half[axis]);
            gap = gap.max(middle[axis] - half[axis] - self.high[axis]);
        }
        let beyond = |side: &HalfPlane| -side.depth(middle) - side.swing(piece);
        self.sides.iter().map(beyond).fold(gap, f64::max)
    }
}

/// A rectangle of possible centres.
#[derive(Clone, Copy)]
struct Piece {
    middle: [f64; 2],
    half: [f64; 2],
}

impl Piece {
    fn halves(&self, axis: usize) -> [Self; 2] {
        let mut half = self.half;
        half[axis] /= 2.0;
        [-half[axis], half[axis]].map(|shift| {
            let mut middle = self.middle;
            middle[axis] += shift;
            Self { middle, half }
        })
    }
}

/// A piece, and the shapes that some circle around a centre in it may meet.
struct Suspect {
    piece: Piece,
    shapes: Vec<usize>,
}

struct Search {
    reach: f64,
    half_border: f64,
    shapes: Vec<Shape>,
}

/// The centre of a crowded circle and whom it meets, or may meet unless that is proven.
struct Found {
    middle: [f64; 2],
    zones: Vec<ZoneId>,
    proven: bool,
}

impl Search {
    /// A crowded circle with its centre in `strip`, if there is one or the search cannot tell.
    fn run(&self, strip: Piece) -> Option<Found> {
        let all: Vec<_> = (0..self.shapes.len()).collect();
        let mut suspects: Vec<_> = self.suspect(strip, &all).into_iter().collect();
        let mut looked_at = 0;
        while let Some(suspect) = suspects.pop() {
            looked_at += 1;
            let middle = suspect.piece.middle;
            if let Some(zones) = self.met_from(middle, &suspect.shapes) {
                return Some(Found { middle, zones, proven: true });
            }
            let halves = self.halves(&suspect);
            if halves.is_none() || looked_at == PIECES_MAX {
                return Some(Found { middle, zones: self.names(&suspect.shapes), proven: false });
            }
            suspects.extend(halves.into_iter().flatten());
        }
        None
    }

    /// `piece` with those of `shapes` in reach of it, if they are too many.
    fn suspect(&self, piece: Piece, shapes: &[usize]) -> Option<Suspect> {
        if self.reach < self.border_distance_at_least(&piece) {
            return None;
        }
        let near = |&&shape: &&usize| self.shapes[shape].distance_at_least(&piece) <= self.reach;
        let shapes: Vec<_> = shapes.iter().filter(near).copied().collect();
        (REGIONS_TOGETHER_MAX < shapes.len()).then_some(Suspect { piece, shapes })
    }

    /// The halves still to look at, cut so that the fewest regions stay in reach, else across the
    /// longer side; `None` if the piece is too small to halve.
    fn halves(&self, suspect: &Suspect) -> Option<Vec<Suspect>> {
        let grain = GRAIN_MIN.max(self.reach / GRAINS_PER_RANGE);
        let Suspect { piece, shapes } = suspect;
        let longer_first = if piece.half[1] <= piece.half[0] { [0, 1] } else { [1, 0] };
        let large = longer_first.into_iter().filter(|&axis| grain < 2.0 * piece.half[axis]);
        let cuts = large.map(|axis| {
            let halves = piece.halves(axis).into_iter().filter_map(|half| self.suspect(half, shapes));
            halves.collect::<Vec<_>>()
        });
        cuts.min_by_key(|halves| halves.iter().map(|half| half.shapes.len()).sum::<usize>())
    }

    /// Whom the circle around `middle` meets, if they are too many and it meets the border.
    fn met_from(&self, middle: [f64; 2], shapes: &[usize]) -> Option<Vec<ZoneId>> {
        let point = Piece { middle, half: [0.0; 2] };
        let met = self.suspect(point, shapes)?;
        Some(self.names(&met.shapes))
    }

    fn border_distance_at_least(&self, Piece { middle, half }: &Piece) -> f64 {
        let along = middle[0].abs() - half[0] - self.half_border;
        let across = middle[1].abs() - half[1];
        norm([along.max(0.0), across.max(0.0)])
    }

    fn names(&self, shapes: &[usize]) -> Vec<ZoneId> {
        shapes.iter().map(|&shape| self.shapes[shape].zone).collect()
    }
}

fn norm([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

fn distance_to_segment(point: [f64; 2], start: [f64; 2], end: [f64; 2]) -> f64 {
    let step = [end[0] - start[0], end[1] - start[1]];
    let away = [point[0] - start[0], point[1] - start[1]];
    let length_squared = step[0] * step[0] + step[1] * step[1];
    let share = if 0.0 < length_squared {
        ((away[0] * step[0] + away[1] * step[1]) / length_squared).clamp(0.0, 1.0)
    } else {
        0.0
    };
    norm([away[0] - share * step[0], away[1] - share * step[1]])
}

//! A search for circles that meet too many regions.
//!
//! An event asks every zone that its circle meets, so a border that brings five regions within one
//! circle of the range R makes every event there slower. This module looks for such circles along a
//! border, before a split or growth makes it.
//!
//! The search halves the strip of centres around the border again and again, dropping each rectangle that
//! provably has at most four regions in reach. It plans and never decides ownership, so it uses floats
//! (only `+ - * /` and square roots, the same on every platform); a case that it cannot settle it refuses.

use super::node::{RegionNode, Split};
use crate::{Distance, Line, Polygon, Position, REGIONS_TOGETHER_MAX, Side, ZoneId};
use std::fmt;
use thiserror::Error;

/// A circle that meets more regions than [`REGIONS_TOGETHER_MAX`], or so nearly that the search cannot
/// tell.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "a circle of {} m around {centre} {} meet {}; at most {REGIONS_TOGETHER_MAX} regions may come together: \
     draw the line farther from there or in another direction, or merge some of them first",
    .range.metres(), if *.proven { "would" } else { "may" }, ZoneList(.zones)
)]
pub struct TooCrowded {
    /// The centre of the circle, to the nearest millimetre.
    pub centre: Position,
    /// The radius of the circle.
    pub range: Distance,
    /// The zones that it meets, by ID; unless `proven`, some of them may lie just out of its reach.
    pub zones: Vec<ZoneId>,
    /// True if the circle surely meets all of them. Otherwise the search ended before it knew.
    pub proven: bool,
}

struct ZoneList<'a>(&'a [ZoneId]);

impl fmt::Display for ZoneList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, zone) in self.0.iter().enumerate() {
            write!(f, "{}{zone}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A rectangle this many times smaller than the range is not halved again, and counts as crowded.
const SMALLEST_PER_RANGE: f64 = 1_024.0;
/// No rectangle smaller than this is halved, in millimetres.
const SMALLEST_MIN: f64 = 1.0;
/// Well above the error of the floats: coordinates below 2^31 have errors below 2^-20.
const SLACK: f64 = 1e-3;
/// The most rectangles to look at; a border that needs more runs just beside the limit for miles.
const RECTS_MAX: usize = 1 << 15;

/// Looks for a circle of radius `range` that meets the border of `split` and too many regions of the
/// world under `root`.
pub(super) fn find(split: &Split, root: &RegionNode, range: Distance) -> Option<TooCrowded> {
    let frame = BorderFrame::new(&split.line, split.border());
    // Enlarged, so that rounding errors lead to a refusal and never to a crowded circle.
    let reach = f64::from(range.millimetres()) + SLACK;
    let strip = CentreRect { middle: [0.0; 2], half: [frame.half_border + reach, reach] };
    let mut shapes = Vec::new();
    let only = |line: &Line| HalfPlane::new(line, &frame).side_beyond(&strip, reach);
    root.visit_zones(&only, &mut |zone, region| shapes.push(RegionShape::new(zone, region, &frame)));
    let found = CrowdingSearch { reach, half_border: frame.half_border, shapes }.run(strip)?;
    let mut zones = found.zones;
    zones.sort_unstable();
    Some(TooCrowded { centre: frame.place(found.middle), range, zones, proven: found.proven })
}

/// Coordinates with the border's middle as origin and the border along the first axis, so that a long
/// border lies in a long, thin strip whatever its angle.
struct BorderFrame {
    origin: [f64; 2],
    along: [f64; 2],
    half_border: f64,
}

impl BorderFrame {
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
struct RegionShape {
    zone: ZoneId,
    corners: Vec<[f64; 2]>,
    sides: Vec<HalfPlane>,
    low: [f64; 2],
    high: [f64; 2],
}

/// The inner side of an edge. Taken from the edge's line, since the direction between two
/// corners very close to each other is lost in rounding.
struct HalfPlane {
    on: [f64; 2],
    inward: [f64; 2],
}

impl HalfPlane {
    fn new(line: &Line, frame: &BorderFrame) -> Self {
        let (x, y) = line.step();
        let length = (line.length_squared() as f64).sqrt();
        let first = line.first();
        Self {
            on: frame.point([f64::from(first.x()), f64::from(first.y())]),
            inward: frame.turn([-f64::from(y) / length, f64::from(x) / length]),
        }
    }

    /// The distance of `point` from the edge; negative outside.
    fn depth(&self, point: [f64; 2]) -> f64 {
        self.inward[0] * (point[0] - self.on[0]) + self.inward[1] * (point[1] - self.on[1])
    }

    /// The depth of the deepest point of `rect` beyond that of its middle.
    fn half_extent(&self, rect: &CentreRect) -> f64 {
        self.inward[0].abs() * rect.half[0] + self.inward[1].abs() * rect.half[1]
    }

    /// The side on which `rect` lies whole, farther than `reach` from the edge's line; `None` otherwise.
    fn side_beyond(&self, rect: &CentreRect, reach: f64) -> Option<Side> {
        let depth = self.depth(rect.middle);
        let side = if 0.0 <= depth { Side::Left } else { Side::Right };
        (reach < depth.abs() - self.half_extent(rect)).then_some(side)
    }
}

impl RegionShape {
    fn new(zone: ZoneId, region: &Polygon, frame: &BorderFrame) -> Self {
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

    /// A lower bound of the distance from any point of `rect`. The smaller the rectangle, the tighter the bound; for
    /// long rectangles beside long edges it is tight at once.
    fn distance_at_least(&self, rect: &CentreRect) -> f64 {
        let CentreRect { middle, half } = *rect;
        let mut gap = self.distance(middle) - norm(half);
        for axis in 0..2 {
            gap = gap.max(self.low[axis] - middle[axis] - half[axis]);
            gap = gap.max(middle[axis] - half[axis] - self.high[axis]);
        }
        let beyond = |side: &HalfPlane| -side.depth(middle) - side.half_extent(rect);
        self.sides.iter().map(beyond).fold(gap, f64::max)
    }
}

/// A rectangle of possible centres.
#[derive(Clone, Copy)]
struct CentreRect {
    middle: [f64; 2],
    half: [f64; 2],
}

impl CentreRect {
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

/// A rectangle of centres, and the indices of the shapes that some circle around one of them may meet.
struct CentreCandidate {
    rect: CentreRect,
    shapes: Vec<usize>,
}

struct CrowdingSearch {
    reach: f64,
    half_border: f64,
    shapes: Vec<RegionShape>,
}

/// The centre of a crowded circle and the zones that it meets, or may meet unless that is proven.
struct CrowdedCircle {
    middle: [f64; 2],
    zones: Vec<ZoneId>,
    proven: bool,
}

impl CrowdingSearch {
    /// A crowded circle with its centre in `strip`, if there is one or the search cannot tell.
    fn run(&self, strip: CentreRect) -> Option<CrowdedCircle> {
        let all: Vec<_> = (0..self.shapes.len()).collect();
        let mut candidates: Vec<_> = self.candidate(strip, &all).into_iter().collect();
        let mut looked_at = 0;
        while let Some(candidate) = candidates.pop() {
            // Counted, so that a border just beside the limit cannot keep the search busy for ever.
            looked_at += 1;
            let middle = candidate.rect.middle;
            if let Some(zones) = self.zones_met_from(middle, &candidate.shapes) {
                return Some(CrowdedCircle { middle, zones, proven: true });
            }
            let halves = self.halves(&candidate);
            if halves.is_none() || looked_at == RECTS_MAX {
                return Some(CrowdedCircle {
                    middle,
                    zones: self.zone_ids(&candidate.shapes),
                    proven: false,
                });
            }
            candidates.extend(halves.into_iter().flatten());
        }
        None
    }

    /// `rect` with those of `shapes` in reach of it, if they are too many.
    fn candidate(&self, rect: CentreRect, shapes: &[usize]) -> Option<CentreCandidate> {
        if self.reach < self.border_distance_at_least(&rect) {
            return None;
        }
        let near = |&&shape: &&usize| self.shapes[shape].distance_at_least(&rect) <= self.reach;
        let shapes: Vec<_> = shapes.iter().filter(near).copied().collect();
        (REGIONS_TOGETHER_MAX < shapes.len()).then_some(CentreCandidate { rect, shapes })
    }

    /// The halves still to look at, cut so that the fewest regions stay in reach, else across the
    /// longer side; `None` if the rectangle is too small to halve.
    fn halves(&self, candidate: &CentreCandidate) -> Option<Vec<CentreCandidate>> {
        // Relative to the range, so that wide ranges do not need millions of rectangles.
        let smallest = SMALLEST_MIN.max(self.reach / SMALLEST_PER_RANGE);
        let CentreCandidate { rect, shapes } = candidate;
        let longer_first = if rect.half[1] <= rect.half[0] { [0, 1] } else { [1, 0] };
        let large = longer_first.into_iter().filter(|&axis| smallest < 2.0 * rect.half[axis]);
        let cuts = large.map(|axis| {
            let halves = rect.halves(axis).into_iter().filter_map(|half| self.candidate(half, shapes));
            halves.collect::<Vec<_>>()
        });
        cuts.min_by_key(|halves| halves.iter().map(|half| half.shapes.len()).sum::<usize>())
    }

    /// The zones that the circle around `middle` meets, if they are too many and it meets the border.
    fn zones_met_from(&self, middle: [f64; 2], shapes: &[usize]) -> Option<Vec<ZoneId>> {
        let point = CentreRect { middle, half: [0.0; 2] };
        let met = self.candidate(point, shapes)?;
        Some(self.zone_ids(&met.shapes))
    }

    fn border_distance_at_least(&self, CentreRect { middle, half }: &CentreRect) -> f64 {
        let along = middle[0].abs() - half[0] - self.half_border;
        let across = middle[1].abs() - half[1];
        norm([along.max(0.0), across.max(0.0)])
    }

    fn zone_ids(&self, shapes: &[usize]) -> Vec<ZoneId> {
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

//! Random worlds: a partition and its model, changed side by side.

use crate::model::{ModelHalfPlane, ModelPiece, are_crossed};
use proptest::prelude::*;
use space::{
    COORDINATE_MAX, COORDINATE_MIN, Line, Partition, PartitionVersion, Polygon, Position, Side, ZoneId,
};
use std::collections::BTreeMap;

/// One change, in numbers that apply to any world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorldStep {
    pub(crate) kind: ChangeKind,
    /// Number of a zone, side or corner, modulo how many there are.
    pub(crate) pick: usize,
    pub(crate) from: PlaceChoice,
    pub(crate) to: PlaceChoice,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangeKind {
    Split,
    Merge,
    Extend,
    Tent,
}

/// A place: fresh, or one that a line or corner used before, so that borders meet in corners.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlaceChoice {
    Fresh(f64, f64),
    Used(usize),
}

pub(crate) struct RandomWorld {
    pub(crate) partition: Partition,
    pub(crate) model: BTreeMap<ZoneId, Vec<ModelPiece>>,
    /// The sides on which a zone lies of the lines above it, the first line first.
    paths: BTreeMap<ZoneId, Vec<Side>>,
    /// Corners of the world, and points of split lines.
    pub(crate) used: Vec<Position>,
    corners: Vec<Position>,
    scale: i32,
    newest: u32,
}

pub(crate) fn at(x: i32, y: i32) -> Position {
    Position::new(x, y).unwrap()
}

fn place_choice() -> impl Strategy<Value = PlaceChoice> {
    prop_oneof![
        3 => (-1.0..=1.0, -1.0..=1.0).prop_map(|(x, y)| PlaceChoice::Fresh(x, y)),
        1 => any::<usize>().prop_map(PlaceChoice::Used),
    ]
}

pub(crate) fn steps(most: usize) -> impl Strategy<Value = Vec<WorldStep>> {
    let kind = prop_oneof![
        8 => Just(ChangeKind::Split),
        3 => Just(ChangeKind::Merge),
        1 => Just(ChangeKind::Extend),
        1 => Just(ChangeKind::Tent),
    ];
    let step = (kind, any::<usize>(), place_choice(), place_choice());
    prop::collection::vec(step.prop_map(|(kind, pick, from, to)| WorldStep { kind, pick, from, to }), 1..most)
}

/// The corners of some first worlds, as shares of the scale.
pub(crate) fn outlines() -> impl Strategy<Value = &'static [(f64, f64)]> {
    prop_oneof![
        Just(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)][..]),
        Just(&[(-1.0, -1.0), (1.0, -0.25), (-0.25, 1.0)][..]),
        Just(&[(-0.5, -1.0), (0.5, -1.0), (1.0, -0.25), (1.0, 0.5), (0.25, 1.0), (-1.0, 0.0)][..]),
    ]
}

impl RandomWorld {
    pub(crate) fn new(outline: &[(f64, f64)], scale: i32) -> Self {
        let corners: Vec<_> = outline.iter().map(|&(x, y)| place(x, y, scale)).collect();
        let partition = Partition::new(Polygon::new(&corners).unwrap(), ZoneId(0));
        let model = BTreeMap::from([(ZoneId(0), vec![ModelPiece::bounded(&corners)])]);
        let paths = BTreeMap::from([(ZoneId(0), Vec::new())]);
        Self { partition, model, paths, used: corners.clone(), corners, scale, newest: 0 }
    }

    pub(crate) fn grown(outline: &[(f64, f64)], scale: i32, steps: &[WorldStep]) -> Self {
        let mut world = Self::new(outline, scale);
        for step in steps {
            world.take(step);
        }
        world
    }

    /// Changes partition and model alike; a step that is not possible changes neither. The model says which
    /// are: few steps reach no limit, so the partition must refuse these and no others.
    pub(crate) fn take(&mut self, step: &WorldStep) {
        let before = self.partition.version();
        let changed = match step.kind {
            ChangeKind::Split => self.split(step),
            ChangeKind::Merge => self.merge(step),
            ChangeKind::Extend => self.extend(step),
            ChangeKind::Tent => self.tent(step),
        };
        let version = PartitionVersion(before.0 + u64::from(changed.is_some()));
        assert_eq!(self.partition.version(), version);
        assert!(self.partition.zones().map(|(zone, _)| zone).eq(self.model.keys().copied()));
    }

    fn split(&mut self, step: &WorldStep) -> Option<()> {
        let (from, to) = (self.place_at(step.from), self.place_at(step.to));
        let line = line(from, to)?;
        let (zone, new) = (self.zone(step.pick), ZoneId(self.newest + 1));
        let split = self.partition.split(zone, line, new);
        assert_eq!(split.is_ok(), are_crossed(&self.model[&zone], from, to), "{split:?}");
        self.partition = split.ok()?;
        self.newest += 1;
        let pieces = self.model.remove(&zone).unwrap();
        let with = |side: ModelHalfPlane| pieces.iter().map(|piece| piece.and(side)).collect();
        self.model.insert(zone, with(ModelHalfPlane::left(from, to)));
        self.model.insert(new, with(ModelHalfPlane::right(from, to)));
        let path = self.paths[&zone].clone();
        self.paths.insert(new, [path.as_slice(), &[Side::Right]].concat());
        self.paths.insert(zone, [path.as_slice(), &[Side::Left]].concat());
        self.used.extend([from, to]);
        Some(())
    }

    fn merge(&mut self, step: &WorldStep) -> Option<()> {
        let keeper = self.zone(step.pick);
        let mut merged = None;
        for &other in self.model.keys() {
            let result = self.partition.merge(keeper, other);
            assert_eq!(result.is_ok(), self.are_siblings(keeper, other), "{keeper} {other}");
            merged = merged.or(result.ok().map(|it| (other, it)));
        }
        let (absorbed, merged) = merged?;
        self.partition = merged;
        let pieces = self.model.remove(&absorbed).unwrap();
        self.model.get_mut(&keeper).unwrap().extend(pieces);
        self.paths.remove(&absorbed);
        self.paths.get_mut(&keeper).unwrap().pop();
        Some(())
    }

    /// True if two zones are the halves of one split, neither of them split further.
    fn are_siblings(&self, one: ZoneId, other: ZoneId) -> bool {
        let above = |zone| self.paths[&zone].split_last().map(|(_, above)| above);
        one != other && above(one).is_some() && above(one) == above(other)
    }

    /// Moves one side outwards along its neighbours: the old corners end up inside longer sides. Only
    /// for upright rectangles.
    fn extend(&mut self, step: &WorldStep) -> Option<()> {
        let &[low, east, high, west] = self.corners.as_slice() else { return None };
        if (east, west) != (at(high.x(), low.y()), at(low.x(), high.y())) {
            return None;
        }
        let by = self.scale / 3 + 1;
        let (new_low, new_high) = match step.pick % 4 {
            0 => (low, Position::new(high.x() + by, high.y()).ok()?),
            1 => (low, Position::new(high.x(), high.y() + by).ok()?),
            2 => (Position::new(low.x() - by, low.y()).ok()?, high),
            _ => (Position::new(low.x(), low.y() - by).ok()?, high),
        };
        let corners = [new_low, at(new_high.x(), new_low.y()), new_high, at(new_low.x(), new_high.y())];
        self.grow([1, 2, 3, 0][step.pick % 4], corners.to_vec())
    }

    /// Puts a new corner outside one side.
    fn tent(&mut self, step: &WorldStep) -> Option<()> {
        let index = step.pick % self.corners.len();
        let (from, to) = (self.corners[index], self.corners[(index + 1) % self.corners.len()]);
        let (dx, dy) = from.step_to(to);
        let (x, y) = (from.x() + dx / 2 + dy / 7, from.y() + dy / 2 - dx / 7);
        let mut corners = self.corners.clone();
        corners.insert(index + 1, Position::new(x, y).ok()?);
        self.grow(index, corners)
    }

    fn grow(&mut self, side: usize, corners: Vec<Position>) -> Option<()> {
        let bounds = Polygon::new(&corners).ok()?;
        let (from, to) = (self.corners[side], self.corners[(side + 1) % self.corners.len()]);
        let new = ZoneId(self.newest + 1);
        self.partition = self.partition.grow(Line::through(from, to).unwrap(), bounds, new).unwrap();
        self.newest += 1;
        self.model.insert(new, vec![ModelPiece::bounded(&corners).and(ModelHalfPlane::right(from, to))]);
        self.paths.values_mut().for_each(|path| path.insert(0, Side::Left));
        self.paths.insert(new, vec![Side::Right]);
        self.used.extend(&corners);
        self.corners = corners;
        Some(())
    }

    /// Zones that own `place`, according to the model.
    pub(crate) fn owners(&self, place: Position) -> Vec<ZoneId> {
        let owns = |pieces: &[ModelPiece]| pieces.iter().any(|piece| piece.owns(place));
        self.model.iter().filter(|(_, pieces)| owns(pieces)).map(|(&zone, _)| zone).collect()
    }

    fn zone(&self, pick: usize) -> ZoneId {
        *self.model.keys().nth(pick % self.model.len()).unwrap()
    }

    pub(crate) fn place_at(&self, choice: PlaceChoice) -> Position {
        match choice {
            PlaceChoice::Fresh(x, y) => place(x, y, self.scale),
            PlaceChoice::Used(pick) => self.used[pick % self.used.len()],
        }
    }
}

/// The line through two places, which is refused only if they are one.
pub(crate) fn line(from: Position, to: Position) -> Option<Line> {
    let line = Line::through(from, to);
    assert_eq!(line.is_ok(), from != to);
    line.ok()
}

/// The place at these shares of the scale; a share of one reaches the end of the range.
fn place(x: f64, y: f64, scale: i32) -> Position {
    let coordinate = |share: f64| {
        let exact = (share * f64::from(scale)).round() as i64;
        exact.clamp(COORDINATE_MIN.into(), COORDINATE_MAX.into())
    };
    Position::saturating(coordinate(x), coordinate(y))
}

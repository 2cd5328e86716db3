//! The tree of a partition: every node is a region, every branch a split line.
//!
//! Nodes never change; a new tree shares all nodes off the changed path with the old one.

use crate::{Distance, Line, Polygon, Position, Side, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A region that one zone owns, or that is split.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RegionNode {
    /// Kept for branches, too: a merge restores it exactly.
    pub(super) region: Polygon,
    pub(super) content: NodeContent,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum NodeContent {
    Zone(ZoneId),
    Split(Split),
}

/// A split line and the nodes on either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) line: Line,
    pub(super) left: Arc<RegionNode>,
    pub(super) right: Arc<RegionNode>,
}

impl Split {
    /// The ends of the border between both sides, rounded.
    pub(super) fn border(&self) -> [[f64; 2]; 2] {
        let border = self.right.region.edge_on(&self.line.reversed());
        border.expect("a cut leaves its line on both parts")
    }

    fn child(&self, side: Side) -> &Arc<RegionNode> {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }

    fn with_child(&self, side: Side, child: Arc<RegionNode>) -> Self {
        match side {
            Side::Left => Self { left: child, ..self.clone() },
            Side::Right => Self { right: child, ..self.clone() },
        }
    }
}

impl RegionNode {
    /// A region that one zone owns.
    pub(super) fn zone(region: Polygon, zone: ZoneId) -> Arc<Self> {
        Arc::new(Self { region, content: NodeContent::Zone(zone) })
    }

    /// A region split in two.
    pub(super) fn split(region: Polygon, split: Split) -> Arc<Self> {
        Arc::new(Self { region, content: NodeContent::Split(split) })
    }

    /// The zone that owns `place`, which must lie in this region.
    pub(super) fn locate(&self, place: Position) -> ZoneId {
        let mut node = self;
        loop {
            match &node.content {
                NodeContent::Zone(zone) => return *zone,
                NodeContent::Split(split) => node = split.child(split.line.side(place)),
            }
        }
    }

    /// Appends the zones whose closed regions the closed disc meets.
    pub(super) fn zones_touching(&self, centre: Position, radius: Distance, out: &mut Vec<ZoneId>) {
        self.visit_zones(&|line| line.disc_side(centre, radius), &mut |zone, region| {
            out.extend(region.meets_disc(centre, radius).then_some(zone));
        });
    }

    /// Appends the zones whose closed regions are at most `reach` away from `polygon`.
    pub(super) fn zones_near(&self, polygon: &Polygon, reach: Distance, out: &mut Vec<ZoneId>) {
        self.visit_zones(&|line| polygon.side_beyond(line, reach), &mut |zone, region| {
            out.extend(region.is_within(reach, polygon).then_some(zone));
        });
    }

    /// Calls `visit` for the zones on the side of each split line that `only` names, or on both.
    pub(super) fn visit_zones<'a>(
        &'a self,
        only: &impl Fn(&Line) -> Option<Side>,
        visit: &mut impl FnMut(ZoneId, &'a Polygon),
    ) {
        match &self.content {
            NodeContent::Zone(zone) => visit(*zone, &self.region),
            NodeContent::Split(split) => match only(&split.line) {
                Some(side) => split.child(side).visit_zones(only, visit),
                None => {
                    split.left.visit_zones(only, visit);
                    split.right.visit_zones(only, visit);
                }
            },
        }
    }

    /// The most split lines above a zone.
    pub(super) fn depth(&self) -> usize {
        match &self.content {
            NodeContent::Zone(_) => 0,
            NodeContent::Split(split) => 1 + split.left.depth().max(split.right.depth()),
        }
    }

    /// The sides to take from here to `zone`.
    pub(super) fn path_to(&self, zone: ZoneId) -> Option<Vec<Side>> {
        let mut path = Vec::new();
        self.search(zone, &mut path).then_some(path)
    }

    /// The lowest split that `zone` lies under.
    pub(super) fn split_above(&self, zone: ZoneId) -> Option<&Split> {
        let path = self.path_to(zone)?;
        let (_, parent) = path.split_last()?;
        match &self.at(parent).content {
            NodeContent::Split(split) => Some(split),
            NodeContent::Zone(_) => None,
        }
    }

    fn search(&self, zone: ZoneId, path: &mut Vec<Side>) -> bool {
        let split = match &self.content {
            NodeContent::Zone(it) => return *it == zone,
            NodeContent::Split(split) => split,
        };
        for side in [Side::Left, Side::Right] {
            path.push(side);
            if split.child(side).search(zone, path) {
                return true;
            }
            path.pop();
        }
        false
    }

    /// The node at the end of `path`, or where the tree ends on the way.
    pub(super) fn at(&self, path: &[Side]) -> &Self {
        match (path.split_first(), &self.content) {
            (Some((&side, rest)), NodeContent::Split(split)) => split.child(side).at(rest),
            _ => self,
        }
    }

    /// This tree with another node at the end of `path`.
    pub(super) fn with(&self, path: &[Side], node: Arc<Self>) -> Arc<Self> {
        match (path.split_first(), &self.content) {
            (Some((&side, rest)), NodeContent::Split(split)) => {
                let child = split.child(side).with(rest, node);
                Self::split(self.region.clone(), split.with_child(side, child))
            }
            _ => node,
        }
    }

    /// Puts every zone's node into `index`.
    pub(super) fn index(self: &Arc<Self>, index: &mut BTreeMap<ZoneId, Arc<Self>>) {
        match &self.content {
            NodeContent::Zone(zone) => {
                index.insert(*zone, Arc::clone(self));
            }
            NodeContent::Split(split) => {
                split.left.index(index);
                split.right.index(index);
            }
        }
    }

    /// Calls `visit` for every split in the tree, until it answers with something.
    pub(super) fn find_split<T>(&self, visit: &mut impl FnMut(&Split) -> Option<T>) -> Option<T> {
        let NodeContent::Split(split) = &self.content else { return None };
        visit(split).or_else(|| split.left.find_split(visit)).or_else(|| split.right.find_split(visit))
    }
}

//! The ownership of places: the world, cut by split lines into one convex region per zone.
//!
//! A partition is a value. Every change makes a new one with the next version, so that machines which
//! know different versions can say so, and a machine that holds one can rely on it. Each whole place of the
//! world has exactly one owner in every version.
//!
//! It knows nothing of hosts, load or objects: its users decide when to split.

mod change;
mod crowding;
mod node;
mod outline;

pub use change::{GrowError, MergeError, SplitError};
pub use crowding::TooCrowded;
pub use outline::{Outline, OutlineEntry, OutlineError};

use crate::{Distance, EDGES_MAX, Polygon, Position, ZoneId};
use node::RegionNode;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of changes that led to a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionVersion(pub u64);

/// A world cut into zones, as a binary tree of split lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    version: PartitionVersion,
    root: Arc<RegionNode>,
    /// The highest ID given out so far, even if that zone has ended: an ID is never given out twice.
    highest: ZoneId,
    /// Every zone's leaf in the tree.
    zones: BTreeMap<ZoneId, Arc<RegionNode>>,
}

impl Partition {
    /// A world of one zone, which owns all of `bounds` with its whole edge.
    ///
    /// # Panics
    ///
    /// If `bounds` was cut from a larger polygon until it had more than [`EDGES_MAX`] edges.
    pub fn new(bounds: Polygon, zone: ZoneId) -> Self {
        assert!(bounds.lines().len() <= EDGES_MAX, "no world could be read back with bounds like these");
        Self::from_root(PartitionVersion::default(), RegionNode::zone(bounds.closed(), zone), zone)
    }

    /// Number of changes that led to this partition.
    pub const fn version(&self) -> PartitionVersion {
        self.version
    }

    /// The region of the whole world.
    pub fn bounds(&self) -> &Polygon {
        &self.root.region
    }

    /// The highest zone ID given out so far; a new zone needs a higher one.
    pub const fn highest_zone(&self) -> ZoneId {
        self.highest
    }

    /// The zone that owns `place`; `None` outside the world. One side test per level of the tree.
    pub fn locate(&self, place: Position) -> Option<ZoneId> {
        self.bounds().contains(place).then(|| self.root.locate(place))
    }

    /// Every zone and its region, by ID.
    pub fn zones(&self) -> impl ExactSizeIterator<Item = (ZoneId, &Polygon)> {
        self.zones.iter().map(|(&zone, node)| (zone, &node.region))
    }

    /// The region of `zone`, if there is such a zone.
    pub fn polygon(&self, zone: ZoneId) -> Option<&Polygon> {
        self.zones.get(&zone).map(|node| &node.region)
    }

    /// Fills `out` with the zones whose closed regions the closed disc meets, by ID.
    ///
    /// Two closed regions share their border, so a disc that only touches a border meets both zones:
    /// no zone within `radius` is missed.
    pub fn zones_touching(&self, centre: Position, radius: Distance, out: &mut Vec<ZoneId>) {
        out.clear();
        self.root.zones_touching(centre, radius, out);
        out.sort_unstable();
    }

    /// The zones whose closed regions are at most `reach` away from `polygon`, by ID.
    pub fn zones_near(&self, polygon: &Polygon, reach: Distance) -> Vec<ZoneId> {
        let mut near = Vec::new();
        self.root.zones_near(polygon, reach, &mut near);
        near.sort_unstable();
        near
    }

    /// The other zones at most `reach` away from the region of `zone`, by ID; `None` if there is no
    /// such zone.
    pub fn neighbours(&self, zone: ZoneId, reach: Distance) -> Option<Vec<ZoneId>> {
        let mut near = self.zones_near(self.polygon(zone)?, reach);
        near.retain(|&it| it != zone);
        Some(near)
    }

    fn from_root(version: PartitionVersion, root: Arc<RegionNode>, highest: ZoneId) -> Self {
        let mut zones = BTreeMap::new();
        root.index(&mut zones);
        Self { version, root, highest, zones }
    }
}

//! The changes of a partition: splits, merges and growth. Each returns the next version or the reason against it.

use super::crowding::{self, TooCrowded};
use super::node::{NodeContent, RegionNode, Split};
use super::{Partition, PartitionVersion};
use crate::{DEPTH_MAX, Distance, EDGES_MAX, Line, Polygon, Side, ZONES_MAX, ZoneId};
use std::sync::Arc;
use thiserror::Error;

/// The reason why a split was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SplitError {
    /// The zone to split does not exist.
    #[error("there is no {0} to split: look up the zones of the newest version")]
    UnknownZone(ZoneId),
    /// The new zone's ID is not new.
    #[error("{new} may be taken already: use an ID above {highest}")]
    UsedId {
        /// The ID that the caller asked for.
        new: ZoneId,
        /// The highest one given out so far.
        highest: ZoneId,
    },
    /// The line leaves the region on one side.
    #[error("the line does not cross the region of {0}: choose two points with some of it on either side")]
    Misses(ZoneId),
    /// The world has the most zones that it may have.
    #[error("a world has at most {ZONES_MAX} zones: merge some first")]
    TooManyZones,
    /// The zone lies under the most split lines that it may.
    #[error("{0} lies under {DEPTH_MAX} split lines already: merge some first, or split a larger region")]
    TooDeep(ZoneId),
    /// Some circle of the range would meet too many regions.
    #[error(transparent)]
    Crowded(#[from] TooCrowded),
}

/// The reason why a merge was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    /// One of them does not exist.
    #[error("there is no {0} to merge: look up the zones of the newest version")]
    UnknownZone(ZoneId),
    /// It is the only zone.
    #[error("{0} is the whole world: there is nothing to merge it with")]
    OnlyZone(ZoneId),
    /// The keeper belongs together with another zone.
    #[error("{keeper} and {absorbed} are not the two halves of one split: merge {keeper} with {sibling}")]
    NotSiblings {
        /// The zone that would stay.
        keeper: ZoneId,
        /// The zone that would go.
        absorbed: ZoneId,
        /// The zone that the keeper can be merged with.
        sibling: ZoneId,
    },
    /// The keeper's other half is split further.
    #[error("what was cut from {keeper} is split further: merge the zones there with each other first")]
    SiblingIsSplit {
        /// The zone that would stay.
        keeper: ZoneId,
    },
}

/// The reason why growth of the world was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GrowError {
    /// The new zone's ID is not new.
    #[error("{new} may be taken already: use an ID above {highest}")]
    UsedId {
        /// The ID that the caller asked for.
        new: ZoneId,
        /// The highest one given out so far.
        highest: ZoneId,
    },
    /// The line leaves the new bounds on one side.
    #[error("the line does not cross the new bounds: it must run along the side where the world grows")]
    Misses,
    /// The old world would change.
    #[error(
        "left of the line, the new bounds must be exactly the old world: keep all that was, \
         and let the line run along an old side"
    )]
    OldAreaChanged,
    /// The world has the most zones that it may have.
    #[error("a world has at most {ZONES_MAX} zones: merge some first")]
    TooManyZones,
    /// Some zone lies under the most split lines that it may.
    #[error("some zone lies under {DEPTH_MAX} split lines already: merge some first")]
    TooDeep,
    /// The new bounds have too many edges.
    #[error("a world's bounds have at most {EDGES_MAX} edges: leave out some corners")]
    TooManyEdges,
    /// Some circle of the range would meet too many regions.
    #[error(transparent)]
    Crowded(#[from] TooCrowded),
}

impl Partition {
    /// Cuts the region of `zone` along `line`: the part left of it or on it stays with `zone`, the
    /// rest goes to `new_zone`, whose ID must be higher than any before.
    pub fn split(&self, zone: ZoneId, line: Line, new_zone: ZoneId) -> Result<Self, SplitError> {
        let path = self.root.path_to(zone).ok_or(SplitError::UnknownZone(zone))?;
        if new_zone <= self.highest {
            return Err(SplitError::UsedId { new: new_zone, highest: self.highest });
        }
        if ZONES_MAX <= self.zones.len() {
            return Err(SplitError::TooManyZones);
        }
        if DEPTH_MAX <= path.len() {
            return Err(SplitError::TooDeep(zone));
        }
        let region = &self.root.at(&path).region;
        let (left, right) = region.cut(&line).ok_or(SplitError::Misses(zone))?;
        let split =
            Split { line, left: RegionNode::zone(left, zone), right: RegionNode::zone(right, new_zone) };
        let root = self.root.with(&path, RegionNode::split(region.clone(), split));
        Ok(self.next(root, new_zone))
    }

    /// [`Partition::split`], unless afterwards some circle of radius `range` that meets the new border
    /// would meet more than four regions.
    ///
    /// Circles that do not meet the new border meet as many regions as before. This is planning, not safety:
    /// where a thousandth of `range`, or a millimetre, decides, the split may be refused although it is allowed, but
    /// never the other way round.
    pub fn propose_split(
        &self,
        zone: ZoneId,
        line: Line,
        new_zone: ZoneId,
        range: Distance,
    ) -> Result<Self, SplitError> {
        Ok(self.split(zone, line, new_zone)?.unless_crowded(new_zone, range)?)
    }

    /// Joins the two halves of one split: `keeper` owns both, `absorbed` ends.
    pub fn merge(&self, keeper: ZoneId, absorbed: ZoneId) -> Result<Self, MergeError> {
        // Checked first, so that the error names the zone that does not exist.
        if !self.zones.contains_key(&absorbed) {
            return Err(MergeError::UnknownZone(absorbed));
        }
        let path = self.root.path_to(keeper).ok_or(MergeError::UnknownZone(keeper))?;
        let (&side, parent) = path.split_last().ok_or(MergeError::OnlyZone(keeper))?;
        let other = if side == Side::Left { Side::Right } else { Side::Left };
        match self.root.at(&[parent, &[other]].concat()).content {
            NodeContent::Zone(sibling) if sibling == absorbed => (),
            NodeContent::Zone(sibling) => return Err(MergeError::NotSiblings { keeper, absorbed, sibling }),
            NodeContent::Split(_) => return Err(MergeError::SiblingIsSplit { keeper }),
        }
        let region = self.root.at(parent).region.clone();
        Ok(self.next(self.root.with(parent, RegionNode::zone(region, keeper)), self.highest))
    }

    /// Adds new area to the world, right of `line`, owned by `new_zone`. Left of it or on it, the new
    /// `bounds` must cover exactly the old world, whose zones stay as they are.
    ///
    /// A fifth region may come close to where four meet: [`Partition::propose_grow`] refuses that.
    pub fn grow(&self, line: Line, bounds: Polygon, new_zone: ZoneId) -> Result<Self, GrowError> {
        if new_zone <= self.highest {
            return Err(GrowError::UsedId { new: new_zone, highest: self.highest });
        }
        if ZONES_MAX <= self.zones.len() {
            return Err(GrowError::TooManyZones);
        }
        if DEPTH_MAX <= self.root.depth() {
            return Err(GrowError::TooDeep);
        }
        if EDGES_MAX < bounds.lines().len() {
            return Err(GrowError::TooManyEdges);
        }
        // The world owns its whole edge, whatever edge the given polygon owned.
        let bounds = bounds.closed();
        let (old, new) = bounds.cut(&line).ok_or(GrowError::Misses)?;
        if !old.covers_same(self.bounds()) {
            return Err(GrowError::OldAreaChanged);
        }
        let split = Split { line, left: Arc::clone(&self.root), right: RegionNode::zone(new, new_zone) };
        Ok(self.next(RegionNode::split(bounds, split), new_zone))
    }

    /// [`Partition::grow`], unless afterwards some circle of radius `range` that meets the new border
    /// would meet more than four regions. As exact as [`Partition::propose_split`].
    pub fn propose_grow(
        &self,
        line: Line,
        bounds: Polygon,
        new_zone: ZoneId,
        range: Distance,
    ) -> Result<Self, GrowError> {
        Ok(self.grow(line, bounds, new_zone)?.unless_crowded(new_zone, range)?)
    }

    /// Checks that no circle of radius `range`, wherever its centre, meets more than four regions.
    ///
    /// Errs towards refusing, by about a thousandth of `range`, or a millimetre. Every border looks at
    /// the regions near it.
    pub fn check_four(&self, range: Distance) -> Result<(), TooCrowded> {
        // A circle that meets two regions meets the line that first parted them, within their node.
        let found = self.root.find_split(&mut |split| crowding::find(split, &self.root, range));
        found.map_or(Ok(()), Err)
    }

    /// Itself, unless too many regions come together along the border by which `newest` came to be.
    fn unless_crowded(self, newest: ZoneId, range: Distance) -> Result<Self, TooCrowded> {
        let split = self.root.split_above(newest).expect("a new zone lies right of the line that made it");
        match crowding::find(split, &self.root, range) {
            Some(crowd) => Err(crowd),
            None => Ok(self),
        }
    }

    fn next(&self, root: Arc<RegionNode>, highest: ZoneId) -> Self {
        Self::from_root(PartitionVersion(self.version.0 + 1), root, highest)
    }
}

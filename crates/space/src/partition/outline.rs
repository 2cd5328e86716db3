//! A partition as plain data, for code that stores it or sends it.
//!
//! An outline holds only what cannot be computed: the lines around the world and those that split it.
//! Regions are cut anew when it is read, so bytes from elsewhere cannot make two zones own one place.
//! This module does not know how an outline is written as bytes.

use super::node::{NodeContent, RegionNode, Split};
use super::{Partition, PartitionVersion};
use crate::{DEPTH_MAX, EDGES_MAX, Line, Polygon, VERSION_MAX, ZONES_MAX, ZoneId};
use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;
use thiserror::Error;

/// A whole [`Partition`] as data that is not checked yet: [`Partition::from_outline`] does that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Number of changes that led to the partition.
    pub version: PartitionVersion,
    /// The highest zone ID given out so far.
    pub highest: ZoneId,
    /// The lines around the world, counterclockwise, the world on the left of each. Lines and not
    /// corners: where two cross may lie between the whole millimetres.
    pub bounds: Vec<Line>,
    /// The tree, each split followed by all that lies on its left, then by all on its right.
    pub tree: Vec<OutlineEntry>,
}

/// One node of an [`Outline`]'s tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutlineEntry {
    /// A line that splits its region.
    Split(Line),
    /// A region that one zone owns.
    Zone(ZoneId),
}

/// The reason why an [`Outline`] describes no partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OutlineError {
    /// Too few or too many lines around the world.
    #[error("a world has 3 to {EDGES_MAX} lines around it, not {0}")]
    Edges(usize),
    /// The lines around the world are not its sides.
    #[error(
        "the lines around the world do not go around it: list each side of a convex region once, \
         counterclockwise, with the region on its left"
    )]
    Bounds,
    /// No world has that many changes behind it.
    #[error("version {} is above {}, more changes than a world makes", .0.0, VERSION_MAX.0)]
    Version(PartitionVersion),
    /// The tree has more nodes than the most zones need.
    #[error("the tree has {0} entries, more than {ZONES_MAX} zones need")]
    TooManyEntries(usize),
    /// Some zone lies under too many split lines.
    #[error("the tree has more than {DEPTH_MAX} split lines above one zone")]
    TooDeep,
    /// The tree ends before every split has two sides.
    #[error("the tree ends in the middle: every split needs all entries of both its sides")]
    Unfinished,
    /// The tree goes on after its end.
    #[error("{0} entries follow the end of the tree: leave them out")]
    Leftover(usize),
    /// A split line that splits nothing.
    #[error("the split from {} to {} leaves its region on one side", .0.first(), .0.second())]
    Misses(Line),
    /// Two regions for one zone.
    #[error("{0} owns two regions: give one of them another zone")]
    TwoRegions(ZoneId),
    /// A zone that was never given out.
    #[error("{zone} is above {highest}, the highest zone so far")]
    AboveHighest {
        /// The zone above the highest ID.
        zone: ZoneId,
        /// The highest ID, according to the outline.
        highest: ZoneId,
    },
}

impl Partition {
    /// The whole partition as plain data.
    pub fn outline(&self) -> Outline {
        let mut tree = Vec::with_capacity(2 * self.zones.len());
        write(&self.root, &mut tree);
        let bounds = self.bounds().lines().copied().collect();
        Outline { version: self.version, highest: self.highest, bounds, tree }
    }

    /// The partition that `outline` describes, equal to the one whose outline it is.
    ///
    /// Takes outlines from untrusted sources: an outline that describes no partition is refused, and one that is too
    /// large before any region is built from it.
    pub fn from_outline(outline: &Outline) -> Result<Self, OutlineError> {
        // Before any region is built: an outline from outside must not cost much time or memory.
        check_limits(outline)?;
        let bounds = Polygon::from_lines(&outline.bounds).ok_or(OutlineError::Bounds)?;
        let mut reader =
            OutlineReader { entries: outline.tree.iter(), highest: outline.highest, seen: BTreeSet::new() };
        let root = reader.node(bounds, DEPTH_MAX)?;
        match reader.entries.len() {
            0 => Ok(Self::from_root(outline.version, root, outline.highest)),
            left => Err(OutlineError::Leftover(left)),
        }
    }
}

fn write(node: &RegionNode, out: &mut Vec<OutlineEntry>) {
    match &node.content {
        NodeContent::Zone(zone) => out.push(OutlineEntry::Zone(*zone)),
        NodeContent::Split(split) => {
            out.push(OutlineEntry::Split(split.line));
            write(&split.left, out);
            write(&split.right, out);
        }
    }
}

/// Checks the sizes. A tree of n zones has n - 1 splits. Its depth is counted while reading.
fn check_limits(outline: &Outline) -> Result<(), OutlineError> {
    let (edges, entries) = (outline.bounds.len(), outline.tree.len());
    if !(3..=EDGES_MAX).contains(&edges) {
        return Err(OutlineError::Edges(edges));
    }
    if 2 * ZONES_MAX <= entries {
        return Err(OutlineError::TooManyEntries(entries));
    }
    if VERSION_MAX < outline.version {
        return Err(OutlineError::Version(outline.version));
    }
    Ok(())
}

struct OutlineReader<'a> {
    entries: slice::Iter<'a, OutlineEntry>,
    highest: ZoneId,
    seen: BTreeSet<ZoneId>,
}

impl OutlineReader<'_> {
    /// The node that the next entries describe, at most `depth` splits deep, in `region`.
    fn node(&mut self, region: Polygon, depth: usize) -> Result<Arc<RegionNode>, OutlineError> {
        match *self.entries.next().ok_or(OutlineError::Unfinished)? {
            OutlineEntry::Zone(zone) => self.zone(region, zone),
            OutlineEntry::Split(line) => self.split(region, line, depth),
        }
    }

    fn zone(&mut self, region: Polygon, zone: ZoneId) -> Result<Arc<RegionNode>, OutlineError> {
        if self.highest < zone {
            return Err(OutlineError::AboveHighest { zone, highest: self.highest });
        }
        if !self.seen.insert(zone) {
            return Err(OutlineError::TwoRegions(zone));
        }
        Ok(RegionNode::zone(region, zone))
    }

    fn split(&mut self, region: Polygon, line: Line, depth: usize) -> Result<Arc<RegionNode>, OutlineError> {
        // Also bounds the recursion, and with it the stack.
        let below = depth.checked_sub(1).ok_or(OutlineError::TooDeep)?;
        let (left, right) = region.cut(&line).ok_or(OutlineError::Misses(line))?;
        let (left, right) = (self.node(left, below)?, self.node(right, below)?);
        Ok(RegionNode::split(region, Split { line, left, right }))
    }
}

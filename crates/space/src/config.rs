//! The limits of space, each with its reason.

use crate::PartitionVersion;

/// The most corners a world's bounds may have. Checking them compares every side with every corner,
/// and every region at the world's edge inherits some.
pub const CORNERS_MAX: usize = 64;

/// The most edges a world's bounds may have: as many as a region can have that was itself cut from a
/// world with [`CORNERS_MAX`] corners. Every cut looks at every edge.
pub const EDGES_MAX: usize = CORNERS_MAX + DEPTH_MAX;

/// The most zones a partition may have. Each change copies the list of zones.
pub const ZONES_MAX: usize = 4_096;

/// The most split lines between the world and a zone. Every query walks them, and the tree is walked
/// recursively; a balanced partition of [`ZONES_MAX`] zones needs 12.
pub const DEPTH_MAX: usize = 128;

/// The highest version a partition may be read with: more changes than any world makes, and as many
/// left to count, so that counting on from a version read from outside never overflows.
pub const VERSION_MAX: PartitionVersion = PartitionVersion(u64::MAX / 2);

/// The most regions that one circle of the range R may meet after a split: as many as come together
/// where two borders cross. An event that close to the borders asks every zone it meets.
pub const REGIONS_TOGETHER_MAX: usize = 4;

const _: () = assert!(ZONES_MAX.ilog2() as usize <= DEPTH_MAX);
const _: () = assert!(3 <= CORNERS_MAX);

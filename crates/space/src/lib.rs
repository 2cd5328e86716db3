//! Exact geometry: positions, motions, and the partition of the world into the regions of zones.
//!
//! Coordinates are whole millimetres, so every host and client agrees on every border, whatever its processor.
//! Floats appear only at the edges: metres typed by people come in through checked constructors, and
//! unit vectors go out to interest management and drawing. Planning may use them too: a split refused
//! for a millimetre costs nothing.
//!
//! This crate never reads a clock, sends a message or knows what an object is.

mod config;

mod name;
mod position;

mod heading;
mod motion;

mod line;
mod vertex;

mod polygon;

mod partition;

mod fold;
mod grid;

mod voronoi;

pub use config::{CORNERS_MAX, DEPTH_MAX, EDGES_MAX, REGIONS_TOGETHER_MAX, VERSION_MAX, ZONES_MAX};
pub use grid::Grid;
pub use heading::Heading;
pub use line::{Line, SamePoint, Side};
pub use motion::{Millis, Motion, VELOCITY_MAX, Velocity};
pub use name::{Epoch, ObjectId, ZoneId};
pub use partition::{
    GrowError, MergeError, Outline, OutlineEntry, OutlineError, Partition, PartitionVersion, SplitError,
    TooCrowded,
};
pub use polygon::{Polygon, PolygonError};
pub use position::{COORDINATE_MAX, COORDINATE_MIN, Distance, OutOfRange, Position};
pub use voronoi::{Voronoi, VoronoiNeighbour};

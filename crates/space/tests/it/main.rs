//! Regions, partitions, the grid and the Voronoi diagram, against the simplest correct models.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop here")]

mod crowding;
mod grid;
mod model;
mod outline;
mod partition;
mod polygon;
mod voronoi;
mod world;

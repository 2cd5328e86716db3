//! Regions, partitions and the grid, against the dullest correct models.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop here")]

mod crowd;
mod grid;
mod model;
mod outline;
mod partition;
mod polygon;
mod world;

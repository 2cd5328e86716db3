//! The papers' experiments, run on the machines that ship.
//!
//! Every experiment is a set of machines on the simulator, a workload, and a report that puts the paper's numbers
//! beside ours. No protocol is modelled a second time here: the schedule, the policies, the codec and the links are
//! those of `interest`, `wire` and `sim`.
//!
//! | module | paper and question |
//! |---|---|
//! | [`a3`] | Bezerra et al. 2008: what graded interest management saves, and what the saving costs |
//! | [`mesh`] | Assiotis and Tzanov 2006: what borders between servers cost, and what more servers bring |
//! | [`vast`] | Backhaus and Krause 2007: a Voronoi overlay of peers, how it falls apart and what holds it together |

pub mod a3;
pub mod mesh;
mod report;
pub mod vast;
mod waypoint_walk;

pub use waypoint_walk::WaypointWalk;

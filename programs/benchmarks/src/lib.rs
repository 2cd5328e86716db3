//! How fast the shipped code is, one module for each command `ecumene bench …`.
//!
//! | module | what is measured |
//! |---|---|
//! | [`interest`] | a tick of the interest engine, at constant density and growing size ([`crowd`] is the workload) |
//! | [`sim`] | events of the simulator |
//! | [`zone`] | events of a zone, primary and backup together |
//! | [`overlay`] | a move that a peer of the overlay hears |
//!
//! Times are CPU times; comparisons run side by side in one run. `benches/` counts instructions of the same workloads,
//! for numbers that do not wobble. Nothing here prints: `ecumene bench` does.

pub mod crowd;
pub mod interest;
pub mod overlay;
pub mod sim;
pub mod zone;

//! How fast the shipped code is: every benchmark, one module for each command `ecumene bench …`.
//!
//! | module | what is measured |
//! |---|---|
//! | [`interest`] | a tick of the interest engine, at constant density and growing size ([`crowd`] is the workload) |
//! | [`sim`] | events of the simulator |
//! | [`zone`] | events of a zone, primary and backup together |
//! | [`overlay`] | a move that a peer of the overlay hears |
//! | [`server`] | real processes: what a client costs the server, beside plain UDP ([`floor`]) |
//! | [`failover`] | real processes: from killing the deciding host to the first action done |
//! | [`hostile`] | real processes under attack: what honest players notice of it, and what it costs |
//!
//! Times are CPU times; comparisons run side by side in one run. `benches/` counts instructions of the same workloads,
//! for numbers that do not wobble. Nothing here prints: `ecumene bench` does.

pub mod crowd;
pub mod failover;
pub mod floor;
pub mod hostile;
pub mod interest;
pub mod overlay;
mod scratch;
pub mod server;
pub mod sim;
pub mod zone;

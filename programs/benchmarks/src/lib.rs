//! The benchmarks of the shipped code, one module for each command `ecumene bench …`.
//!
//! | module | measures |
//! |---|---|
//! | [`interest`] | a tick of the interest engine at constant density and growing size ([`interest_crowd`] is its load) |
//! | [`sim`] | events of the simulator |
//! | [`zone`] | events of a zone, primary and backup together |
//! | [`overlay`] | a move that a peer of the overlay receives |
//! | [`server`] | real processes: the cost of a client to the server, beside plain UDP ([`floor`]) |
//! | [`world`] | real processes: the default world with the game's own bots, and worlds without players |
//! | [`overload`] | real processes: the default world with more players than it can serve, judged by [`claims`] |
//! | [`failover`] | real processes: from killing the primary's host to the first action done |
//! | [`disk`] | real processes: bytes on disk, memory and time of a restart, while players act as fast as disks keep up |
//! | [`hostile`] | real processes under attack: latency and errors of honest players, memory of the servers |
//!
//! Times are CPU times; comparisons run side by side in one run. `benches/` counts instructions of the same workloads,
//! for numbers that do not wobble. Nothing here prints: `ecumene bench` does.

mod acting_player;
mod children;
pub mod claims;
pub mod disk;
pub mod failover;
pub mod floor;
pub mod hostile;
pub mod interest;
pub mod interest_crowd;
pub mod overlay;
pub mod overload;
mod scratch;
pub mod server;
pub mod sim;
pub mod world;
pub mod zone;

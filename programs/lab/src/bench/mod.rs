//! How fast the shipped code is. Times are CPU times of this process; comparisons run side by side in
//! one run. `benches/` counts instructions of the same workloads, for numbers that do not wobble.

pub mod crowd;
pub mod interest;
pub mod overlay;
pub mod sim;
pub mod zone;

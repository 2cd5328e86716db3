//! The error of crowds and populations with impossible parameters.

use thiserror::Error;

/// The reason why a crowd or a population was refused.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum CrowdError {
    /// The world has no room, or its far corner is no position.
    #[error("a world {0} mm wide cannot be walked in: give a side from 1 mm to 1,073,741,823 mm")]
    Side(u32),
    /// The speed is zero, so that no walker would ever arrive.
    #[error("walkers need a speed: give some millimetres per step, and more than 0 mm/s")]
    Speed,
    /// The groups are to have zero members each.
    #[error("a group has members: give a size of at least 1")]
    GroupSize,
    /// The square to gather in is wider than the world, in millimetres.
    #[error("the square to gather in is {0} mm wide, wider than the world: give a smaller one")]
    Gathering(u32),
    /// A mean time is zero, so that the named change would happen infinitely often.
    #[error("a mean time of zero between {0} means infinitely many: give a longer one")]
    MeanTime(&'static str),
    /// The share of graceful ends is not a number from 0 to 1.
    #[error("{0} is no share of players: give a number from 0 to 1")]
    Share(f64),
    /// More than 100 percent of the players are to fail.
    #[error("{0} percent of the players cannot fail: give a number from 0 to 100")]
    Percent(u32),
    /// A second cut begins before the first is mended.
    #[error("the network is cut while it is still cut: let the first cut end before the next begins")]
    CutsOverlap,
}

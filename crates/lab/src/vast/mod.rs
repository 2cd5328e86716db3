//! VAST, the experiment of Backhaus and Krause (2007): players who tell each other where they are, and whether they stay
//! together.
//!
//! Reading order: `setting` (what may be chosen), `node` (a peer in its seat), `world` (who joins, walks and leaves),
//! `oracle` (the overlay as it should be), `checkers` (what must hold all the time), `sightings` (who comes into view, and
//! when they are heard), `results` (what came of it, in the paper's terms), `report` (both protocols beside each other).

mod checkers;
mod node;
mod oracle;
pub mod report;
mod results;
mod setting;
mod sightings;
mod world;

pub use checkers::Violation;
pub use oracle::Sample;
pub use results::{Results, Summary, json, results, tables};
pub use setting::{Options, Protocol, SettingError, Sizes, Walk, case};
pub use world::{Case, Dot, Ran, run};

//! VAST, the experiment of Backhaus and Krause (2007): peers that tell each other where they are, and whether their
//! overlay stays together.
//!
//! Reading order: `setting` (the options), `node` (a peer in its slot), `network` (all slots and the lines between
//! them), `walkers` (when each peer joins, steps and leaves), `world` (a run), `observations` (what is recorded of it),
//! `oracle` (the overlay as it should be), `checkers` (the rules that must hold all the time), `sightings` (when peers
//! in view are heard first), `delays` (when steps arrive), `traffic` (bytes sent and received), `results` (a run in the
//! paper's terms), `series` (several runs together), `ablation` (which change cures what), `part` (everything that is
//! to be run), `claims` (the expected results), `report` (tables, figures, a page).

mod ablation;
mod checkers;
mod claims;
mod delays;
mod network;
mod node;
mod observations;
mod oracle;
mod part;
pub mod report;
mod results;
mod series;
mod setting;
mod sightings;
mod traffic;
mod walkers;
mod world;

pub use checkers::OverlayViolation;
pub use claims::{ExperimentClaim, claims, failures};
pub use oracle::OverlaySample;
pub use part::{VastMeasurements, VastPart, VastPlan, measure};
pub use results::{Cost, Summary, VastResults};
pub use series::{Series, SummaryNumbers};
pub use setting::{Joins, MessageSizes, Protocol, VastOptions, VastSettingError, WalkPattern, case};
pub use world::{MapDot, OverlayMap, VastCase, VastOutcome, run};

//! VAST, the experiment of Backhaus and Krause (2007): players who tell each other where they are, and whether they stay
//! together.
//!
//! Reading order: `setting` (what may be chosen), `node` (a peer in its seat), `network` (all
//! seats and the lines between them), `walkers` (who joins, steps and leaves when), `world` (a run), `observations` (what is
//! seen of it), `oracle` (the overlay as it should be), `checkers` (what must hold all the time), `sightings` (who comes into view, and
//! when they are heard), `delays` (when steps are heard), `traffic` (who sends how much), `results` (what came of it, in the
//! paper's terms), `series` (several runs together), `ablation` (which cure cures what), `part` (everything that is to be
//! run), `claims` (what should come out), `report` (tables, figures, a page).

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

pub use checkers::Violation;
pub use claims::{Claim, claims, failures};
pub use oracle::Sample;
pub use part::{Measured, Part, Plan, measure};
pub use results::{Cost, Results, Summary};
pub use series::{Numbers, Series};
pub use setting::{Joins, Options, Protocol, SettingError, Sizes, Walk, case};
pub use world::{Case, Dot, Map, Ran, run};

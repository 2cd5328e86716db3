//! The mesh of zone servers, the experiments of Assiotis and Tzanov (2006): what borders between servers cost, and what
//! more servers bring.
//!
//! Whole worlds run on the simulator: zones with their backups, a directory, disks, and clients that play Kosmos. Every
//! server has one processor, on which each message takes the same time, in or out; so a server that has too much to do
//! falls behind, as the paper's did. All checkers watch while the worlds are measured.
//!
//! Reading order: `setting` (what may be chosen), `ground` and `clients` (the world and who lives where), `bot` (what they
//! do), `case` (one run), `torture` (what the authors tried by hand), `results` (all runs), `claims` (the paper's claims,
//! and ours), `report` (tables and figures).

mod bot;
mod case;
mod claims;
mod clients;
mod ground;
pub mod report;
mod results;
mod setting;
mod torture;

pub use case::{Measured, Messages, Times};
pub use claims::{Claim, claims, failures, violations};
pub use results::{Results, Row, measure, steps};
pub use setting::{Part, SERVICE_US, Setting, SettingError};
pub use torture::{Scenario, Tortured};

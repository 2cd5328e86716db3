//! The mesh of zone servers, the experiments of Assiotis and Tzanov (2006): what borders between servers cost, and what
//! more servers bring.
//!
//! Whole worlds run on the simulator: zones with their backups, a directory, disks, and clients that play Kosmos. Every
//! server has one processor, on which each message takes the same time, in or out; so a server that has too much to do
//! falls behind, as the paper's did. All checkers watch while the worlds are measured.
//!
//! Reading order: `setting` (the options), `ground` and `clients` (the world and where its clients live), `bot` (how
//! clients play), `case` (one run), `torture` (the authors' tests by hand), `results` (all runs), `claims` (the paper's
//! claims, and ours), `report` (tables and figures).

mod bot;
mod case;
mod claims;
mod clients;
mod ground;
pub mod report;
mod results;
mod setting;
mod torture;

pub use case::{MeshMeasurement, MessageRates, TimeStatistics};
pub use claims::{ExperimentClaim, claims, failures, violations};
pub use results::{MeshResults, MeshRow, measure, steps};
pub use setting::{MeshPart, MeshSetting, MeshSettingError, SERVICE_US};
pub use torture::{TortureResult, TortureScenario};

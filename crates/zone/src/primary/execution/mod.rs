//! From something that is to be done to the record that makes it true, in the order in which to read:
//!
//! 1. `work`: what is to be done, and what the game is asked;
//! 2. `plan`: how far it reaches, and into which zones;
//! 3. `execute`: the game is called on a draft; nothing becomes true yet;
//! 4. `finish`: the changes that follow from what the game said, by the kind of work;
//! 5. `commit`: one record, in state and log.
//!
//! `joint` has the two halves of an event of several zones, `letters` the way of letters between zones, `schedule` when
//! objects think.
//!
//! *When* work may be executed is not decided here but in `coordination`, which holds the locks.

mod commit;
mod execute;
mod finish;
mod joint;
mod letters;
mod plan;
mod schedule;
mod work;

pub use commit::changes_of;
pub(super) use commit::newer;
pub(super) use execute::{Executed, Failed, Joint};
pub(super) use letters::{entrance_zone, posted};
pub(super) use plan::{InSight, Reach, strayed_to, transfer_reach, wider};
pub(super) use schedule::Schedule;
pub(super) use work::{Join, Subject, Work, may_be_refused};

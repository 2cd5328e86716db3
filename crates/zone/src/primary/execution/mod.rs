//! Execution: from a piece of work to its record, in the order in which to read:
//!
//! 1. `work`: the pieces of work, and the call of the game that each stands for;
//! 2. `plan`: how far the work reaches, and into which zones;
//! 3. `execute`: the game is called on a draft; the zone's state does not change yet;
//! 4. `finish`: the changes that follow from the game's answer, by the kind of work;
//! 5. `commit`: one record, in state and log.
//!
//! `joint` has the two halves of an event of several zones, `letters` the route of letters between zones,
//! `think_schedule` the times at which objects think.
//!
//! *When* work may be executed is not decided here but in `coordination`, which holds the locks.

mod commit;
mod execute;
mod finish;
mod joint;
mod letters;
mod plan;
mod think_schedule;
mod work;

pub use commit::changes_of;
pub(super) use commit::newer;
pub(super) use execute::{ExecutedCall, FailedCall, JointEvent};
pub(super) use letters::{entrance_zone, posted};
pub(super) use plan::{EventReach, VisibleObjects, strayed_to, transfer_reach, wider};
pub(super) use think_schedule::ThinkSchedule;
pub(super) use work::{JoinRequest, Work, WorkKey, may_be_refused, may_refuse_actions};

//! Checkers of the invariants, one file each. A checker sees everything that happens and reports violations.
//!
//! All but `bounded`, `recovery` and `ghosts`, which look into living machines, check histories of real processes as
//! well.
//!
//! Within every zone:
//!
//! | file | statement |
//! |---|---|
//! | `one_primary` | per epoch one host writes, the one the directory names; a record has one content |
//! | `safe_to_tell` | an announced record is held twice, or is on the disk of a primary that is alone |
//! | `nothing_lost` | a primary holds everything that was ever announced |
//! | `prefix` | a backup stores exactly what its primary wrote |
//! | `same_state` | replicas with the same log hold the same state |
//! | `time` | records' times and cuts never go back |
//! | `suspects` | a call of the game that hung one primary is not executed by the next |
//! | `rejoin` | a host that came back says nothing before it is admitted, in a newer epoch |
//! | `bounded` | queues stay below their limits |
//!
//! In the whole world, whatever its zones:
//!
//! | file | statement |
//! |---|---|
//! | `fence` | no player believes a lower epoch after a higher one |
//! | `order` | an observer sees of an object what its owners' logs say, in their order |
//! | `exactly_once` | actions are done once, in order, and every result that a player got is in a log |
//! | `names` | an object has one owner at a time, its versions no gap, and no name is given twice |
//! | `replay` | a single-threaded reference comes to the same effects |
//! | `conservation` | items and coins are neither made nor lost but where the game says so |
//! | `recovery` | after the faults end, all players play again and agree with the primaries |
//!
//! Between zones:
//!
//! | file | statement |
//! |---|---|
//! | `post` | post items arrive once, in order, and are dealt with; letters are not passed on for ever |
//! | `passage` | a transferred object arrives as it left, with its timers and player, or stays |
//! | `frozen` | nothing happens to an object that is offered to another zone, and no offer stays open |
//! | `locks` | only its event touches what is locked for it, and no lock is left over |
//! | `all_or_nothing` | a decided event is applied by every participant, once and completely; no other is |
//! | `ghosts` | a zone's ghosts are as their owners have the objects |
//! | `whereabouts` | a birth zone knows the owners of its objects; every player is in one zone |
//! | `one_order` | all zones' records fit into one order in which each finds what it depends on |

mod all_or_nothing;
mod bounded;
mod conservation;
mod exactly_once;
mod fence;
mod frozen;
mod ghosts;
mod living_objects;
mod locks;
#[cfg(test)]
mod model;
mod names;
mod nothing_lost;
mod one_order;
mod one_primary;
mod order;
mod passage;
mod post;
mod prefix;
mod recovery;
mod rejoin;
mod replay;
mod safe_to_tell;
mod same_state;
#[cfg(test)]
pub(crate) mod scripted_log;
mod surviving_log;
mod suspects;
mod time;
#[cfg(test)]
mod toy;
mod whereabouts;

use crate::history_checker::{Ending, ZoneSpec};
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use machine::{Address, Span, Time};
use zone::Note;

pub use bounded::BoundedChecker;
pub use recovery::{RecoveryBaseline, check as recovery};
pub use replay::same_end;
pub use surviving_log::SurvivingLog;

/// Names of the checkers that find violations in a world of one zone.
pub const ALL: [&str; 16] = [
    "one_primary",
    "safe_to_tell",
    "nothing_lost",
    "prefix",
    "same_state",
    "fence",
    "order",
    "exactly_once",
    "names",
    "time",
    "replay",
    "conservation",
    "rejoin",
    "suspects",
    "bounded",
    "recovery",
];

/// Names of the checkers that have work only between zones.
pub const BETWEEN: [&str; 8] =
    ["post", "passage", "frozen", "locks", "all_or_nothing", "ghosts", "whereabouts", "one_order"];

/// Names of the checkers that look into living machines: histories of real processes do not show it.
pub const LIVING: [&str; 3] = ["bounded", "recovery", "ghosts"];

/// Things begun this long before a settled history ends may still be under way: NPCs live on, and cross borders, when
/// the players rest.
pub(crate) const UNDER_WAY: Span = Span::from_millis(3_000);

/// An occurrence that a checker of one zone sees.
#[derive(Clone, Copy, Debug)]
pub enum Observation<'a> {
    /// A machine reports a note about itself.
    Noted(Address, &'a Note),
    /// A replica is gone, and everything it had in memory.
    Gone(Address),
}

/// The checkers that watch one zone while it runs.
#[derive(Debug, Default)]
pub struct ZoneCheckers {
    one_primary: one_primary::OnePrimaryChecker,
    same_state: same_state::SameStateChecker,
    rejoin: rejoin::RejoinChecker,
    suspects: suspects::SuspectsChecker,
}

impl ZoneCheckers {
    /// Shows the checkers an observation. The tracker has not taken it in yet.
    pub fn see(
        &mut self,
        seen: Observation<'_>,
        tracker: &RecordTracker,
        spec: &ZoneSpec,
        out: &mut Violations,
    ) {
        self.one_primary.see(seen, tracker, out);
        self.rejoin.see(seen, out);
        self.same_state.see(seen, tracker, out);
        safe_to_tell::see(seen, tracker, spec, out);
        nothing_lost::see(seen, tracker, out);
        prefix::see(seen, tracker, out);
        self.suspects.see(seen, tracker, out);
    }
}

/// The checkers that watch what players see and hear, whichever zone tells them.
#[derive(Debug, Default)]
pub struct PlayerCheckers {
    order: order::OrderChecker,
    exactly_once: exactly_once::ExactlyOnceChecker,
}

impl PlayerCheckers {
    /// Shows the checkers a note of a machine.
    pub fn see(&mut self, by: Address, note: &Note, out: &mut Violations) {
        self.order.see(by, note, out);
        self.exactly_once.see(note, out.now);
        fence::see(note, out);
    }

    /// Takes in that a process starts.
    pub fn started(&mut self, by: Address) {
        self.order.started(by);
    }

    /// Forgets what a full stop undid, as the durability allows.
    pub fn roll_back(&mut self, allowed_from: Time) {
        self.order.roll_back(allowed_from);
        self.exactly_once.roll_back(allowed_from);
    }
}

/// Checks the histories that survived. Returns the state of each zone by the reference, if it could replay all of them.
pub fn end(
    logs: &[SurvivingLog<'_>],
    player_checkers: &PlayerCheckers,
    ending: Ending,
    out: &mut Violations,
) -> Vec<zone::ZoneState> {
    // Things begun before this must be over.
    let due = (ending == Ending::Settled).then(|| out.now - UNDER_WAY);
    post::end(logs, due, out);
    passage::end(logs, out);
    frozen::end(logs, due, out);
    locks::end(logs, due, out);
    all_or_nothing::end(logs, due, out);
    player_checkers.exactly_once.end(logs, out);
    player_checkers.order.end(logs, out);
    names::end(logs, out);
    time::end(logs, out);
    // The checkers below walk all records in one order; without an order they would report nonsense.
    let Some(order) = one_order::end(logs, out) else { return Vec::new() };
    conservation::end(logs, &order, out);
    let states = replay::end(logs, &order, out);
    whereabouts::end(&states, out);
    states
}

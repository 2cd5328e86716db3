//! What must always hold, one file each. A checker sees everything that happens and says what is wrong with it.
//!
//! All but `bounded`, `recovery` and `ghosts`, which look into living machines, judge histories of real processes as well.
//!
//! Within every zone:
//!
//! | file | statement | in the reliability list |
//! |---|---|---|
//! | `one_primary` | per epoch one host writes, the one the directory names; a record has one content | I3 |
//! | `safe_to_tell` | what is announced is held twice, or on disk by who is alone | I16 |
//! | `nothing_lost` | whoever reigns holds everything that was ever announced | I21 |
//! | `prefix` | what a backup stores is what its primary wrote | I19 |
//! | `same_state` | replicas with the same log hold the same state | I20 |
//! | `time` | records' times and cuts never go back | H13 |
//! | `rejoin` | a host that came back says nothing before it is admitted, in a newer epoch | I22 |
//! | `bounded` | queues stay below their limits | I24 |
//!
//! In the whole world, whatever its zones:
//!
//! | file | statement | in the reliability list |
//! |---|---|---|
//! | `fence` | nobody believes a lower epoch after a higher one | I4 |
//! | `order` | what an observer sees of an object is what its owners' logs say, in their order | I5 |
//! | `exactly_once` | actions are done once, in order, and what was answered is in a log | I14, I15 |
//! | `names` | an object has one owner at a time, its versions no gap, and no name is given twice | I1 |
//! | `replay` | a single-threaded reference comes to the same effects | I9, I8 |
//! | `conservation` | items and coins are neither made nor lost but where the game says so | I17 |
//! | `recovery` | after the faults end, everybody plays again and agrees | I23 |
//!
//! Between zones:
//!
//! | file | statement | in the reliability list |
//! |---|---|---|
//! | `post` | what one zone sends another arrives once, in order, and is dealt with; letters are not passed on for ever | I18 |
//! | `passage` | an object that goes over arrives as it left, with its timers and player, or stays | I1, I14 |
//! | `frozen` | nothing happens to an object that is offered to another zone, and no offer stays open | I1, I18 |
//! | `locks` | what is locked for an event of another zone is touched by nobody else, and no lock is left over | I10, I12 |
//! | `all_or_nothing` | a decided event is applied by every zone that takes part, once and completely; no other is | I8 |
//! | `ghosts` | what a zone knows of another's objects is what their owner has | I5, I23 |
//! | `whereabouts` | the zone in which somebody was born knows whose they are, or that they are gone; every player is somewhere, once | I1, I18 |
//! | `one_order` | all zones' records fit into one order in which each finds what it depends on | I7 |

mod all_or_nothing;
mod bounded;
mod chain;
mod conservation;
mod exactly_once;
mod fence;
mod frozen;
mod ghosts;
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
mod register;
mod rejoin;
mod replay;
mod safe_to_tell;
mod same_state;
#[cfg(test)]
pub(crate) mod story;
mod time;
#[cfg(test)]
mod toy;
mod whereabouts;

use crate::judge::{About, Ending};
use crate::ledger::Ledger;
use crate::violation::Violations;
use machine::{Address, Span, Time};
use zone::Note;

pub use bounded::Bounded;
pub use chain::Chain;
pub use recovery::{Agreement, check as recovery};
pub use replay::same_end;

/// Those that notice something in a world of one zone.
pub const ALL: [&str; 15] = [
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
    "bounded",
    "recovery",
];

/// Those that have work only between zones.
pub const BETWEEN: [&str; 8] =
    ["post", "passage", "frozen", "locks", "all_or_nothing", "ghosts", "whereabouts", "one_order"];

/// Those that look into living machines: histories of real processes cannot tell.
pub const LIVING: [&str; 3] = ["bounded", "recovery", "ghosts"];

/// What was begun this long before a settled history ends may still be under way: creatures go on living, and cross
/// borders, when the players rest.
pub(crate) const UNDER_WAY: Span = Span::from_millis(3_000);

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// A machine says something about itself.
    Said(Address, &'a Note),
    /// Somebody is gone, and everything they had in memory.
    Gone(Address),
}

/// Everybody who watches one zone as it goes.
#[derive(Debug, Default)]
pub struct Checkers {
    one_primary: one_primary::State,
    same_state: same_state::State,
    rejoin: rejoin::State,
}

impl Checkers {
    /// Sees something that happened. The ledger has not heard of it yet.
    pub fn see(&mut self, fact: Fact<'_>, ledger: &Ledger, about: &About, out: &mut Violations) {
        self.one_primary.see(fact, ledger, out);
        self.rejoin.see(fact, out);
        self.same_state.see(fact, ledger, out);
        safe_to_tell::see(fact, ledger, about, out);
        nothing_lost::see(fact, ledger, out);
        prefix::see(fact, ledger, out);
    }
}

/// Everybody who watches what players see and hear, whichever zone tells them.
#[derive(Debug, Default)]
pub struct Observers {
    order: order::State,
    exactly_once: exactly_once::State,
}

impl Observers {
    /// Sees what somebody says about themselves.
    pub fn see(&mut self, by: Address, note: &Note, out: &mut Violations) {
        self.order.see(by, note, out);
        self.exactly_once.see(note, out.now);
        fence::see(note, out);
    }

    /// Somebody's life begins.
    pub fn started(&mut self, by: Address) {
        self.order.started(by);
    }

    /// A full stop undid what was told last, as its setting allows.
    pub fn roll_back(&mut self, allowed_from: Time) {
        self.order.roll_back(allowed_from);
        self.exactly_once.roll_back(allowed_from);
    }
}

/// Judges the histories that survived; says what a reference comes to in each zone, if it comes through.
pub fn end(
    chains: &[Chain<'_>],
    observers: &Observers,
    ending: Ending,
    out: &mut Violations,
) -> Vec<zone::State> {
    // What was begun before this must be over.
    let due = (ending == Ending::Settled).then(|| out.now - UNDER_WAY);
    post::end(chains, due, out);
    passage::end(chains, out);
    frozen::end(chains, due, out);
    locks::end(chains, due, out);
    all_or_nothing::end(chains, due, out);
    observers.exactly_once.end(chains, out);
    observers.order.end(chains, out);
    names::end(chains, out);
    time::end(chains, out);
    let Some(order) = one_order::end(chains, out) else { return Vec::new() };
    conservation::end(chains, &order, out);
    let states = replay::end(chains, &order, out);
    whereabouts::end(&states, out);
    states
}

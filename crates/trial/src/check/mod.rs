//! What must always hold, one file each. A checker sees everything that happens and says what is wrong with it.
//!
//! All but `bounded` and `recovery`, which look into living machines, judge histories of real processes as well.
//!
//! | file | statement | in the reliability list |
//! |---|---|---|
//! | `one_primary` | per epoch one host writes, the one the directory names; a record has one content | I3 |
//! | `safe_to_tell` | what is announced is held twice, or on disk by who is alone | I16 |
//! | `nothing_lost` | whoever reigns holds everything that was ever announced | I21 |
//! | `prefix` | what a backup stores is what its primary wrote | I19 |
//! | `same_state` | replicas with the same log hold the same state | I20 |
//! | `fence` | nobody believes a lower epoch after a higher one | I4 |
//! | `order` | what an observer sees of an object is what the log says, versions rising | I5 |
//! | `exactly_once` | actions are done once, in order, and what was answered is in the log | I14, I15 |
//! | `names` | an object's versions have no gap, and no name is given twice | I1 |
//! | `time` | records' times and cuts never go back | H13 |
//! | `replay` | a single-threaded reference comes to the same effects | I9, I8 |
//! | `conservation` | items and coins are neither made nor lost but where the game says so | I17 |
//! | `rejoin` | a host that came back says nothing before it is admitted, in a newer epoch | I22 |
//! | `bounded` | queues stay below their limits | I24 |
//! | `recovery` | after the faults end, everybody plays again and agrees | I23 |

mod bounded;
mod conservation;
mod exactly_once;
mod fence;
mod names;
mod nothing_lost;
mod one_primary;
mod order;
mod prefix;
mod recovery;
mod rejoin;
mod replay;
mod safe_to_tell;
mod same_state;
mod time;

use crate::judge::About;
use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use machine::{Address, Time};
use zone::Note;

pub use bounded::Bounded;
pub use recovery::{Agreement, check as recovery};
pub use replay::same_end;

/// All of them.
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

/// Those that look into living machines: histories of real processes cannot tell.
pub const LIVING: [&str; 2] = ["bounded", "recovery"];

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'a> {
    /// A machine says something about itself.
    Said(Address, &'a Note),
    /// Somebody is gone, and everything they had in memory.
    Gone(Address),
}

/// Everything that watches a run as it goes.
#[derive(Debug, Default)]
pub struct Checkers {
    one_primary: one_primary::State,
    same_state: same_state::State,
    order: order::State,
    exactly_once: exactly_once::State,
    rejoin: rejoin::State,
}

impl Checkers {
    /// Sees something that happened. The ledger has not heard of it yet.
    pub fn see(&mut self, fact: Fact<'_>, ledger: &Ledger, about: &About, out: &mut Violations) {
        self.one_primary.see(fact, ledger, out);
        self.rejoin.see(fact, out);
        self.order.see(fact, out);
        self.exactly_once.see(fact, out.now);
        self.same_state.see(fact, ledger, out);
        safe_to_tell::see(fact, ledger, about, out);
        nothing_lost::see(fact, ledger, out);
        prefix::see(fact, ledger, out);
        fence::see(fact, out);
    }

    /// A full stop undid what was told last, as its setting allows.
    pub fn roll_back(&mut self, allowed_from: Time) {
        self.order.roll_back(allowed_from);
        self.exactly_once.roll_back(allowed_from);
    }

    /// Judges the history that survived; says what a reference comes to, if it comes through.
    pub fn end(
        &self,
        last: Name,
        ledger: &Ledger,
        about: &About,
        out: &mut Violations,
    ) -> Option<zone::State> {
        let records = ledger.chain(last);
        self.exactly_once.end(&records, ledger, out);
        self.order.end(&records, ledger, out);
        names::end(&records, ledger, out);
        time::end(&records, ledger, out);
        conservation::end(&records, ledger, out);
        replay::end(&records, ledger, about, out)
    }
}

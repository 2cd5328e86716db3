//! World time in the log never goes back, and neither do cuts.

use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use machine::Time;
use zone::cut_at;

const NAME: &str = "time";

pub fn end(records: &[Name], ledger: &Ledger, out: &mut Violations) {
    let mut last = Time::ZERO;
    for (at, record) in ledger.decoded(records) {
        if record.time < last || record.cut != cut_at(record.time) {
            let text = format!("record {} is of {}, the one before of {last}", record.index, record.time);
            out.add_at(at, NAME, text);
        }
        last = record.time;
    }
}

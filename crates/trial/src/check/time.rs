//! World time in the log never goes back, and neither do cuts.

use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use machine::Time;
use zone::{Record, cut_at};

const NAME: &str = "time";

pub fn end(records: &[Name], ledger: &Ledger, out: &mut Violations) {
    let mut last = Time::ZERO;
    for record in records.iter().filter_map(|name| Record::from_bytes(&ledger.records.get(name)?.bytes)) {
        if record.time < last || record.cut != cut_at(record.time) {
            out.add(NAME, format!("record {} is of {}, the one before of {last}", record.index, record.time));
        }
        last = record.time;
    }
}

//! World time in a log never goes back, and neither do cuts.

use super::chain::Chain;
use crate::violation::Violations;
use machine::Time;
use zone::cut_at;

const NAME: &str = "time";

pub fn end(chains: &[Chain<'_>], out: &mut Violations) {
    for chain in chains {
        let mut last = Time::ZERO;
        for line in &chain.lines {
            let record = &line.record;
            if record.time < last || record.cut != cut_at(record.time) {
                let text = format!("record {} is of {}, the one before of {last}", record.index, record.time);
                out.add_at(line.at, NAME, text);
            }
            last = record.time;
        }
    }
}

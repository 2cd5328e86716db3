//! World time in a log never goes back, and neither do cuts.

use super::surviving_log::SurvivingLog;
use crate::violation::Violations;
use machine::Time;
use zone::cut_at;

const NAME: &str = "time";

pub fn end(logs: &[SurvivingLog<'_>], out: &mut Violations) {
    for log in logs {
        let mut last = Time::ZERO;
        for line in &log.lines {
            let record = &line.record;
            if record.time < last || record.cut != cut_at(record.time) {
                let text = format!("record {} is of {}, the one before of {last}", record.index, record.time);
                out.add_at(line.at, NAME, text);
            }
            last = record.time;
        }
    }
}

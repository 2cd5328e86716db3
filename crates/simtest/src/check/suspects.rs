//! A primary executes no action that its leadership named a suspect when it began.

use super::Observation;
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use zone::{Cause, Note, Record, Suspect};

const NAME: &str = "suspects";

pub fn see(seen: Observation<'_>, tracker: &RecordTracker, out: &mut Violations) {
    // A record without an execution is an answer that the game was not asked for.
    let Observation::Noted(host, Note::Wrote { record, execution: Some(_) }) = seen else { return };
    let Some(record) = Record::from_bytes(record) else { return };
    let (Cause::Act(by, number), Some(leadership)) = (record.cause, tracker.leaderships.get(&record.epoch))
    else {
        return;
    };
    let is_it = |it: Suspect| matches!(it, Suspect::Act { player, number: suspect, .. } if (player, suspect) == (by, number));
    if leadership.suspects.iter().any(is_it) {
        let (index, epoch) = (record.index, record.epoch);
        let text =
            format!("{host:?} executes action {number} of {by}, a suspect in {epoch:?}, in record {index}");
        out.add(NAME, text);
    }
}

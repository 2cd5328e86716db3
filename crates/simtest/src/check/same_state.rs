//! Replicas with the same log hold the same state: all that report a hash for a record report the same one.

use super::Observation;
use crate::record_tracker::{RecordName, RecordTracker};
use crate::violation::Violations;
use std::collections::BTreeMap;
use zone::Note;

const NAME: &str = "same_state";

#[derive(Debug, Default)]
pub struct SameStateChecker {
    hashes: BTreeMap<RecordName, u64>,
}

impl SameStateChecker {
    pub fn see(&mut self, seen: Observation<'_>, tracker: &RecordTracker, out: &mut Violations) {
        match seen {
            Observation::Noted(host, Note::Differs(why)) => {
                out.add(NAME, format!("{host:?} gave up: {why}"));
            }
            Observation::Noted(host, Note::Leads { head, hash, .. }) => {
                let Some(&mine) = tracker.memory.get(&host) else { return };
                let Some(epoch) = tracker.epoch_at(mine, *head) else { return };
                // The first replica that reports a hash sets it for all others.
                let known = *self.hashes.entry((epoch, *head)).or_insert(*hash);
                if known != *hash {
                    out.add(
                        NAME,
                        format!("{host:?} has hash {hash:016x} at record {head}, another had {known:016x}"),
                    );
                }
            }
            _ => (),
        }
    }
}

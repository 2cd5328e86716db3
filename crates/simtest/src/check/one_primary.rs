//! Per epoch one host writes, the one the directory names; and a record, once written, has one content for ever.

use super::Observation;
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use machine::Address;
use space::Epoch;
use std::collections::BTreeMap;
use zone::{Note, Record};

const NAME: &str = "one_primary";

#[derive(Debug, Default)]
pub struct OnePrimaryChecker {
    writers: BTreeMap<Epoch, Address>,
}

impl OnePrimaryChecker {
    pub fn see(&mut self, seen: Observation<'_>, tracker: &RecordTracker, out: &mut Violations) {
        match seen {
            Observation::Noted(host, Note::Wrote { record, .. }) => self.wrote(host, record, tracker, out),
            Observation::Noted(host, Note::Leads { epoch, .. }) => match tracker.leaderships.get(epoch) {
                Some(leadership) if leadership.primary == host => (),
                Some(leadership) => out.add(
                    NAME,
                    format!("{host:?} is primary in {epoch:?}, the directory names {:?}", leadership.primary),
                ),
                None => out.add(
                    NAME,
                    format!("{host:?} is primary in {epoch:?}, which the directory does not know"),
                ),
            },
            _ => (),
        }
    }

    fn wrote(&mut self, host: Address, bytes: &[u8], tracker: &RecordTracker, out: &mut Violations) {
        let Some(record) = Record::from_bytes(bytes) else {
            return out.add(NAME, format!("{host:?} wrote a record that does not decode"));
        };
        let writer = *self.writers.entry(record.epoch).or_insert(host);
        if writer != host {
            out.add(
                NAME,
                format!(
                    "{host:?} writes record {} in {:?}, in which {writer:?} wrote",
                    record.index, record.epoch
                ),
            );
        }
        let known = tracker.records.get(&(record.epoch, record.index));
        if known.is_some_and(|it| it.bytes != bytes) {
            out.add(NAME, format!("record {} of {:?} has two contents", record.index, record.epoch));
        }
    }
}

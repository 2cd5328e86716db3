//! Per epoch one host writes, the one the directory names; and a record, once written, has one content for ever.

use super::Fact;
use crate::ledger::Ledger;
use crate::violation::Violations;
use machine::Address;
use space::Epoch;
use std::collections::BTreeMap;
use zone::{Note, Record};

const NAME: &str = "one_primary";

#[derive(Debug, Default)]
pub struct State {
    writers: BTreeMap<Epoch, Address>,
}

impl State {
    pub fn see(&mut self, fact: Fact<'_>, ledger: &Ledger, out: &mut Violations) {
        match fact {
            Fact::Said(host, Note::Wrote { record, .. }) => self.wrote(host, record, ledger, out),
            Fact::Said(host, Note::Reigns { epoch, .. }) => match ledger.reigns.get(epoch) {
                Some(reign) if reign.primary == host => (),
                Some(reign) => out.add(
                    NAME,
                    format!("{host:?} reigns in {epoch:?}, the directory names {:?}", reign.primary),
                ),
                None => {
                    out.add(NAME, format!("{host:?} reigns in {epoch:?}, which the directory does not know"))
                }
            },
            _ => (),
        }
    }

    fn wrote(&mut self, host: Address, bytes: &[u8], ledger: &Ledger, out: &mut Violations) {
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
        let known = ledger.records.get(&(record.epoch, record.index));
        if known.is_some_and(|it| it.bytes != bytes) {
            out.add(NAME, format!("record {} of {:?} has two contents", record.index, record.epoch));
        }
    }
}

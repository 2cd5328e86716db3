//! Replicas with the same log hold the same state: whoever reports a hash for a record reports the same one.

use super::Fact;
use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use std::collections::BTreeMap;
use zone::Note;

const NAME: &str = "same_state";

#[derive(Debug, Default)]
pub struct State {
    hashes: BTreeMap<Name, u64>,
}

impl State {
    pub fn see(&mut self, fact: Fact<'_>, ledger: &Ledger, out: &mut Violations) {
        match fact {
            Fact::Said(host, Note::Differs(why)) => {
                out.add(NAME, format!("{host:?} gave up: {why}"));
            }
            Fact::Said(host, Note::Reigns { head, hash, .. }) => {
                let Some(&mine) = ledger.memory.get(&host) else { return };
                let Some(epoch) = ledger.epoch_at(mine, *head) else { return };
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

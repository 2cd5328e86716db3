//! A host that came back (or never had a role) writes and announces nothing before it reigns.

use super::Fact;
use crate::violation::Violations;
use machine::Address;
use space::Epoch;
use std::collections::BTreeMap;
use zone::Note;

const NAME: &str = "rejoin";

#[derive(Debug, Default)]
pub struct State {
    reigning: BTreeMap<Address, Epoch>,
}

impl State {
    pub fn see(&mut self, fact: Fact<'_>, out: &mut Violations) {
        match fact {
            Fact::Crashed(host) | Fact::Said(host, Note::Resigned { .. }) => {
                self.reigning.remove(&host);
            }
            Fact::Said(host, Note::Reigns { epoch, .. }) => {
                self.reigning.insert(host, *epoch);
            }
            Fact::Said(host, Note::Wrote { .. } | Note::Announces { .. })
                if !self.reigning.contains_key(&host) =>
            {
                out.add(NAME, format!("{host:?} speaks without reigning"));
            }
            _ => (),
        }
    }
}

//! What an observer sees of an object is what the log says, with versions that rise: all observers see parts of one
//! order.

use super::Fact;
use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use game::PlayerId;
use machine::{Address, Time};
use space::{Epoch, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Change, Note};

const NAME: &str = "order";

#[derive(Debug, Default)]
pub struct State {
    /// The newest version each player has seen of each object, from where they play: a player may have several
    /// sessions for a moment, and the older one hears old news.
    newest: BTreeMap<(Address, PlayerId, ObjectId), u32>,
    /// Every version anybody saw, and who.
    seen: BTreeMap<(ObjectId, u32), (PlayerId, Epoch, Time)>,
}

impl State {
    pub fn see(&mut self, fact: Fact<'_>, out: &mut Violations) {
        let Fact::Said(by, Note::Saw { player, epoch, object, version, .. }) = fact else { return };
        let newest = self.newest.entry((by, *player, *object)).or_default();
        if *version < *newest {
            out.add(NAME, format!("{player} sees version {version} of {object} after {newest}"));
        }
        *newest = (*newest).max(*version);
        self.seen.entry((*object, *version)).or_insert((*player, *epoch, out.now));
    }

    pub fn roll_back(&mut self, allowed_from: Time) {
        self.newest.clear();
        self.seen.retain(|_, it| it.2 < allowed_from);
    }

    pub fn end(&self, records: &[Name], ledger: &Ledger, out: &mut Violations) {
        let mut written = BTreeSet::new();
        for (_, record) in ledger.decoded(records) {
            for change in &record.changes {
                if let Change::Put { object, version, .. } | Change::Removed { object, version } = change {
                    written.insert((*object, *version));
                }
            }
        }
        for (&(object, version), (player, epoch, at)) in &self.seen {
            if !written.contains(&(object, version)) {
                out.add_at(
                    *at,
                    NAME,
                    format!("{player} saw version {version} of {object} in {epoch:?}, which never was"),
                );
            }
        }
    }
}

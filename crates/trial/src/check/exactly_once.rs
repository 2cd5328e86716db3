//! A player's actions are done once each, as 1, 2, 3 …; and whatever the player was told of one is what the log says.

use super::Fact;
use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use game::PlayerId;
use machine::Time;
use std::collections::BTreeMap;
use zone::{Change, Note, Outcome};

const NAME: &str = "exactly_once";

#[derive(Debug, Default)]
pub struct State {
    answered: BTreeMap<(PlayerId, u64), (Outcome, Time)>,
}

impl State {
    pub fn see(&mut self, fact: Fact<'_>, now: Time) {
        if let Fact::Said(_, Note::Answered { player, number, outcome }) = fact {
            self.answered.insert((*player, *number), (outcome.clone(), now));
        }
    }

    pub fn roll_back(&mut self, allowed_from: Time) {
        self.answered.retain(|_, it| it.1 < allowed_from);
    }

    pub fn end(&self, records: &[Name], ledger: &Ledger, out: &mut Violations) {
        let mut cursors: BTreeMap<PlayerId, u64> = BTreeMap::new();
        let mut logged: BTreeMap<(PlayerId, u64), Outcome> = BTreeMap::new();
        for (at, record) in ledger.decoded(records) {
            for change in record.changes {
                let Change::Acted { player, number, outcome, .. } = change else { continue };
                let cursor = cursors.entry(player).or_default();
                if number != *cursor + 1 {
                    out.add_at(
                        at,
                        NAME,
                        format!(
                            "record {}: action {number} of {player} follows action {cursor}",
                            record.index
                        ),
                    );
                }
                *cursor = number;
                logged.insert((player, number), outcome);
            }
        }
        for ((player, number), (outcome, at)) in &self.answered {
            match logged.get(&(*player, *number)) {
                Some(it) if it == outcome => (),
                Some(it) => out.add_at(
                    *at,
                    NAME,
                    format!("{player} was told {outcome:?} of action {number}, the log says {it:?}"),
                ),
                None => out.add_at(
                    *at,
                    NAME,
                    format!("{player} was told {outcome:?} of action {number}, which the log does not have"),
                ),
            }
        }
    }
}

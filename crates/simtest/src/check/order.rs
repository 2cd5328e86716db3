//! An observer sees of an object what its owners' logs say, in their order: all observers see parts of one
//! order, whichever zone told them.

use super::surviving_log::SurvivingLog;
use crate::violation::Violations;
use game::PlayerId;
use machine::{Address, Time};
use space::{Epoch, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use zone::{Change, Note};

const NAME: &str = "order";

/// A state of an object: its incarnation and version. A player who hears that it is gone may not have heard of its last
/// owner, so then there is no incarnation.
type SeenState = (Option<u32>, u32);

#[derive(Debug, Default)]
pub struct OrderChecker {
    /// The newest version each player has seen of each object, by the address of the session: a player may have two
    /// sessions for a moment, and the older one hears old news. Versions go on counting with a new owner.
    newest: BTreeMap<(Address, PlayerId, ObjectId), (u32, u32)>,
    /// Every state that a player saw, with the first player who did.
    seen: BTreeMap<(ObjectId, SeenState), (PlayerId, Epoch, Time)>,
}

impl OrderChecker {
    pub fn see(&mut self, by: Address, note: &Note, out: &mut Violations) {
        let Note::Saw { player, epoch, object, incarnation, version, hash, .. } = note else { return };
        let newest = self.newest.entry((by, *player, *object)).or_default();
        let is_gone = *hash == 0;
        if *version < newest.1 || *incarnation < newest.0 && !is_gone {
            let (owner, before) = *newest;
            let text = format!(
                "{player} sees version {version} of {object} as of owner {incarnation}, after {before} of owner {owner}"
            );
            out.add(NAME, text);
        }
        *newest = (newest.0.max(*incarnation), newest.1.max(*version));
        let seen_state = ((!is_gone).then_some(*incarnation), *version);
        self.seen.entry((*object, seen_state)).or_insert((*player, *epoch, out.now));
    }

    /// Forgets what a process saw before it started anew: a zone that has heard less of its neighbours may show an
    /// older version than another zone did before.
    pub fn started(&mut self, by: Address) {
        self.newest.retain(|it, _| it.0 != by);
    }

    pub fn roll_back(&mut self, allowed_from: Time) {
        self.newest.clear();
        self.seen.retain(|_, it| it.2 < allowed_from);
    }

    pub fn end(&self, logs: &[SurvivingLog<'_>], out: &mut Violations) {
        let mut written: BTreeSet<(ObjectId, SeenState)> = BTreeSet::new();
        for (_, change) in logs.iter().flat_map(SurvivingLog::changes) {
            match change {
                Change::Put { object, incarnation, version, .. } => {
                    written.insert((*object, (Some(*incarnation), *version)));
                }
                Change::Removed { object, version } => drop(written.insert((*object, (None, *version)))),
                // The coordinator announces all of an event at once, also what the owners have not written yet.
                Change::Elsewhere(it) => {
                    let incarnation = it.state.as_ref().map(|_| it.incarnation);
                    written.insert((it.object, (incarnation, it.version)));
                }
                _ => (),
            }
        }
        for (&(object, seen_state), (player, epoch, at)) in &self.seen {
            if !written.contains(&(object, seen_state)) {
                let text = format!(
                    "{player} saw version {} of {object} in {epoch:?} ({}), which never was",
                    seen_state.1,
                    seen_state.0.map_or("gone".to_owned(), |it| format!("owner {it}")),
                );
                out.add_at(*at, NAME, text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{check_logs, object, put, removed};
    use super::*;
    use zone::Cause;

    /// Violations of a player who saw these: incarnation, version, whether it lived.
    fn violations(sights: &[(u32, u32, bool)]) -> Vec<String> {
        let it = object(1, 5);
        let here = vec![(Cause::Leadership, vec![put(it, 1, 1, b"a"), put(it, 1, 2, b"b")])];
        let there = vec![(Cause::Leadership, vec![put(it, 2, 3, b"b"), removed(it, 4)])];
        check_logs(&[here, there], |logs, out| {
            let mut state = OrderChecker::default();
            for &(incarnation, version, lives) in sights {
                let (player, hash) = (PlayerId(1), u64::from(lives));
                let (epoch, index, object) = (Epoch(1), 1, it);
                let saw = Note::Saw { player, epoch, index, object, incarnation, version, hash };
                state.see(Address(9), &saw, out);
            }
            state.end(logs, out);
        })
    }

    #[test]
    fn a_part_of_the_order_is_fine() {
        assert!(violations(&[(1, 1, true), (2, 3, true), (2, 4, false)]).is_empty());
        assert!(
            violations(&[(1, 2, true), (1, 4, false)]).is_empty(),
            "gone, of an owner that no zone told of"
        );
    }

    #[test]
    fn a_session_that_starts_anew_may_see_older_versions() {
        let (mut state, mut out) = (OrderChecker::default(), Violations::new(1));
        let mut see = |state: &mut OrderChecker, by, version| {
            let (player, epoch, object) = (PlayerId(1), Epoch(1), object(1, 5));
            let saw = Note::Saw { player, epoch, index: 1, object, incarnation: 1, version, hash: 1 };
            state.see(by, &saw, &mut out);
            out.all().len()
        };
        assert_eq!([8, 9].map(|by| see(&mut state, Address(by), 2)), [0, 0]);
        state.started(Address(9));
        assert_eq!(see(&mut state, Address(9), 1), 0);
        assert_eq!(see(&mut state, Address(8), 1), 1, "the other one remembers");
    }

    #[test]
    fn old_owners_and_states_that_never_were_are_noticed() {
        assert!(violations(&[(2, 3, true), (1, 2, true)])[0].contains("sees version 2"));
        assert!(violations(&[(1, 3, true)])[0].contains("(owner 1), which never was"));
        assert!(violations(&[(2, 3, false)])[0].contains("(gone), which never was"));
    }
}

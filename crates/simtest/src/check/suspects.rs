//! A primary executes no action that its leadership named a suspect when it began.

use super::Observation;
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use game::PlayerId;
use std::collections::BTreeMap;
use zone::{Cause, Change, Note, Record, Suspect};

const NAME: &str = "suspects";

#[derive(Debug, Default)]
pub struct SuspectsChecker {
    /// Each player's session in this zone: a later one may use the number of an action again.
    sessions: BTreeMap<PlayerId, u64>,
}

impl SuspectsChecker {
    pub fn see(&mut self, seen: Observation<'_>, tracker: &RecordTracker, out: &mut Violations) {
        let Observation::Noted(host, Note::Wrote { record, execution }) = seen else { return };
        let Some(record) = Record::from_bytes(record) else { return };
        for change in &record.changes {
            match change {
                Change::Entered { player, session, .. } => drop(self.sessions.insert(*player, *session)),
                Change::Brought { player, row } => drop(self.sessions.insert(*player, row.session)),
                _ => (),
            }
        }
        // A record without an execution is an answer for which the game was not called.
        let (Cause::Act(player, number), Some(_)) = (record.cause, execution) else { return };
        let session = self.sessions.get(&player).copied().unwrap_or_default();
        let (epoch, index) = (record.epoch, record.index);
        let suspect = Suspect::Act { player, session, number };
        if tracker.suspects.get(&epoch).is_some_and(|it| it.has(&suspect)) {
            let text = format!(
                "{host:?} executes action {number} of {player}, a suspect in {epoch:?}, in record {index}"
            );
            out.add(NAME, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::{Address, Span, Time};
    use space::{Epoch, ObjectId, ZoneId};
    use zone::{Execution, GameInput, Outcome};

    const PLAYER: PlayerId = PlayerId(4);

    fn wrote(index: u64, cause: Cause, change: Change, is_executed: bool) -> Note {
        let (time, changes) = (Time::ZERO + Span::from_millis(index), vec![change]);
        let record = Record {
            index,
            epoch: Epoch(1),
            cut: 0,
            time,
            cause,
            changes,
            notices: Vec::new(),
            motions: Vec::new(),
        };
        let execution = is_executed.then(|| Execution {
            input: GameInput::Populate,
            scope: game::Scope::objects([]),
            time,
            seed: 0,
            reads: Vec::new(),
            next_name: 0,
            refused: false,
        });
        Note::Wrote { record: record.to_bytes(), execution }
    }

    fn entered(index: u64, session: u64) -> Note {
        let avatar = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 0 };
        let change = Change::Entered { player: PLAYER, session, name: String::new(), avatar };
        wrote(index, Cause::Join(PLAYER), change, true)
    }

    fn acted(index: u64, is_executed: bool) -> Note {
        let outcome = Outcome::Fault(String::new());
        let change = Change::Acted { player: PLAYER, number: 9, outcome, acked: 0 };
        wrote(index, Cause::Act(PLAYER, 9), change, is_executed)
    }

    fn violations(notes: &[Note]) -> usize {
        let suspect = Suspect::Act { player: PLAYER, session: 1, number: 9 };
        let mut tracker = RecordTracker::default();
        tracker.suspects.insert(Epoch(1), [suspect].into_iter().collect());
        let (mut checker, mut out) = (SuspectsChecker::default(), Violations::new(1));
        notes.iter().for_each(|it| checker.see(Observation::Noted(Address(1), it), &tracker, &mut out));
        out.all().len()
    }

    #[test]
    fn a_suspect_may_be_answered_and_not_executed() {
        assert_eq!(violations(&[entered(1, 1), acted(2, false)]), 0);
        assert_eq!(violations(&[entered(1, 1), acted(2, true)]), 1);
    }

    #[test]
    fn a_later_session_has_its_own_numbers() {
        assert_eq!(violations(&[entered(1, 1), entered(2, 2), acted(3, true)]), 0);
    }
}

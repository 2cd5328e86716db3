//! A player's actions are done once each, as 1, 2, 3 …, whichever zone does them; and the result that the player was
//! told is what a log says.

use super::surviving_log::SurvivingLog;
use crate::violation::Violations;
use game::PlayerId;
use machine::Time;
use space::ZoneId;
use std::collections::BTreeMap;
use zone::{Change, Note, Outcome};

const NAME: &str = "exactly_once";

#[derive(Debug, Default)]
pub struct ExactlyOnceChecker {
    answered: BTreeMap<(PlayerId, u64), (Outcome, Time)>,
}

type DoneActions<'a> = BTreeMap<(PlayerId, u64), (ZoneId, &'a Outcome)>;

impl ExactlyOnceChecker {
    pub fn see(&mut self, note: &Note, now: Time) {
        if let Note::Answered { player, number, outcome } = note {
            self.answered.insert((*player, *number), (outcome.clone(), now));
        }
    }

    pub fn roll_back(&mut self, allowed_from: Time) {
        self.answered.retain(|_, it| it.1 < allowed_from);
    }

    pub fn end(&self, logs: &[SurvivingLog<'_>], out: &mut Violations) {
        let mut done = DoneActions::new();
        for log in logs {
            look_at(log, &mut done, out);
        }
        for ((player, number), (outcome, at)) in &self.answered {
            let told = format!("{player} was told {outcome:?} of action {number}");
            match done.get(&(*player, *number)) {
                Some((_, it)) if *it == outcome => (),
                Some((_, it)) => out.add_at(*at, NAME, format!("{told}, the log says {it:?}")),
                None => out.add_at(*at, NAME, format!("{told}, which the log does not have")),
            }
        }
    }
}

/// Checks one zone. A player who is transferred brings their cursor along, so within each zone every action follows the
/// last one; and no two zones may do the same.
fn look_at<'a>(log: &'a SurvivingLog<'_>, done: &mut DoneActions<'a>, out: &mut Violations) {
    let mut cursors: BTreeMap<PlayerId, u64> = BTreeMap::new();
    for (line, change) in log.changes() {
        let index = line.record.index;
        // Transfers bring a cursor along; actions must follow it.
        match change {
            Change::Brought { player, row } => drop(cursors.insert(*player, row.cursor)),
            Change::Acted { player, number, outcome, .. } => {
                let cursor = cursors.entry(*player).or_default();
                if *number != *cursor + 1 {
                    let text = format!("record {index}: action {number} of {player} follows action {cursor}");
                    out.add_at(line.at, NAME, text);
                }
                *cursor = *number;
                let before = done.insert((*player, *number), (log.zone, outcome));
                // Within one zone the cursor has shown it already.
                if let Some((zone, _)) = before.filter(|it| it.0 != log.zone) {
                    let text = format!("action {number} of {player} is done in {zone} and in {}", log.zone);
                    out.add_at(line.at, NAME, text);
                }
            }
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{ScriptedLog, check_logs};
    use super::*;
    use space::Position;
    use zone::{Cause, PlayerState};

    const PLAYER: PlayerId = PlayerId(7);

    fn acted(number: u64) -> (Cause, Vec<Change>) {
        let change = Change::Acted { player: PLAYER, number, outcome: Outcome::Done, acked: 0 };
        (Cause::Act(PLAYER, number), vec![change])
    }

    fn brought(cursor: u64) -> (Cause, Vec<Change>) {
        let row = PlayerState {
            name: String::new(),
            session: 1,
            present: true,
            avatar: None,
            place: Position::ORIGIN,
            cursor,
            kept: Default::default(),
        };
        (Cause::Post(ZoneId(1)), vec![Change::Brought { player: PLAYER, row }])
    }

    fn violations(script: &[ScriptedLog]) -> Vec<String> {
        check_logs(script, |logs, out| ExactlyOnceChecker::default().end(logs, out))
    }

    #[test]
    fn a_player_goes_on_counting_elsewhere() {
        let zones = [vec![acted(1), acted(2), brought(4), acted(5)], vec![brought(2), acted(3), acted(4)]];
        assert!(violations(&zones).is_empty());
    }

    #[test]
    fn what_one_zone_did_another_does_not_do_again() {
        let doubled = violations(&[vec![acted(1), acted(2)], vec![brought(1), acted(2)]]);
        assert_eq!(doubled.len(), 1);
        assert!(doubled[0].contains("action 2") && doubled[0].contains("is done in"), "{doubled:?}");
        let skipped = violations(&[vec![acted(1)], vec![brought(1), acted(3)]]);
        assert!(skipped[0].contains("follows action 1"), "{skipped:?}");
    }
}

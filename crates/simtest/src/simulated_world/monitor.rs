//! The monitor of a simulated world: the checker, the histories of its processes if they are recorded, and the times
//! that measurements need.

use crate::history_checker::HistoryChecker;
use crate::history_recorder::HistoryRecorder;
use game::PlayerId;
use history::{Entry, EntryKind, NamedBytes};
use machine::{Address, Time};
use zone::Note;

/// Observes everything that happens in a world, and changes nothing in it.
pub struct Monitor {
    /// Runs all checkers on the history as it grows.
    pub checker: HistoryChecker,
    /// Results that players received: time, player, number of the action.
    pub answers: Vec<(Time, PlayerId, u64)>,
    /// Actions that players asked for: time, player, number of the action.
    pub asked: Vec<(Time, PlayerId, u64)>,
    /// Texts of the game's panics, one per fault.
    pub game_faults: Vec<String>,
    recorder: Option<HistoryRecorder>,
}

impl Monitor {
    pub(super) fn new(checker: HistoryChecker, recorder: Option<HistoryRecorder>) -> Self {
        Self { checker, answers: Vec::new(), asked: Vec::new(), game_faults: Vec::new(), recorder }
    }

    /// Takes in one occurrence at a machine or in the directory.
    pub(super) fn hear(&mut self, time: Time, by: Address, what: EntryKind) {
        let entry = Entry { time, by, what };
        if let Some(recorder) = &mut self.recorder {
            recorder.take(&entry);
        }
        self.checker.see(&entry);
    }

    /// Takes in a note of a player's machine.
    pub(super) fn hear_player(&mut self, time: Time, by: Address, note: Note) {
        match &note {
            Note::Asked { player, number } => self.asked.push((time, *player, *number)),
            Note::Answered { player, number, .. } => self.answers.push((time, *player, *number)),
            _ => (),
        }
        self.hear(time, by, EntryKind::Said(note));
    }

    /// Returns whether a checker has found a violation.
    pub fn is_violated(&self) -> bool {
        !self.checker.violations.is_empty()
    }

    /// Named files that real processes would have written; empty unless the world is recorded.
    pub(super) fn into_files(self) -> Vec<NamedBytes> {
        self.recorder.map(HistoryRecorder::into_files).unwrap_or_default()
    }
}

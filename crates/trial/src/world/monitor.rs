//! What was heard of a world: the judge's view of it, the histories of its processes if they are wanted, and what
//! measurements need.

use crate::judge::Judge;
use crate::recorder::Recorder;
use game::PlayerId;
use history::{Entry, NamedBytes, What};
use machine::{Address, Time};
use zone::Note;

/// Hears everything that happens in a world, and changes nothing in it.
pub struct Monitor {
    /// The judge of everything that happens.
    pub judge: Judge,
    /// When players heard the results of their actions: time, player, number of the action.
    pub answers: Vec<(Time, PlayerId, u64)>,
    /// When players asked for actions: time, player, number of the action.
    pub asked: Vec<(Time, PlayerId, u64)>,
    /// The game's mistakes.
    pub faults_of_game: Vec<String>,
    recorder: Option<Recorder>,
}

impl Monitor {
    pub(super) fn new(judge: Judge, recorder: Option<Recorder>) -> Self {
        Self { judge, answers: Vec::new(), asked: Vec::new(), faults_of_game: Vec::new(), recorder }
    }

    /// Something happens to a machine, or the directory does something.
    pub(super) fn hear(&mut self, time: Time, by: Address, what: What) {
        let entry = Entry { time, by, what };
        if let Some(recorder) = &mut self.recorder {
            recorder.take(&entry);
        }
        self.judge.see(&entry);
    }

    /// A player's machine says something about itself.
    pub(super) fn hear_player(&mut self, time: Time, by: Address, note: Note) {
        match &note {
            Note::Asked { player, number } => self.asked.push((time, *player, *number)),
            Note::Answered { player, number, .. } => self.answers.push((time, *player, *number)),
            _ => (),
        }
        self.hear(time, by, What::Said(note));
    }

    /// Whether a checker has found anything.
    pub fn is_violated(&self) -> bool {
        !self.judge.violations.is_empty()
    }

    /// The files that real processes would have written, with their names, if that was asked for.
    pub(super) fn into_files(self) -> Vec<NamedBytes> {
        self.recorder.map(Recorder::into_files).unwrap_or_default()
    }
}

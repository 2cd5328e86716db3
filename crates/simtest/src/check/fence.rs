//! No player believes a lower epoch after a higher one.

use crate::violation::Violations;
use zone::Note;

const NAME: &str = "fence";

pub fn see(note: &Note, out: &mut Violations) {
    if let Note::Regressed { player, known, heard } = note {
        out.add(NAME, format!("{player} believed {heard:?} after {known:?}"));
    }
}

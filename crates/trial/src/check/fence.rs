//! Nobody believes a lower epoch after they have heard a higher one.

use super::Fact;
use crate::violation::Violations;
use zone::Note;

const NAME: &str = "fence";

pub fn see(fact: Fact<'_>, out: &mut Violations) {
    if let Fact::Said(_, Note::Regressed { player, known, heard }) = fact {
        out.add(NAME, format!("{player} believed {heard:?} after {known:?}"));
    }
}

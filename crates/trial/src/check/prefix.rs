//! What a backup stores is what the primary of that epoch wrote, and it follows from what the backup has.

use super::Fact;
use crate::ledger::Ledger;
use crate::violation::Violations;
use zone::Note;

const NAME: &str = "prefix";

pub fn see(fact: Fact<'_>, ledger: &Ledger, out: &mut Violations) {
    let Fact::Said(host, Note::Stored { epoch, index, hash }) = fact else { return };
    let Some(written) = ledger.records.get(&(*epoch, *index)) else {
        return out.add(NAME, format!("{host:?} stores record {index} of {epoch:?}, which nobody wrote"));
    };
    if zone::hash_of(&written.bytes) != *hash {
        out.add(NAME, format!("{host:?} stores another record {index} of {epoch:?} than was written"));
    }
    let before = ledger.epoch_at((*epoch, *index), index - 1);
    let mine = ledger.memory.get(&host).map(|it| it.0).filter(|_| 1 < *index);
    if before != mine {
        out.add(NAME, format!("{host:?} stores record {index} of {epoch:?} after one of {mine:?}, it was written after one of {before:?}"));
    }
}

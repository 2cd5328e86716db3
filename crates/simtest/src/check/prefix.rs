//! A backup stores exactly what the primary of that epoch wrote, and it follows from what the backup has.

use super::Observation;
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use zone::Note;

const NAME: &str = "prefix";

pub fn see(seen: Observation<'_>, tracker: &RecordTracker, out: &mut Violations) {
    let Observation::Noted(host, Note::Stored { epoch, index, hash }) = seen else { return };
    let Some(written) = tracker.records.get(&(*epoch, *index)) else {
        return out.add(NAME, format!("{host:?} stores record {index} of {epoch:?}, which no primary wrote"));
    };
    if zone::hash_of(&written.bytes) != *hash {
        out.add(NAME, format!("{host:?} stores another record {index} of {epoch:?} than was written"));
    }
    let before = tracker.epoch_at((*epoch, *index), index - 1);
    let mine = tracker.memory.get(&host).map(|it| it.0).filter(|_| 1 < *index);
    if before != mine {
        out.add(NAME, format!("{host:?} stores record {index} of {epoch:?} after one of {mine:?}, it was written after one of {before:?}"));
    }
}

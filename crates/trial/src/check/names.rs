//! An object's versions rise by one, it is born once, and no name is given twice.

use crate::ledger::{Ledger, Name};
use crate::violation::Violations;
use space::ObjectId;
use std::collections::BTreeMap;
use zone::Change;

const NAME: &str = "names";

pub fn end(records: &[Name], ledger: &Ledger, out: &mut Violations) {
    // The last version of every object that ever was, and whether it lives.
    let mut known: BTreeMap<ObjectId, (u32, bool)> = BTreeMap::new();
    for (at, record) in ledger.decoded(records) {
        for change in &record.changes {
            let (object, version, lives) = match change {
                Change::Put { object, version, .. } => (*object, *version, true),
                Change::Removed { object, version } => (*object, *version, false),
                _ => continue,
            };
            let expected = match known.get(&object) {
                Some((last, true)) => Some(last + 1),
                Some((_, false)) => None,
                None => Some(1),
            };
            if expected != Some(version) {
                let before = known.get(&object);
                out.add_at(
                    at,
                    NAME,
                    format!("record {}: version {version} of {object} comes after {before:?}", record.index),
                );
            }
            known.insert(object, (version, lives));
        }
    }
}

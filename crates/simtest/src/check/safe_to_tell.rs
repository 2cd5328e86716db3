//! When a record is announced, another host has stored it (and may have died since: that is one failure, and the
//! primary lives); or, if the primary is alone, its own disk holds it.

use super::Observation;
use crate::history_checker::ZoneSpec;
use crate::record_tracker::RecordTracker;
use crate::violation::Violations;
use zone::{Durability, Note};

const NAME: &str = "safe_to_tell";

pub fn see(seen: Observation<'_>, tracker: &RecordTracker, spec: &ZoneSpec, out: &mut Violations) {
    let Observation::Noted(host, Note::Announces { index, alone, epoch }) = seen else { return };
    let Some(&mine) = tracker.memory.get(&host) else { return };
    let Some(name) = tracker.epoch_at(mine, *index).map(|epoch| (epoch, *index)) else {
        return out.add(NAME, format!("{host:?} announces record {index}, which it does not have"));
    };
    let on_own_disk = tracker.disk.get(&host).is_some_and(|&disk| tracker.holds(disk, name));
    let dead = tracker.dead.iter().map(|it| (it.host, it.last));
    let others = tracker.memory.iter().map(|(&other, &last)| (other, last)).chain(dead);
    let in_other_memory = others.into_iter().any(|(other, last)| other != host && tracker.holds(last, name));
    // Where no other host can hold a replica, a primary does as the durability says.
    let trusts_itself = spec.is_single() && spec.durability != Durability::Synced;
    let safe = if *alone { on_own_disk || trusts_itself } else { in_other_memory };
    if !safe {
        let lacks = if *alone { "alone and not on its disk" } else { "held by no other replica" };
        out.add(NAME, format!("{host:?} announces record {index} in {epoch:?}: {lacks}"));
    }
}

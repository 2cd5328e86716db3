//! When something is announced, another host has stored it (and may have died since: that is one failure, and the
//! primary lives); or, if the primary is alone, its own disk holds it.

use super::Fact;
use crate::judge::About;
use crate::ledger::Ledger;
use crate::violation::Violations;
use zone::{Durability, Note};

const NAME: &str = "safe_to_tell";

pub fn see(fact: Fact<'_>, ledger: &Ledger, about: &About, out: &mut Violations) {
    let Fact::Said(host, Note::Announces { index, alone, epoch }) = fact else { return };
    let Some(&mine) = ledger.memory.get(&host) else { return };
    let Some(name) = ledger.epoch_at(mine, *index).map(|epoch| (epoch, *index)) else {
        return out.add(NAME, format!("{host:?} announces record {index}, which it does not have"));
    };
    let on_own_disk = ledger.disk.get(&host).is_some_and(|&disk| ledger.holds(disk, name));
    let former = ledger.former.iter().map(|it| (it.host, it.last));
    let others = ledger.memory.iter().map(|(&other, &last)| (other, last)).chain(former);
    let in_other_memory = others.into_iter().any(|(other, last)| other != host && ledger.holds(last, name));
    // Where there is nobody to lose, a host does as the durability says.
    let trusts_itself = about.is_single() && about.durability != Durability::Synced;
    let safe = if *alone { on_own_disk || trusts_itself } else { in_other_memory };
    if !safe {
        let lacks = if *alone { "alone and not on its disk" } else { "held by nobody else" };
        out.add(NAME, format!("{host:?} announces record {index} in {epoch:?}: {lacks}"));
    }
}

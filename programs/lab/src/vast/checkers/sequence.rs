//! I2: what is known of somebody never gets older while they stay in the list.

use super::{Look, Violations};
use machine::Address;
use std::collections::BTreeMap;

/// What everybody knew of everybody else in the last look: life and sequence.
#[derive(Debug, Default)]
pub struct Sequence {
    known: BTreeMap<Address, BTreeMap<Address, (u32, u32)>>,
}

impl Sequence {
    /// Somebody is gone, with all they knew.
    pub fn left(&mut self, who: Address) {
        self.known.remove(&who);
    }

    /// Somebody has forgotten another, and may know something older of them later.
    pub fn lost(&mut self, who: Address, of: Address) {
        if let Some(known) = self.known.get_mut(&who) {
            known.remove(&of);
        }
    }

    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        for (&who, it) in look.sitting {
            let known = self.known.entry(who).or_default();
            for (of, entry) in it.peer.list() {
                let new = (entry.info().life, entry.info().sequence);
                let old = known.insert(of, new).unwrap_or(new);
                if new < old {
                    violations.note("sequence", || {
                        format!("{}: {who:?} knew {of:?} at {old:?}, and now at {new:?}", look.now)
                    });
                }
            }
        }
    }
}

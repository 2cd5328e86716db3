//! I2: the information about a neighbour never gets older while it stays in the list.

use super::{Inspection, OverlayViolations};
use machine::Address;
use std::collections::BTreeMap;

/// Life and sequence number that every peer had of its neighbours in the last inspection.
#[derive(Debug, Default)]
pub struct SequenceChecker {
    known: BTreeMap<Address, BTreeMap<Address, (u32, u32)>>,
}

impl SequenceChecker {
    /// Called when a peer has left: its list is gone.
    pub fn left(&mut self, who: Address) {
        self.known.remove(&who);
    }

    /// Called when a peer has removed another; it may learn older information about it later.
    pub fn lost(&mut self, who: Address, of: Address) {
        if let Some(known) = self.known.get_mut(&who) {
            known.remove(&of);
        }
    }

    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        for (&who, it) in inspection.present {
            let known = self.known.entry(who).or_default();
            for (of, entry) in it.peer.neighbours() {
                let new = (entry.info().life, entry.info().sequence);
                // A new neighbour has nothing to be compared with.
                let old = known.insert(of, new).unwrap_or(new);
                if new < old {
                    violations.note("sequence", || {
                        format!("{}: {who:?} knew {of:?} at {old:?}, and now at {new:?}", inspection.now)
                    });
                }
            }
        }
    }
}

//! I7: no peer stays in a list that is relevant to neither side.
//!
//! A peer judges relevance at each of its own steps, by what it knows then. Inspections may always miss these moments.
//! So a neighbour that is irrelevant in an inspection is judged again at each step of either side, in a diagram of the
//! peers that the stepping one knows. A neighbour that was removed and added again counts as new.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};
use machine::Address;
use overlay::config::Relevance;
use overlay::{Peer, PeerConfig};
use space::{Position, Voronoi};

#[derive(Debug, Default)]
pub struct LeanChecker {
    needless: LastingFaults<(Address, Address)>,
}

impl LeanChecker {
    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        // Peers that are not in the overlay do not count here: they are joining, or `lists` reports them.
        let listed =
            inspection.present.iter().flat_map(|(&who, it)| it.peer.neighbours().map(move |it| (who, it.0)));
        let needless = listed.filter(|(who, of)| {
            inspection.present.contains_key(of)
                && !inspection.relevant[who].contains(of)
                && inspection.are_calm(*who, *of)
        });
        for (who, of) in self.needless.longer_than(inspection.bounds.lean, inspection.now, needless) {
            violations.note("lean", || {
                format!("{}: {who:?} keeps {of:?}, who matters to neither side", inspection.now)
            });
        }
    }

    /// Called when one of two has removed the other.
    pub fn lost(&mut self, who: Address, of: Address) {
        self.needless.end((who, of));
        self.needless.end((of, who));
    }

    /// Called when a peer steps to a place: neighbours that are relevant in its own diagram are right.
    pub fn stepped(&mut self, config: &PeerConfig, mover: &Peer, place: Position) {
        if self.needless.is_empty() {
            return;
        }
        let me = mover.info().address;
        let is_doubted = |of: &Address| self.needless.has((me, *of)) || self.needless.has((*of, me));
        let others: Vec<Address> = mover.neighbours().map(|it| it.0).filter(is_doubted).collect();
        if others.is_empty() {
            return;
        }
        let mut known = Voronoi::new();
        known.put(me, place);
        mover.neighbours().for_each(|(address, it)| {
            known.put(address, it.info().position);
        });
        let matters = |of: Address| {
            let Some(it) = mover.neighbour(of).map(|it| *it.info()) else { return false };
            let (mine, theirs) = (config.reach(mover.info().aoi), config.reach(it.aoi));
            known.are_enclosing(me, of)
                || known.meets(of, place, mine)
                || config.relevance == Relevance::Mutual && known.meets(me, it.position, theirs)
        };
        for of in others.into_iter().filter(|of| matters(*of)) {
            self.needless.end((me, of));
            self.needless.end((of, me));
        }
    }
}

//! I5: every peer knows the peers in its view.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};
use machine::Address;

#[derive(Debug, Default)]
pub struct ViewChecker {
    unknown: LastingFaults<(Address, Address)>,
}

impl ViewChecker {
    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        let sees = |who: Address, of: Address| {
            let (who, of) = (inspection.present[&who].peer.info(), inspection.present[&of].peer.info());
            who.position.is_within(who.aoi, of.position)
        };
        let unknown = inspection.unknown().filter(|&(who, of)| sees(who, of));
        for (who, of) in self.unknown.longer_than(inspection.bounds.view, inspection.now, unknown) {
            violations.note("view", || format!("{}: {who:?} does not know {of:?}, in view", inspection.now));
        }
    }
}

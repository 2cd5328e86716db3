//! I4: every peer knows the peers whose regions touch its own.
//!
//! Regions of distant peers touch at one moment and not at the next, as the peers between them step, and inspections
//! may always meet the moments in which they touch. So whenever one of the two steps, the checker looks again whether
//! they still do.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};
use machine::Address;
use space::Voronoi;

#[derive(Debug, Default)]
pub struct EnclosingChecker {
    unknown: LastingFaults<(Address, Address)>,
}

impl EnclosingChecker {
    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        let unknown = inspection.unknown().filter(|&(who, of)| inspection.truth.are_enclosing(who, of));
        for (who, of) in self.unknown.longer_than(inspection.bounds.enclosing, inspection.now, unknown) {
            violations.note("enclosing", || {
                format!("{}: {who:?} does not know {of:?}, whose region touches", inspection.now)
            });
        }
    }

    /// Called when a peer has stepped: pairs whose regions touch no more are right.
    pub fn stepped(&mut self, mover: Address, truth: &Voronoi<Address>) {
        let touched =
            |&(who, of): &(Address, Address)| (who == mover || of == mover) && !truth.are_enclosing(who, of);
        let right: Vec<(Address, Address)> = self.unknown.keys().filter(touched).collect();
        right.into_iter().for_each(|pair| self.unknown.end(pair));
    }
}

//! I6: the overlay is in one piece.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};

#[derive(Debug, Default)]
pub struct WholeChecker {
    torn: LastingFaults<()>,
}

impl WholeChecker {
    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        let torn = (1 < inspection.parts.len()).then_some(());
        for () in self.torn.longer_than(inspection.bounds.whole, inspection.now, torn) {
            violations.note("whole", || {
                let largest = inspection.parts.first().map_or(0, Vec::len);
                let (parts, all) = (inspection.parts.len(), inspection.present.len());
                format!("{}: {parts} parts, the largest of {largest} among {all}", inspection.now)
            });
        }
    }
}

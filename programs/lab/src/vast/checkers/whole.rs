//! I6: the overlay is in one piece.

use super::lasting::Lasting;
use super::{Look, Violations};

#[derive(Debug, Default)]
pub struct Whole {
    torn: Lasting<()>,
}

impl Whole {
    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        let torn = (1 < look.parts.len()).then_some(());
        for () in self.torn.longer_than(look.bounds.whole, look.now, torn) {
            violations.note("whole", || {
                let largest = look.parts.first().map_or(0, Vec::len);
                let (parts, all) = (look.parts.len(), look.sitting.len());
                format!("{}: {parts} parts, the largest of {largest} among {all}", look.now)
            });
        }
    }
}

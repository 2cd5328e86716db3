//! I6: the overlay is in one piece.

use super::lasting::Lasting;
use super::{Look, Violations};
use crate::vast::oracle::components;

#[derive(Debug, Default)]
pub struct Whole {
    torn: Lasting<()>,
}

impl Whole {
    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        let (parts, largest) = components(look.sitting);
        let torn = (1 < parts).then_some(());
        for () in self.torn.longer_than(look.bounds.whole, look.now, torn) {
            violations.note("whole", || {
                format!("{}: {parts} parts, the largest of {largest} among {}", look.now, look.sitting.len())
            });
        }
    }
}

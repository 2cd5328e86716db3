//! I4: everybody knows those whose regions touch theirs.
//!
//! Regions of those far apart touch in one moment and not in the next, as those between them step, and looks may always
//! meet the same moments. So whenever one of the two steps, it is looked again whether their regions still touch.

use super::lasting::Lasting;
use super::{Look, Violations};
use machine::Address;
use space::Voronoi;

#[derive(Debug, Default)]
pub struct Enclosing {
    unknown: Lasting<(Address, Address)>,
}

impl Enclosing {
    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        let unknown = look.unknown().filter(|&(who, of)| look.truth.are_enclosing(who, of));
        for (who, of) in self.unknown.longer_than(look.bounds.enclosing, look.now, unknown) {
            violations.note("enclosing", || {
                format!("{}: {who:?} does not know {of:?}, whose region touches", look.now)
            });
        }
    }

    /// Somebody has stepped.
    pub fn stepped(&mut self, mover: Address, truth: &Voronoi<Address>) {
        let touched =
            |&(who, of): &(Address, Address)| (who == mover || of == mover) && !truth.are_enclosing(who, of);
        let right: Vec<(Address, Address)> = self.unknown.keys().filter(touched).collect();
        right.into_iter().for_each(|pair| self.unknown.end(pair));
    }
}

//! I5: everybody knows those in view.

use super::lasting::Lasting;
use super::{Look, Violations};
use machine::Address;

#[derive(Debug, Default)]
pub struct View {
    unknown: Lasting<(Address, Address)>,
}

impl View {
    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        let sees = |who: Address, of: Address| {
            let (who, of) = (look.sitting[&who].peer.info(), look.sitting[&of].peer.info());
            who.position.is_within(who.aoi, of.position)
        };
        let unknown = look.unknown().filter(|&(who, of)| sees(who, of));
        for (who, of) in self.unknown.longer_than(look.bounds.view, look.now, unknown) {
            violations.note("view", || format!("{}: {who:?} does not know {of:?}, in view", look.now));
        }
    }
}

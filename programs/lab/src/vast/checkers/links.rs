//! I3: a peer that wants the moves of another is known there as one that does.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};
use machine::Address;

#[derive(Debug, Default)]
pub struct LinksChecker {
    unknown: LastingFaults<(Address, Address)>,
}

impl LinksChecker {
    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        let calm = inspection.present.iter().filter(|it| !it.1.peer.is_in_crowd());
        let wants = calm.flat_map(|(&who, it)| {
            let wanted = it.peer.neighbours().filter(|it| it.1.want());
            wanted.filter_map(move |(of, _)| {
                Some((who, of, inspection.present.get(&of).filter(|_| !inspection.is_crowded(of))?))
            })
        });
        let is_unknown =
            |who: Address, of: &super::PresentPeer<'_>| !of.peer.neighbour(who).is_some_and(|it| it.wanted());
        let wrong = wants.filter(|(who, _, it)| is_unknown(*who, it)).map(|(who, of, _)| (who, of));
        for (who, of) in self.unknown.longer_than(inspection.bounds.links, inspection.now, wrong) {
            violations
                .note("links", || format!("{}: {who:?} wants {of:?}, who does not know it", inspection.now));
        }
    }
}

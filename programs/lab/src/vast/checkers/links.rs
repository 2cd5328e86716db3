//! I3: whoever wants to hear somebody is known by them as one who does.

use super::lasting::Lasting;
use super::{Look, Violations};
use machine::Address;

#[derive(Debug, Default)]
pub struct Links {
    unknown: Lasting<(Address, Address)>,
}

impl Links {
    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        let calm = look.sitting.iter().filter(|it| !it.1.peer.is_in_crowd());
        let wants = calm.flat_map(|(&who, it)| {
            let wanted = it.peer.list().filter(|it| it.1.want());
            wanted.filter_map(move |(of, _)| {
                Some((who, of, look.sitting.get(&of).filter(|_| !look.is_crowded(of))?))
            })
        });
        let is_unknown =
            |who: Address, of: &super::Sitting<'_>| !of.peer.entry(who).is_some_and(|it| it.wanted());
        let wrong = wants.filter(|(who, _, it)| is_unknown(*who, it)).map(|(who, of, _)| (who, of));
        for (who, of) in self.unknown.longer_than(look.bounds.links, look.now, wrong) {
            violations.note("links", || format!("{}: {who:?} wants {of:?}, who does not know it", look.now));
        }
    }
}

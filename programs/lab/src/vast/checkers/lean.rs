//! I7: nobody stays in a list who does not matter to either side.
//!
//! Who matters is judged with each step of a peer's own, by what it knows then. Looks may always miss these moments. So
//! somebody who does not matter in a look is judged again with each step of either side, in a diagram of those whom it knows;
//! and whoever was forgotten and taken in again does not stay, but is new.

use super::lasting::Lasting;
use super::{Look, Violations};
use machine::Address;
use overlay::config::Relevance;
use overlay::{Config, Peer};
use space::{Position, Voronoi};

#[derive(Debug, Default)]
pub struct Lean {
    needless: Lasting<(Address, Address)>,
}

impl Lean {
    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        // Those who are not in are no business of this checker: they come, or `lists` speaks of them.
        let listed = look.sitting.iter().flat_map(|(&who, it)| it.peer.list().map(move |it| (who, it.0)));
        let needless = listed.filter(|(who, of)| {
            look.sitting.contains_key(of) && !look.relevant[who].contains(of) && look.are_calm(*who, *of)
        });
        for (who, of) in self.needless.longer_than(look.bounds.lean, look.now, needless) {
            violations
                .note("lean", || format!("{}: {who:?} keeps {of:?}, who matters to neither side", look.now));
        }
    }

    /// One of two has forgotten the other.
    pub fn lost(&mut self, who: Address, of: Address) {
        self.needless.end((who, of));
        self.needless.end((of, who));
    }

    /// Somebody steps there.
    pub fn stepped(&mut self, config: &Config, mover: &Peer, place: Position) {
        if self.needless.is_empty() {
            return;
        }
        let me = mover.info().address;
        let is_doubted = |of: &Address| self.needless.has((me, *of)) || self.needless.has((*of, me));
        let others: Vec<Address> = mover.list().map(|it| it.0).filter(is_doubted).collect();
        if others.is_empty() {
            return;
        }
        let mut known = Voronoi::new();
        known.put(me, place);
        mover.list().for_each(|(address, it)| {
            known.put(address, it.info().position);
        });
        let matters = |of: Address| {
            let Some(it) = mover.entry(of).map(|it| *it.info()) else { return false };
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

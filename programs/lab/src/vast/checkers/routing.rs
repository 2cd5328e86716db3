//! I8: a search from any peer for any position ends at the peer nearest to it.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};
use machine::{Address, Rng};
use overlay::config::HOPS_MAX;
use sim::crowd::Ground;
use space::Position;

/// New searches per inspection, so that there are more than fifty per sample.
const SEARCHES: usize = 7;

/// The peer at which a search begins, and the position.
type CheckedSearch = (Address, (i32, i32));

pub struct RoutingChecker {
    astray: LastingFaults<CheckedSearch>,
    ground: Ground,
    rng: Rng,
}

impl RoutingChecker {
    pub fn new(ground: Ground, rng: Rng) -> Self {
        Self { astray: LastingFaults::default(), ground, rng: rng.fork_named(0x726f_7574) }
    }

    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        let all: Vec<Address> = inspection.present.keys().copied().collect();
        if all.is_empty() {
            return;
        }
        // Searches that went astray are repeated: only a fault that lasts is a violation.
        let mut searches: Vec<CheckedSearch> =
            self.astray.keys().filter(|it| inspection.present.contains_key(&it.0)).collect();
        let side = u64::from(self.ground.side.millimetres()) + 1;
        for _ in 0..SEARCHES {
            let from = all[self.rng.below(all.len() as u64) as usize];
            searches.push((from, (self.rng.below(side) as i32, self.rng.below(side) as i32)));
        }
        let wrong = searches
            .into_iter()
            .filter(|&(from, (x, y))| !is_found(inspection, from, Position::saturating(x.into(), y.into())));
        for (from, place) in self.astray.longer_than(inspection.bounds.enclosing, inspection.now, wrong) {
            violations.note("routing", || {
                format!("{}: a search of {from:?} for {place:?} ends elsewhere", inspection.now)
            });
        }
    }
}

/// Returns whether a search ends at the nearest peer, or nearly. A search that meets an excused peer counts as found.
fn is_found(inspection: &Inspection<'_>, from: Address, place: Position) -> bool {
    let mut at = from;
    for _ in 0..HOPS_MAX {
        let Some(it) = inspection.present.get(&at) else { return true };
        let Some(next) = it.peer.next_towards(place) else { break };
        at = next;
    }
    let Some(nearest) = inspection.truth.nearest(place) else { return true };
    let away = |it: Address| {
        let squared = inspection.truth.place(it).map_or(0, |it| it.distance_squared(place));
        (squared as f64).sqrt()
    };
    let stray = f64::from(inspection.bounds.stray.millimetres());
    away(at) <= away(nearest) + stray || !inspection.are_calm(at, nearest)
}

//! I8: a search from anywhere for any place ends at whoever is nearest to it.

use super::lasting::Lasting;
use super::{Look, Violations};
use machine::{Address, Rng};
use overlay::config::HOPS_MAX;
use sim::crowd::Ground;
use space::Position;

/// New searches per look, so that there are more than fifty per sample.
const SEARCHES: usize = 7;

/// Who searches, and the place.
type Search = (Address, (i32, i32));

pub struct Routing {
    astray: Lasting<Search>,
    ground: Ground,
    rng: Rng,
}

impl Routing {
    pub fn new(ground: Ground, rng: Rng) -> Self {
        Self { astray: Lasting::default(), ground, rng: rng.fork_named(0x726f_7574) }
    }

    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        let all: Vec<Address> = look.sitting.keys().copied().collect();
        if all.is_empty() {
            return;
        }
        let mut searches: Vec<Search> =
            self.astray.keys().filter(|it| look.sitting.contains_key(&it.0)).collect();
        let side = u64::from(self.ground.side.millimetres()) + 1;
        for _ in 0..SEARCHES {
            let from = all[self.rng.below(all.len() as u64) as usize];
            searches.push((from, (self.rng.below(side) as i32, self.rng.below(side) as i32)));
        }
        let wrong = searches
            .into_iter()
            .filter(|&(from, (x, y))| !is_found(look, from, Position::saturating(x.into(), y.into())));
        for (from, place) in self.astray.longer_than(look.bounds.enclosing, look.now, wrong) {
            violations.note("routing", || {
                format!("{}: a search of {from:?} for {place:?} ends elsewhere", look.now)
            });
        }
    }
}

/// Whether a search ends at whoever is nearest, or nearly; a search that meets somebody with an excuse is not judged.
fn is_found(look: &Look<'_>, from: Address, place: Position) -> bool {
    let mut at = from;
    for _ in 0..HOPS_MAX {
        let Some(it) = look.sitting.get(&at) else { return true };
        let Some(next) = it.peer.next_towards(place) else { break };
        at = next;
    }
    let Some(nearest) = look.truth.nearest(place) else { return true };
    let away = |it: Address| {
        let squared = look.truth.place(it).map_or(0, |it| it.distance_squared(place));
        (squared as f64).sqrt()
    };
    let stray = f64::from(look.bounds.stray.millimetres());
    away(at) <= away(nearest) + stray || !look.are_calm(at, nearest)
}

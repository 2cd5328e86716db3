//! Sightings: which peers come into whose view, and the time until they are heard.
//!
//! A peer's view is examined at each of its own steps; so a time counts from the step with which another peer is in
//! view to the first message of that peer.

use hdrhistogram::Histogram;
use machine::{Address, Span, Time};
use space::{Distance, Position};
use std::collections::{BTreeMap, BTreeSet};

/// The longest time that the histograms distinguish from longer ones.
const LONGEST: Span = Span::from_secs(3_600);

/// The views of all peers.
#[derive(Debug)]
pub struct Sightings {
    reach: Distance,
    places: BTreeMap<Address, Position>,
    cells: BTreeMap<(i32, i32), BTreeSet<Address>>,
    views: BTreeMap<Address, PeerView>,
    discovery: Histogram<u64>,
    recovery: Histogram<u64>,
}

/// The peers that one peer should see.
#[derive(Debug, Default)]
struct PeerView {
    /// Peers in view; with the time since which they are in view, if they are not known yet.
    others: BTreeMap<Address, Option<Time>>,
    /// Number of peers in view that are not known, and the time since which there are any.
    unknown: usize,
    blind_since: Time,
}

impl Sightings {
    /// Sightings of a world without peers. No peer sees farther than `reach`.
    pub fn new(reach: Distance) -> Self {
        let histogram =
            || Histogram::new_with_bounds(1, LONGEST.as_micros(), 3).expect("these bounds are valid");
        Self {
            reach,
            places: BTreeMap::new(),
            cells: BTreeMap::new(),
            views: BTreeMap::new(),
            discovery: histogram(),
            recovery: histogram(),
        }
    }

    fn cell(&self, place: Position) -> (i32, i32) {
        let side = self.reach.millimetres().max(1) as i32;
        (place.x().div_euclid(side), place.y().div_euclid(side))
    }

    /// A peer stepped to a place and has this view; `knows` tells which peers it has heard.
    pub fn step(
        &mut self,
        now: Time,
        who: Address,
        (place, sees): (Position, Distance),
        knows: impl Fn(Address) -> bool,
    ) {
        let cell = self.cell(place);
        if let Some(before) = self.places.insert(who, place).map(|it| self.cell(it))
            && before != cell
        {
            self.leave_cell(before, who);
        }
        self.cells.entry(cell).or_default().insert(who);
        // Cells are as wide as the farthest view, so the peers in view are in these nine cells.
        let around = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (cell.0 + x, cell.1 + y)));
        let near = around.filter_map(|it| self.cells.get(&it)).flatten().copied();
        let seen: BTreeSet<Address> =
            near.filter(|it| *it != who && self.places[it].is_within(sees, place)).collect();
        let view = self.views.entry(who).or_default();
        let (discovery, recovery) = (&mut self.discovery, &mut self.recovery);
        let left: Vec<Address> = view.others.keys().copied().filter(|it| !seen.contains(it)).collect();
        for other in left {
            if view.others.remove(&other).flatten().is_some() {
                view.one_less(now, recovery);
            }
        }
        for other in seen.into_iter().filter(|it| !view.others.contains_key(it)).collect::<Vec<_>>() {
            let known = knows(other);
            view.others.insert(other, (!known).then_some(now));
            if known {
                record(discovery, Span::ZERO);
            } else {
                view.one_more(now);
            }
        }
    }

    /// A peer heard another for the first time.
    pub fn heard(&mut self, now: Time, who: Address, of: Address) {
        let Some(view) = self.views.get_mut(&who) else { return };
        let Some(since) = view.others.get_mut(&of).and_then(Option::take) else { return };
        record(&mut self.discovery, now.since(since));
        view.one_less(now, &mut self.recovery);
    }

    /// A peer removed another from its list, which may still be in view.
    pub fn lost(&mut self, now: Time, who: Address, of: Address) {
        let Some(view) = self.views.get_mut(&who) else { return };
        if let Some(known @ None) = view.others.get_mut(&of) {
            *known = Some(now);
            view.one_more(now);
        }
    }

    /// A peer left the world.
    pub fn gone(&mut self, now: Time, who: Address) {
        self.views.remove(&who);
        if let Some(place) = self.places.remove(&who) {
            self.leave_cell(self.cell(place), who);
        }
        // A peer that is gone is missing in no view any more.
        for view in self.views.values_mut() {
            if view.others.remove(&who).flatten().is_some() {
                view.one_less(now, &mut self.recovery);
            }
        }
    }

    fn leave_cell(&mut self, cell: (i32, i32), who: Address) {
        if let Some(there) = self.cells.get_mut(&cell) {
            there.remove(&who);
            if there.is_empty() {
                self.cells.remove(&cell);
            }
        }
    }

    /// Time until a peer in view was heard, in milliseconds; 99th percentile.
    pub fn discovery_p99_ms(&self) -> f64 {
        self.discovery.value_at_quantile(0.99) as f64 / 1e3
    }

    /// Time for which a peer lacked a peer in view, in seconds; 99th percentile.
    pub fn recovery_p99_seconds(&self) -> f64 {
        self.recovery.value_at_quantile(0.99) as f64 / 1e6
    }
}

impl PeerView {
    const fn one_more(&mut self, now: Time) {
        if self.unknown == 0 {
            self.blind_since = now;
        }
        self.unknown += 1;
    }

    fn one_less(&mut self, now: Time, recovery: &mut Histogram<u64>) {
        self.unknown -= 1;
        if self.unknown == 0 {
            record(recovery, now.since(self.blind_since));
        }
    }
}

fn record(histogram: &mut Histogram<u64>, span: Span) {
    histogram.saturating_record(span.as_micros());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_sighting_to_the_first_message() {
        let (a, b) = (Address(1), Address(2));
        let place = |metres| (Position::from_metres(metres, 0.0).unwrap(), Distance::of_metres(60));
        let at = Time::from_millis;
        let mut sightings = Sightings::new(Distance::of_metres(60));
        sightings.step(at(0), a, place(0.0), |_| false);
        sightings.step(at(0), b, place(100.0), |_| false);
        assert_eq!(sightings.views[&a].others.len(), 0);
        sightings.step(at(1_000), b, place(50.0), |_| true);
        sightings.step(at(1_500), a, place(1.0), |_| false);
        assert_eq!((sightings.views[&a].unknown, sightings.views[&b].unknown), (1, 0));
        sightings.heard(at(2_500), a, b);
        assert!((sightings.discovery_p99_ms() - 1_000.0).abs() < 1.0, "{}", sightings.discovery_p99_ms());
        assert!((sightings.recovery_p99_seconds() - 1.0).abs() < 0.01);
        sightings.lost(at(3_000), a, b);
        sightings.gone(at(7_000), b);
        assert!(
            (sightings.recovery_p99_seconds() - 4.0).abs() < 0.01,
            "a peer that left is not missing any more"
        );
        assert!(sightings.cells.len() == 1 && sightings.views[&a].others.is_empty());
    }
}

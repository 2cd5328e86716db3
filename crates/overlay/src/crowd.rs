//! What is different where many are: a peer sees less far, and tells those farther away less often.
//!
//! The nearest hear every step, and so do those at the edge of the view, who know whoever is beyond. The others hear it as
//! often as A³ finds that they care: always up to the critical distance, then ever more rarely up to the end of what they
//! see, but never less than every third step. When even that is too much, those go first who have waited longest for what
//! they care about.
//!
//! Everybody around has much to tell of everybody else, most of it known. So nobody does it unasked: a peer in a crowd asks
//! one of its nearest and one at the edge of its view with every step whom it lacks.

use crate::list::Entry;
use crate::msg::Msg;
use crate::peer::{Out, Peer};
use crate::uplink::HEADERS;
use interest::policies::CircleAttenuated;
use interest::{Policy as _, Sight, Slot};
use machine::{Address, Span};
use space::{Distance, Neighbour};
use std::collections::BTreeSet;

/// So many hear every step, however large the crowd is.
const NEAREST: usize = 16;

/// Nobody hears fewer than one step in so many, and whoever hears fewer is as much more patient with silence.
pub(crate) const SLOWEST: u64 = 3;

/// Up to this distance everybody cares: two who run towards each other from there are beside each other after a step.
const CRITICAL: Distance = Distance::of_metres(18);

/// How far a peer sees is said with every step for so long after it has changed.
const SAID_FOR: Span = Span::from_secs(5);

/// What is said of a view is at least this much, in millimetres.
const NOTEWORTHY: u32 = 500;

/// What a step weighs on the line, about.
const STEP: u32 = 24 + HEADERS;

/// Those who always care first, then by how long they have waited times how much they care.
type Urgency = (bool, u64);

impl Peer {
    /// Whether there are so many around that it tells some of them less often.
    pub fn is_in_crowd(&self) -> bool {
        self.config.crowd.is_some_and(|crowd| crowd < self.list.len())
    }

    /// Asks one of the nearest and one at the edge of the view whom it lacks.
    pub(crate) fn ask_around(&mut self, neighbours: &[Neighbour<Address>], out: &mut Out) {
        if !self.is_in_crowd() {
            return;
        }
        let away = |it: &(Address, &Entry)| it.1.info.position.distance_squared(self.me.position);
        let mut near: Vec<(Address, &Entry)> = self.list.iter().filter(|it| it.1.proven).collect();
        near.sort_by_key(|it| (away(it), it.0));
        near.truncate(NEAREST);
        let edge: Vec<Address> = neighbours
            .iter()
            .filter(|it| it.boundary)
            .map(|it| it.key)
            .filter(|&it| self.trusts(it))
            .collect();
        let turn = self.me.sequence as usize;
        let one_near = near.get(turn % near.len().max(1)).map(|it| it.0);
        let one_at_the_edge = edge.get(turn % edge.len().max(1)).copied();
        let asked: BTreeSet<Address> = one_near.into_iter().chain(one_at_the_edge).collect();
        let knows = self.knows_nearest();
        self.drop_to(asked, Msg::Sum { knows, enclosing: Vec::new() }, out);
    }

    /// Whom to tell of a step, and who of them will hear less often.
    pub(crate) fn audience(&self, neighbours: &[Neighbour<Address>]) -> Vec<(Address, bool)> {
        let hears = |it: &(Address, &Entry)| it.1.proven || !self.config.handshake;
        let all = self.list.iter().filter(hears);
        if !self.is_in_crowd() {
            return all.map(|it| (it.0, false)).collect();
        }
        let away = |it: &Entry| it.info.position.distance_squared(self.me.position);
        let mut all: Vec<(Address, &Entry)> = all.collect();
        all.sort_by_key(|it| (away(it.1), it.0));
        let mut far = all.split_off(NEAREST.min(all.len()));
        let is_at_edge = |it: Address| {
            neighbours.binary_search_by_key(&it, |it| it.key).is_ok_and(|at| neighbours[at].boundary)
        };
        all.extend(far.extract_if(.., |it| is_at_edge(it.0)));
        let mut due: Vec<(Urgency, Address)> = far.into_iter().filter_map(|it| self.is_due(it)).collect();
        due.sort_unstable_by_key(|it| (std::cmp::Reverse(it.0), it.1));
        due.truncate(self.steps_left());
        let near = all.into_iter().map(|it| (it.0, false));
        near.chain(due.into_iter().map(|it| (it.1, true))).collect()
    }

    /// Whether somebody should hear this step, and how urgently.
    fn is_due(&self, (address, it): (Address, &Entry)) -> Option<(Urgency, Address)> {
        let cares = self.relevance_to(it).max(1.0 / SLOWEST as f32);
        let waited = self.now.since(it.told_at).as_micros() as f32;
        let interval = self.config.interval.as_micros() as f32;
        // Steps come when they come: half a step early is due.
        let due = !it.told_sparse || interval / cares <= waited + interval / 2.0;
        // Whoever heard every step so far must hear that this ends, or takes us for gone.
        let first = 1.0 <= cares || !it.told_sparse;
        due.then_some(((first, (waited * cares) as u64), address))
    }

    /// How much somebody cares where we are.
    fn relevance_to(&self, it: &Entry) -> f32 {
        let sees = self.config.reach(it.info.aoi);
        let sight = Sight::new(Slot(0), it.info.position, (1.0, 0.0), Slot(1), self.me.position);
        CircleAttenuated::new(sees, CRITICAL).map_or(1.0, |policy| policy.relevance(&sight))
    }

    /// How many of those farther away can be told of one step with three quarters of what may be sent in a second.
    fn steps_left(&self) -> usize {
        let Some(most) = self.config.uplink else { return usize::MAX };
        let steps = 1_000_000_u64.div_ceil(self.config.interval.as_micros().max(1));
        (u64::from(most) * 3 / 4 / steps / u64::from(STEP)) as usize
    }

    /// Sees less far if there are too many to see, and farther again when there are not.
    pub(crate) fn adapt_view(&mut self) {
        let Some(crowd) = self.config.crowd.map(|it| it as i64) else { return };
        let (here, aoi) = (self.me.position, self.me.aoi);
        let seen = self.list.iter().filter(|it| here.is_within(aoi, it.1.info.position)).count() as i64;
        let most = u64::from(self.aoi_most.millimetres()) * 1_000;
        let least = (u64::from(self.config.aoi_min.millimetres()) * 1_000).min(most);
        let passed = self.now.since(self.stepped).as_micros().min(1_000_000) as i64;
        // A tenth of the whole range per second, for every crowd too many.
        let change = (most - least) as i64 / 10 * (crowd - seen) / crowd * passed / 1_000_000;
        self.aoi_fine = self.aoi_fine.saturating_add_signed(change).clamp(least, most);
        let now = Distance::new((self.aoi_fine / 1_000) as u32).unwrap_or(aoi);
        let at_an_end = self.aoi_fine == least || self.aoi_fine == most;
        if NOTEWORTHY <= now.millimetres().abs_diff(aoi.millimetres()) || at_an_end && now != aoi {
            self.me.aoi = now;
            self.aoi_since = Some(self.now);
        }
    }

    /// How far it sees, if others may not know yet.
    pub(crate) fn announced_view(&self) -> Option<Distance> {
        self.aoi_since.filter(|at| self.now.since(*at) < SAID_FOR).map(|_| self.me.aoi)
    }
}

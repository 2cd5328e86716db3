//! All zones' records fit into one order in which each zone's own order holds, post is taken after it was sent, an event
//! is decided after its locks were given, and every write finds the version before it. If there is none, two events
//! each saw the world as it was before the other.

use super::chain::{Chain, Line};
use crate::violation::Violations;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, EventId};

const NAME: &str = "one_order";

/// Records in an order that makes sense: which chain, which of its lines.
pub type Order = Vec<(usize, usize)>;

/// Finds such an order, or says why there is none.
pub fn end(chains: &[Chain<'_>], out: &mut Violations) -> Option<Order> {
    if let [only] = chains {
        return Some((0..only.lines.len()).map(|line| (0, line)).collect());
    }
    let mut merge = Merge::new(chains);
    while merge.goes_on() {}
    let waits: Vec<_> = chains.iter().enumerate().filter_map(|it| merge.waits(it.0)).collect();
    if waits.is_empty() {
        return Some(merge.order);
    }
    out.add(NAME, format!("no order of all records makes sense: {}", waits.join("; ")));
    None
}

struct Merge<'a> {
    chains: &'a [Chain<'a>],
    places: BTreeMap<ZoneId, usize>,
    /// The last lock that a zone gave for an event it took part in: its line.
    locks: BTreeMap<(EventId, ZoneId), usize>,
    /// How many lines of each chain are in the order.
    done: Vec<usize>,
    /// The last number sent from a zone to another.
    posted: BTreeMap<(ZoneId, ZoneId), u64>,
    versions: BTreeMap<ObjectId, u32>,
    order: Order,
}

impl<'a> Merge<'a> {
    fn new(chains: &'a [Chain<'a>]) -> Self {
        let places = chains.iter().enumerate().map(|(place, it)| (it.zone, place)).collect();
        let mut locks = BTreeMap::new();
        for chain in chains {
            locks_of(chain, &mut locks);
        }
        let (done, posted, versions) = (vec![0; chains.len()], BTreeMap::new(), BTreeMap::new());
        Self { chains, places, locks, done, posted, versions, order: Order::new() }
    }

    /// Takes whatever can come next. Whether there was anything.
    fn goes_on(&mut self) -> bool {
        let before = self.order.len();
        for place in 0..self.chains.len() {
            while let Some(line) = self.chains[place].lines.get(self.done[place]) {
                if self.misses(place, line).is_some() {
                    break;
                }
                self.take(place, line);
            }
        }
        before < self.order.len()
    }

    fn waits(&self, place: usize) -> Option<String> {
        let line = self.chains[place].lines.get(self.done[place])?;
        Some(format!("{} waits for {}", self.chains[place].place(line), self.misses(place, line)?))
    }

    fn take(&mut self, place: usize, line: &Line<'_>) {
        let zone = self.chains[place].zone;
        self.order.push((place, self.done[place]));
        self.done[place] += 1;
        for change in &line.record.changes {
            match change {
                Change::Posted { to, number, .. } => drop(self.posted.insert((zone, *to), *number)),
                Change::Put { object, version, .. } | Change::Removed { object, version } => {
                    self.versions.insert(*object, *version);
                }
                _ => (),
            }
        }
    }

    /// What a record needs that is not in the order yet.
    fn misses(&self, place: usize, line: &Line<'_>) -> Option<String> {
        let zone = self.chains[place].zone;
        line.record.changes.iter().find_map(|it| self.misses_for(zone, line, it))
    }

    fn misses_for(&self, zone: ZoneId, line: &Line<'_>, change: &Change) -> Option<String> {
        match change {
            Change::Taken { from, number } => {
                let sent = self.posted.get(&(*from, zone)).copied().unwrap_or_default();
                (sent < *number).then(|| format!("item {number} of {from}"))
            }
            Change::Posted { to, item: zone::Item::Decided(whole), .. } => {
                let lock = *self.locks.get(&(whole.event, *to))?;
                let done = self.done[*self.places.get(to)?];
                (done <= lock).then(|| format!("the lock that {to} gave for {}", whole.event))
            }
            Change::Put { object, version, .. } | Change::Removed { object, version } => {
                self.misses_version(*object, *version)
            }
            Change::Elsewhere(it) if !line.is_joint() => self.misses_version(it.object, it.version),
            _ => None,
        }
    }

    fn misses_version(&self, object: ObjectId, version: u32) -> Option<String> {
        let known = self.versions.get(&object).copied().unwrap_or_default();
        (known + 1 != version).then(|| format!("version {} of {object}, not {known}", version - 1))
    }
}

/// The last lock before an event took place, or the last of all if it did not yet. One that was given later, to a
/// request that came late, has nothing to do with it.
fn locks_of(chain: &Chain<'_>, locks: &mut BTreeMap<(EventId, ZoneId), usize>) {
    let mut over = std::collections::BTreeSet::new();
    for (number, line) in chain.lines.iter().enumerate() {
        over.extend(line.joint());
        for change in &line.record.changes {
            if let Change::Granted { event, .. } = change
                && !over.contains(event)
            {
                locks.insert((*event, chain.zone), number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::story::{Told, event, judged, object, posted, put, taken, whole, written};
    use super::*;
    use game::Scope;
    use zone::{Cause, Item};

    const REIGN: Cause = Cause::Reign;

    fn verdict(told: &[Told]) -> Result<Order, String> {
        let mut order = None;
        let found = judged(told, |chains, out| order = end(chains, out));
        order.ok_or_else(|| found[0].clone())
    }

    fn ours() -> ObjectId {
        object(1, 5)
    }

    fn theirs() -> ObjectId {
        object(2, 7)
    }

    /// A zone that locks its object for an event of the other, writes it, and decides an event of its own.
    fn zone(own: u32, other: u32, decides_first: bool) -> Told {
        let (mine, its) = (object(own, 5), object(other, 5));
        let scope = Scope::objects([mine]);
        let granted = Change::Granted { event: event(other, 1), attempt: 1, scope, objects: vec![mine] };
        let decided = whole(event(own, 1), &[written(other, its, 2, b"b")]);
        let elsewhere = Change::Elsewhere(decided.writes[0].clone());
        let decides = (REIGN, vec![elsewhere, posted(other, 1, Item::Decided(decided))]);
        let joint = (Cause::Joint(event(other, 1)), vec![taken(other, 1), put(mine, 1, 2, b"b")]);
        let born = (REIGN, vec![put(mine, 1, 1, b"a")]);
        let lock = (Cause::Lock(event(other, 1)), vec![granted]);
        match decides_first {
            true => vec![born, decides, lock, joint],
            false => vec![born, lock, joint, decides],
        }
    }

    #[test]
    fn records_wait_for_what_they_need() {
        let order = verdict(&[zone(1, 2, true), vec![(REIGN, vec![put(object(2, 5), 1, 1, b"a")])]]);
        assert!(order.unwrap_err().contains("waits for"), "the other never gave a lock");
        let (here, mut there) = (zone(1, 2, false), zone(2, 1, true));
        there.truncate(2);
        let order = verdict(&[here[..3].to_vec(), there]).unwrap();
        let place = |it| order.iter().position(|&other| other == it).unwrap();
        assert!(place((0, 1)) < place((1, 1)) && place((1, 1)) < place((0, 2)), "{order:?}");
    }

    #[test]
    fn a_circle_is_noticed() {
        // Each zone decided only after it had applied what the other decided.
        let found = verdict(&[zone(1, 2, false), zone(2, 1, false)]).unwrap_err();
        assert!(found.contains("zone 1, record 3") && found.contains("zone 2, record 3"), "{found}");
    }

    #[test]
    fn a_write_that_saw_an_old_version_is_noticed() {
        let event = whole(event(1, 1), &[written(2, theirs(), 2, b"b")]);
        let elsewhere = Change::Elsewhere(event.writes[0].clone());
        let decides = (REIGN, vec![elsewhere, posted(2, 1, Item::Decided(event))]);
        let told = vec![(REIGN, vec![put(ours(), 1, 1, b"a")]), decides];
        let born = (REIGN, vec![put(theirs(), 1, 1, b"a")]);
        assert!(verdict(&[told.clone(), vec![born.clone()]]).is_ok());
        // The other has changed it meanwhile, before anything that this could have come before.
        let written = (REIGN, vec![taken(1, 1), put(theirs(), 1, 2, b"c")]);
        assert!(verdict(&[told.clone(), vec![born.clone(), written]]).is_ok());
        let late = [vec![(REIGN, vec![taken(2, 1)])], told[1..].to_vec()].concat();
        let written = (
            REIGN,
            vec![
                put(theirs(), 1, 2, b"c"),
                posted(1, 1, Item::Answer { object: ours(), incarnation: 1, taken: false }),
            ],
        );
        let found = verdict(&[late, vec![born, written]]).unwrap_err();
        assert!(found.contains("waits for version 1 of"), "{found}");
    }
}

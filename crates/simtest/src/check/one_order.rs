//! All zones' records fit into one order in which each zone's own order holds, post is taken after it was sent, an
//! event is decided after its locks were given, and every write finds the version before it. If there is none, two
//! events each saw the world as it was before the other.

use super::surviving_log::{LogLine, SurvivingLog};
use crate::violation::Violations;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, EventId};

const NAME: &str = "one_order";

/// Records in a possible order: place of the log, and of the line in it.
pub type RecordOrder = Vec<(usize, usize)>;

/// Finds such an order, or reports why there is none.
pub fn end(logs: &[SurvivingLog<'_>], out: &mut Violations) -> Option<RecordOrder> {
    // A single log is its own order; gaps in it are for other checkers.
    if let [only] = logs {
        return Some((0..only.lines.len()).map(|line| (0, line)).collect());
    }
    let mut merge = Merge::new(logs);
    // Round after round over all logs, until no record fits any more.
    while merge.goes_on() {}
    let waits: Vec<_> = logs.iter().enumerate().filter_map(|it| merge.waits(it.0)).collect();
    if waits.is_empty() {
        return Some(merge.order);
    }
    out.add(NAME, format!("no order of all records makes sense: {}", waits.join("; ")));
    None
}

struct Merge<'a> {
    logs: &'a [SurvivingLog<'a>],
    places: BTreeMap<ZoneId, usize>,
    /// The line of the last lock that a participant granted for an event.
    locks: BTreeMap<(EventId, ZoneId), usize>,
    /// Number of lines of each log that are in the order.
    done: Vec<usize>,
    /// The last number sent from a zone to another.
    posted: BTreeMap<(ZoneId, ZoneId), u64>,
    versions: BTreeMap<ObjectId, u32>,
    order: RecordOrder,
}

impl<'a> Merge<'a> {
    fn new(logs: &'a [SurvivingLog<'a>]) -> Self {
        let places = logs.iter().enumerate().map(|(place, it)| (it.zone, place)).collect();
        let mut locks = BTreeMap::new();
        for log in logs {
            locks_of(log, &mut locks);
        }
        let (done, posted, versions) = (vec![0; logs.len()], BTreeMap::new(), BTreeMap::new());
        Self { logs, places, locks, done, posted, versions, order: RecordOrder::new() }
    }

    /// Adds all records that can come next. Returns whether there was one.
    fn goes_on(&mut self) -> bool {
        let before = self.order.len();
        for place in 0..self.logs.len() {
            while let Some(line) = self.logs[place].lines.get(self.done[place]) {
                if self.misses(place, line).is_some() {
                    break;
                }
                self.take(place, line);
            }
        }
        before < self.order.len()
    }

    fn waits(&self, place: usize) -> Option<String> {
        let line = self.logs[place].lines.get(self.done[place])?;
        Some(format!("{} waits for {}", self.logs[place].describe(line), self.misses(place, line)?))
    }

    fn take(&mut self, place: usize, line: &LogLine<'_>) {
        let zone = self.logs[place].zone;
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

    /// The thing that a record needs and that is not in the order yet, as text.
    fn misses(&self, place: usize, line: &LogLine<'_>) -> Option<String> {
        let zone = self.logs[place].zone;
        line.record.changes.iter().find_map(|it| self.misses_for(zone, line, it))
    }

    fn misses_for(&self, zone: ZoneId, line: &LogLine<'_>, change: &Change) -> Option<String> {
        match change {
            Change::Taken { from, number } => {
                let sent = self.posted.get(&(*from, zone)).copied().unwrap_or_default();
                (sent < *number).then(|| format!("item {number} of {from}"))
            }
            Change::Posted { to, item: zone::PostItem::Decided(whole), .. } => {
                // A participant without a lock keeps nothing waiting here: `locks` reports it.
                let lock = *self.locks.get(&(whole.event, *to))?;
                let done = self.done[*self.places.get(to)?];
                (done <= lock).then(|| format!("the lock that {to} gave for {}", whole.event))
            }
            Change::Put { object, version, .. } | Change::Removed { object, version } => {
                self.misses_version(*object, *version)
            }
            // A participant repeats the coordinator's writes; they were counted with the decision.
            Change::Elsewhere(it) if !line.is_joint() => self.misses_version(it.object, it.version),
            _ => None,
        }
    }

    fn misses_version(&self, object: ObjectId, version: u32) -> Option<String> {
        let known = self.versions.get(&object).copied().unwrap_or_default();
        (known + 1 != version).then(|| format!("version {} of {object}, not {known}", version - 1))
    }
}

/// Finds the last lock before an event took place, or the last of all if it did not yet. A lock granted later, to a
/// request that came late, does not matter.
fn locks_of(log: &SurvivingLog<'_>, locks: &mut BTreeMap<(EventId, ZoneId), usize>) {
    let mut over = std::collections::BTreeSet::new();
    for (number, line) in log.lines.iter().enumerate() {
        over.extend(line.joint());
        for change in &line.record.changes {
            if let Change::Granted { event, .. } = change
                && !over.contains(event)
            {
                locks.insert((*event, log.zone), number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scripted_log::{
        ScriptedLog, check_logs, event, object, posted, put, taken, whole, written,
    };
    use super::*;
    use game::Scope;
    use zone::{Cause, PostItem};

    const LEADERSHIP: Cause = Cause::Leadership;

    fn order_of(script: &[ScriptedLog]) -> Result<RecordOrder, String> {
        let mut order = None;
        let found = check_logs(script, |logs, out| order = end(logs, out));
        order.ok_or_else(|| found[0].clone())
    }

    fn ours() -> ObjectId {
        object(1, 5)
    }

    fn theirs() -> ObjectId {
        object(2, 7)
    }

    /// A zone that locks its object for an event of the other, writes it, and decides an event of its own.
    fn zone(own: u32, other: u32, decides_first: bool) -> ScriptedLog {
        let (mine, its) = (object(own, 5), object(other, 5));
        let scope = Scope::objects([mine]);
        let granted = Change::Granted { event: event(other, 1), attempt: 1, scope, objects: vec![mine] };
        let decided = whole(event(own, 1), &[written(other, its, 2, b"b")]);
        let elsewhere = Change::Elsewhere(decided.writes[0].clone());
        let decides = (LEADERSHIP, vec![elsewhere, posted(other, 1, PostItem::Decided(decided))]);
        let joint = (Cause::Joint(event(other, 1)), vec![taken(other, 1), put(mine, 1, 2, b"b")]);
        let born = (LEADERSHIP, vec![put(mine, 1, 1, b"a")]);
        let lock = (Cause::Lock(event(other, 1)), vec![granted]);
        match decides_first {
            true => vec![born, decides, lock, joint],
            false => vec![born, lock, joint, decides],
        }
    }

    #[test]
    fn records_wait_for_what_they_need() {
        let order = order_of(&[zone(1, 2, true), vec![(LEADERSHIP, vec![put(object(2, 5), 1, 1, b"a")])]]);
        assert!(order.unwrap_err().contains("waits for"), "the other never gave a lock");
        let (here, mut there) = (zone(1, 2, false), zone(2, 1, true));
        there.truncate(2);
        let order = order_of(&[here[..3].to_vec(), there]).unwrap();
        let place = |it| order.iter().position(|&other| other == it).unwrap();
        assert!(place((0, 1)) < place((1, 1)) && place((1, 1)) < place((0, 2)), "{order:?}");
    }

    #[test]
    fn a_circle_is_noticed() {
        // Each zone decided only after it had applied what the other decided.
        let found = order_of(&[zone(1, 2, false), zone(2, 1, false)]).unwrap_err();
        assert!(found.contains("zone 1, record 3") && found.contains("zone 2, record 3"), "{found}");
    }

    #[test]
    fn a_write_that_saw_an_old_version_is_noticed() {
        let event = whole(event(1, 1), &[written(2, theirs(), 2, b"b")]);
        let elsewhere = Change::Elsewhere(event.writes[0].clone());
        let decides = (LEADERSHIP, vec![elsewhere, posted(2, 1, PostItem::Decided(event))]);
        let script = vec![(LEADERSHIP, vec![put(ours(), 1, 1, b"a")]), decides];
        let born = (LEADERSHIP, vec![put(theirs(), 1, 1, b"a")]);
        assert!(order_of(&[script.clone(), vec![born.clone()]]).is_ok());
        // The other zone has changed it meanwhile, before anything that this could have come before.
        let written = (LEADERSHIP, vec![taken(1, 1), put(theirs(), 1, 2, b"c")]);
        assert!(order_of(&[script.clone(), vec![born.clone(), written]]).is_ok());
        let late = [vec![(LEADERSHIP, vec![taken(2, 1)])], script[1..].to_vec()].concat();
        let written = (
            LEADERSHIP,
            vec![
                put(theirs(), 1, 2, b"c"),
                posted(1, 1, PostItem::Answer { object: ours(), incarnation: 1, taken: false }),
            ],
        );
        let found = order_of(&[late, vec![born, written]]).unwrap_err();
        assert!(found.contains("waits for version 1 of"), "{found}");
    }
}

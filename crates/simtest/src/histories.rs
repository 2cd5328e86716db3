//! Histories that real processes wrote down: put in order and checked.
//!
//! A folder holds one file per life of a process. The crate `history` reads each file by itself; here the lives are
//! compared with each other: whether they tell of one world, what happened first, and which were killed. All of them
//! together are one history, from the first record of a world to its stop. Whether all players play again
//! after faults, and whether queues stay short, cannot be seen in it; everything else is checked as on the simulator.

use crate::history_checker::{Ending, HistoryChecker, HistoryCounts, ZoneSpec};
use crate::record_tracker::RecordName;
use crate::scenario::Scenario;
use crate::violation::Violation;
use game::PlayerId;
use history::{Entry, EntryKind, FolderError, NamedBytes, NamedLife, WorldHeader};
use machine::{Address, Time};
use serde::Serialize;
use space::{Polygon, PolygonError, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use zone::Note;

/// Reasons why a folder cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The files cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// No file is from a host.
    #[error(
        "no host wrote any of these files: a history needs those of all hosts, the directory and the players"
    )]
    NoWorld,
    /// No file is from the directory.
    #[error("no file tells which replicas were to be primary: the files of the directory are missing")]
    NoDirectory,
    /// The files do not belong together.
    #[error("{first} and {second} are of different worlds or settings: check each in a folder of its own")]
    Worlds {
        /// Name of the first file of a world.
        first: String,
        /// Name of a file of another world.
        second: String,
    },
    /// The history is of another game, or of another version of it.
    #[error(
        "the history is of the game {game} with types {found:016x}, this program knows {ours} with {known:016x}: \
         check it with the program that ran it"
    )]
    Schema {
        /// Game that the history names.
        game: String,
        /// Hash of the types of that game.
        found: u64,
        /// Game of the scenario that checks.
        ours: &'static str,
        /// Hash of the types of the scenario's game.
        known: u64,
    },
    /// A region that is no convex polygon.
    #[error("the world's region makes no sense: {0}")]
    Region(#[from] PolygonError),
    /// Files of the beginning are missing.
    #[error(
        "the history of this world does not begin at record 1: {} has record {} of epoch {}, which no file here has; \
         a world is checked from its first start on, with the files of all its processes", replica.0, name.1, name.0.0
    )]
    MissingStart {
        /// Address of the replica that has the record.
        replica: Address,
        /// Name of the record that no process wrote.
        name: RecordName,
    },
}

/// One history of a world, in order.
pub struct Histories {
    /// The world, as each of its zones describes it.
    pub zones: Vec<WorldHeader>,
    /// Number of processes that wrote something.
    pub processes: usize,
    /// Number of lives of all processes.
    pub lives: usize,
    /// Number of lives that end in the middle of an entry.
    pub torn: usize,
    /// Entries of all lives, in order of time.
    pub entries: Vec<Entry>,
}

/// Result of checking a history.
#[derive(Clone, Debug, Serialize)]
pub struct HistoryReport {
    /// Records that were written, also those that did not survive.
    pub records: u64,
    /// Actions that players asked for.
    pub actions_asked: u64,
    /// Counts of failovers, restarts and actions.
    #[serde(flatten)]
    pub counts: HistoryCounts,
    /// Actions without an answer, by player; the history may have been stopped before it came.
    pub unanswered: BTreeMap<PlayerId, u64>,
    /// Broken invariants, the first violation first.
    pub violations: Vec<Violation>,
    /// Number of entries up to and with the one that showed the first violation.
    #[serde(skip)]
    pub place: Option<usize>,
}

/// Makes one history of the files in a folder.
pub fn read(folder: &Path) -> Result<Histories, HistoryError> {
    merged(history::read_folder(folder)?)
}

/// Makes one history of files with these names.
pub fn read_files(files: Vec<NamedBytes>) -> Result<Histories, HistoryError> {
    merged(history::read_files(files)?)
}

/// Puts the entries of all lives into one order: by time, then by the files' names, then as written.
fn merged(lives: Vec<NamedLife>) -> Result<Histories, HistoryError> {
    let zones = zones_of(&lives)?;
    let processes: BTreeSet<_> = lives.iter().filter_map(|it| Some(&it.1.header.as_ref()?.process)).collect();
    let (processes, torn) = (processes.len(), lives.iter().filter(|it| it.1.torn.is_some()).count());
    let count = lives.len();
    let mut entries: Vec<_> = lives.into_iter().flat_map(|it| it.1.entries).collect();
    entries.sort_by_key(|it| it.time); // Stable: what one process did stays in its order.
    Ok(Histories { zones, processes, lives: count, torn, entries: with_deaths(entries) })
}

fn zones_of(lives: &[NamedLife]) -> Result<Vec<WorldHeader>, HistoryError> {
    let mut zones: BTreeMap<ZoneId, (&String, &WorldHeader)> = BTreeMap::new();
    for (file, life) in lives {
        let Some(world) = life.header.as_ref().and_then(|it| it.world.as_ref()) else { continue };
        let (first, same_zone) = zones.get(&world.zone).copied().unwrap_or((file, world));
        let (other, any_zone) = zones.values().next().copied().unwrap_or((file, world));
        // The hosts of a zone must agree on everything, the zones of a world on game and durability.
        if same_zone != world {
            return Err(HistoryError::Worlds { first: first.clone(), second: file.clone() });
        }
        let settings = |it: &WorldHeader| (it.game.clone(), it.schema, it.durability);
        if settings(any_zone) != settings(world) {
            return Err(HistoryError::Worlds { first: other.clone(), second: file.clone() });
        }
        zones.insert(world.zone, (first, world));
    }
    match zones.is_empty() {
        true => Err(HistoryError::NoWorld),
        false => Ok(zones.into_values().map(|it| it.1.clone()).collect()),
    }
}

/// Adds the deaths. A process that starts again without having stopped was killed, right after its last entry: from
/// then on it did nothing.
fn with_deaths(entries: Vec<Entry>) -> Vec<Entry> {
    let mut reborn = BTreeSet::new();
    let mut backwards = Vec::with_capacity(entries.len() + 16);
    // Backwards: at each entry it is known already whether its process starts again later.
    for entry in entries.into_iter().rev() {
        let died = reborn.remove(&entry.by) && !matches!(entry.what, EntryKind::Stopped | EntryKind::Crashed);
        if died {
            backwards.push(Entry { time: entry.time, by: entry.by, what: EntryKind::Crashed });
        }
        if entry.what == EntryKind::Started {
            reborn.insert(entry.by);
        }
        backwards.push(entry);
    }
    backwards.reverse();
    backwards
}

impl Histories {
    /// Checks it as a history of this scenario's game.
    pub fn check(&self, scenario: &(impl Scenario + ?Sized)) -> Result<HistoryReport, HistoryError> {
        // Without the swaps, `one_primary` would find fault with every primary.
        let is_primary_note = |it: &Entry| matches!(it.what, EntryKind::Said(Note::Leads { .. }));
        let is_swap = |it: &Entry| matches!(it.what, EntryKind::Leadership(..));
        if self.entries.iter().any(is_primary_note) && !self.entries.iter().any(is_swap) {
            return Err(HistoryError::NoDirectory);
        }
        let mut checker = HistoryChecker::new(0, self.specs(scenario)?);
        let mut place = None;
        for (number, entry) in self.entries.iter().enumerate() {
            checker.see(entry);
            if let Some((replica, name)) = checker.unknown_record() {
                return Err(HistoryError::MissingStart { replica, name });
            }
            if !checker.violations.is_empty() {
                // Later violations mostly follow from the first one.
                place = Some(number + 1);
                break;
            }
        }
        if place.is_none() {
            checker.end(Ending::Stopped);
            place = checker.violations.first().map(|it| self.place(it));
        }
        Ok(HistoryReport {
            records: checker.records(),
            actions_asked: checker.actions_asked(),
            counts: checker.counts,
            unanswered: checker.unanswered(),
            violations: checker.violations.into_vec(),
            place,
        })
    }

    fn place(&self, time: Time) -> usize {
        self.entries.partition_point(|it| it.time <= time)
    }

    fn specs(&self, scenario: &(impl Scenario + ?Sized)) -> Result<Vec<ZoneSpec>, HistoryError> {
        let rules = scenario.rules(&self.bounds()?);
        let mut specs = Vec::new();
        for WorldHeader { game, schema, zone, region, hosts, durability } in &self.zones {
            if rules.schema() != *schema {
                let (game, found, known) = (game.clone(), *schema, rules.schema());
                return Err(HistoryError::Schema { game, found, ours: scenario.name(), known });
            }
            let (zone, region, rules) = (*zone, Polygon::new(region)?, Arc::clone(&rules));
            let (count, hosts, durability) = (scenario.count(), hosts.clone(), *durability);
            specs.push(ZoneSpec { zone, region, rules, count, hosts, durability });
        }
        Ok(specs)
    }

    /// Bounds of the whole world: a rectangle, if it has several zones.
    fn bounds(&self) -> Result<Polygon, HistoryError> {
        if let [zone] = self.zones.as_slice() {
            return Ok(Polygon::new(&zone.region)?);
        }
        let corners = || self.zones.iter().flat_map(|it| &it.region);
        let (mut low, mut high) = ((i64::MAX, i64::MAX), (i64::MIN, i64::MIN));
        for (x, y) in corners().map(|it| (i64::from(it.x()), i64::from(it.y()))) {
            low = (low.0.min(x), low.1.min(y));
            high = (high.0.max(x), high.1.max(y));
        }
        let corner = |(x, y)| Position::saturating(x, y);
        Ok(Polygon::rectangle(corner(low), corner(high))?)
    }

    /// The entries around a place, one line each; the last one before the place is marked.
    pub fn around(&self, place: usize, before: usize, after: usize) -> Vec<String> {
        let (from, to) = (place.saturating_sub(before), (place + after).min(self.entries.len()));
        let line = |number: usize| {
            let mark = if number + 1 == place { ">" } else { " " };
            format!("{mark} {}", self.entries[number])
        };
        (from..to).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_starts_again_died_after_its_last_entry() {
        let entry = |time, by, what| Entry { time: Time::from_micros(time), by: Address(by), what };
        let history = vec![
            entry(1, 1, EntryKind::Started),
            entry(2, 2, EntryKind::Started),
            entry(3, 1, EntryKind::Cut(1)),
            entry(4, 2, EntryKind::Stopped),
            entry(5, 2, EntryKind::Started),
            entry(6, 1, EntryKind::Started),
            entry(7, 1, EntryKind::Crashed),
            entry(8, 1, EntryKind::Started),
        ];
        let mut expected = history.clone();
        expected.insert(3, entry(3, 1, EntryKind::Crashed));
        assert_eq!(with_deaths(history), expected);
    }
}

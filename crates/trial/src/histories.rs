//! Histories that real processes wrote down: put in order and judged.
//!
//! A folder holds one file per life of a process. The crate `history` reads each file by itself; here the lives are
//! compared with each other: whether they tell of one world, what happened before what, and who was killed. All of them
//! together are one history, from the first record of a world to wherever it was stopped. Whether everybody plays again
//! after trouble, and whether queues stay short, cannot be seen in it; everything else is judged as on the simulator.

use crate::judge::{About, Ending, Judge, Tally};
use crate::ledger::Name;
use crate::scenario::Scenario;
use crate::violation::Violation;
use game::PlayerId;
use history::{Entry, FolderError, NamedBytes, NamedLife, What, World};
use machine::{Address, Time};
use serde::Serialize;
use space::{Polygon, PolygonError, Position, ZoneId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use zone::Note;

/// Why a folder cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// Its files cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// No host wrote anything.
    #[error(
        "no host wrote any of these files: a history needs those of all hosts, the directory and the players"
    )]
    NoWorld,
    /// The directory wrote nothing.
    #[error("nobody here wrote down who was to reign: the files of the directory are missing")]
    NoDirectory,
    /// The files do not belong together.
    #[error("{first} and {second} are of different worlds or settings: check each in a folder of its own")]
    Worlds {
        /// A file.
        first: String,
        /// One that does not fit.
        second: String,
    },
    /// The history is of another game, or of another version of it.
    #[error(
        "the history is of the game {game} with types {found:016x}, this program knows {ours} with {known:016x}: \
         check it with the program that ran it"
    )]
    Schema {
        /// The game that the history names.
        game: String,
        /// The hash of its types.
        found: u64,
        /// The game of the scenario.
        ours: &'static str,
        /// The hash of its types.
        known: u64,
    },
    /// A region that cannot be one.
    #[error("the world's region makes no sense: {0}")]
    Region(#[from] PolygonError),
    /// Something is missing.
    #[error(
        "the history of this world does not begin at record 1: {} has record {} of epoch {}, which nobody here wrote; \
         a world is checked from its first start on, with the files of all its processes", who.0, name.1, name.0.0
    )]
    Unbegun {
        /// Who.
        who: Address,
        /// The record.
        name: Name,
    },
}

/// A history, in order.
pub struct Histories {
    /// The world, as each of its zones tells of it.
    pub zones: Vec<World>,
    /// How many processes wrote something.
    pub processes: usize,
    /// How many lives they had.
    pub lives: usize,
    /// How many of those ended in the middle of an entry.
    pub torn: usize,
    /// What happened.
    pub entries: Vec<Entry>,
}

/// What a judge says of a history.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Records that were written, also those that did not survive.
    pub records: u64,
    /// Actions that players asked for.
    pub actions_asked: u64,
    /// What was counted.
    #[serde(flatten)]
    pub tally: Tally,
    /// Actions without an answer, by player; the history may have been stopped before it came.
    pub unanswered: BTreeMap<PlayerId, u64>,
    /// What was violated.
    pub violations: Vec<Violation>,
    /// Where the first violation is: before this many entries.
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

fn zones_of(lives: &[NamedLife]) -> Result<Vec<World>, HistoryError> {
    let mut zones: BTreeMap<ZoneId, (&String, &World)> = BTreeMap::new();
    for (file, life) in lives {
        let Some(world) = life.header.as_ref().and_then(|it| it.world.as_ref()) else { continue };
        let (first, same_zone) = zones.get(&world.zone).copied().unwrap_or((file, world));
        let (other, any_zone) = zones.values().next().copied().unwrap_or((file, world));
        if same_zone != world {
            return Err(HistoryError::Worlds { first: first.clone(), second: file.clone() });
        }
        let settings = |it: &World| (it.game.clone(), it.schema, it.durability);
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

/// Whoever starts again without having stopped was killed: at the latest when they said the last thing that
/// anybody knows of. From then on they did nothing.
fn with_deaths(entries: Vec<Entry>) -> Vec<Entry> {
    let mut reborn = BTreeSet::new();
    let mut backwards = Vec::with_capacity(entries.len() + 16);
    for entry in entries.into_iter().rev() {
        let died = reborn.remove(&entry.by) && !matches!(entry.what, What::Stopped | What::Crashed);
        if died {
            backwards.push(Entry { time: entry.time, by: entry.by, what: What::Crashed });
        }
        if entry.what == What::Started {
            reborn.insert(entry.by);
        }
        backwards.push(entry);
    }
    backwards.reverse();
    backwards
}

impl Histories {
    /// Judges it as a history of this scenario's game.
    pub fn judged(&self, scenario: &(impl Scenario + ?Sized)) -> Result<Verdict, HistoryError> {
        let reigns = |it: &Entry| matches!(it.what, What::Said(Note::Reigns { .. }));
        let swaps = |it: &Entry| matches!(it.what, What::Reign(..));
        if self.entries.iter().any(reigns) && !self.entries.iter().any(swaps) {
            return Err(HistoryError::NoDirectory);
        }
        let mut judge = Judge::new(0, self.about(scenario)?);
        let mut place = None;
        for (number, entry) in self.entries.iter().enumerate() {
            judge.see(entry);
            if let Some((who, name)) = judge.stranger() {
                return Err(HistoryError::Unbegun { who, name });
            }
            if !judge.violations.is_empty() {
                place = Some(number + 1);
                break;
            }
        }
        if place.is_none() {
            judge.end(Ending::Stopped);
            place = judge.violations.first().map(|it| self.place(it));
        }
        Ok(Verdict {
            records: judge.records(),
            actions_asked: judge.asked(),
            tally: judge.tally,
            unanswered: judge.unanswered(),
            violations: judge.violations.into_vec(),
            place,
        })
    }

    fn place(&self, time: Time) -> usize {
        self.entries.partition_point(|it| it.time <= time)
    }

    fn about(&self, scenario: &(impl Scenario + ?Sized)) -> Result<Vec<About>, HistoryError> {
        let rules = scenario.rules(&self.bounds()?);
        let mut abouts = Vec::new();
        for World { game, schema, zone, region, hosts, durability } in &self.zones {
            if rules.schema() != *schema {
                let (game, found, known) = (game.clone(), *schema, rules.schema());
                return Err(HistoryError::Schema { game, found, ours: scenario.name(), known });
            }
            let (zone, region, rules) = (*zone, Polygon::new(region)?, Arc::clone(&rules));
            let (count, hosts, durability) = (scenario.count(), hosts.clone(), *durability);
            abouts.push(About { zone, region, rules, count, hosts, durability });
        }
        Ok(abouts)
    }

    /// The whole world: a rectangle, if it has several zones.
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
    fn whoever_starts_again_died_after_their_last_word() {
        let entry = |time, by, what| Entry { time: Time::from_micros(time), by: Address(by), what };
        let history = vec![
            entry(1, 1, What::Started),
            entry(2, 2, What::Started),
            entry(3, 1, What::Cut(1)),
            entry(4, 2, What::Stopped),
            entry(5, 2, What::Started),
            entry(6, 1, What::Started),
            entry(7, 1, What::Crashed),
            entry(8, 1, What::Started),
        ];
        let mut expected = history.clone();
        expected.insert(3, entry(3, 1, What::Crashed));
        assert_eq!(with_deaths(history), expected);
    }
}

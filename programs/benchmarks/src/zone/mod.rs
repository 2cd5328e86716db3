//! How many events a zone gets through: primary and backup together, with everything encoded and decoded.
//!
//! Players send actions as fast as [`RATE`] and as they are answered; the clock of the world advances as if that
//! rate were kept, so that timers (beacons, views, snapshots) cost what they cost at that load. Only what hosts do is
//! timed: handling, decoding what they hear, encoding what they say. What players do, and what networks and
//! disks cost beyond handing the bytes over, is not.

pub mod ahead;
mod callers;
mod counter;
mod pairs;
mod rig;

use callers::{Act, Callers};
use counter::{COLUMNS, Counter};
use cpu_time::ThreadTime;
use game::{Hosted, Rules};
use kosmos::{Action, Give, Kosmos, Want};
use machine::Span;
use pairs::Pairs;
use rig::Rig;
use serde::Serialize;
use space::{ObjectId, Partition, Polygon, Position, ZoneId};
use std::sync::Arc;

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `zone`.
    pub bench: &'static str,
    /// One row per game.
    pub rows: Vec<Row>,
    /// Memory that a player takes, avatar included, in primary and backup together.
    pub bytes_per_player: f64,
    /// Memory that an object takes that one player sees, in primary and backup together.
    pub bytes_per_object: f64,
}

/// One game.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which.
    pub game: &'static str,
    /// How many play.
    pub players: usize,
    /// How many others each of them sees, on average.
    pub sees: f64,
    /// Records written in the measurement that counts.
    pub events: u64,
    /// The CPU time they took, of primary and backup.
    pub cpu_seconds: f64,
    /// Events per second of CPU time.
    pub events_per_cpu_second: f64,
    /// Which part of the time is the backup's.
    pub backup_share: f64,
    /// Bytes of records to each disk.
    pub bytes_logged_per_event: f64,
    /// Bytes of snapshots to each disk.
    pub bytes_of_snapshots_per_event: f64,
    /// Bytes from the primary to the backup.
    pub bytes_to_backup_per_event: f64,
    /// Bytes to all players together.
    pub bytes_to_players_per_event: f64,
    /// Messages to all players together.
    pub messages_to_players_per_event: f64,
    /// Allocations of both hosts.
    pub allocations_per_event: f64,
}

/// Players of a measurement.
const PLAYERS: usize = 256;
/// Actions per second of world time, all players together: the goal.
pub const RATE: usize = 100_000;
/// The quickest of so many measurements counts: a shared machine only ever adds to a time.
const MEASUREMENTS: u32 = 5;
/// Before anything is measured: tails are full, buffers have grown, a snapshot was written.
const WARM_EVENTS: u64 = 10_000;
/// Bytes, messages and allocations are those of so many events: a few snapshots are among it.
const COUNTED_EVENTS: u64 = 4 * zone::config::SNAPSHOT_EVERY;

/// A game to be measured.
struct Case {
    name: &'static str,
    rules: fn() -> Arc<dyn Rules>,
    map: fn() -> Partition,
    act: Act,
    /// How far players see, in metres.
    sees: u32,
}

const CASES: [Case; 4] = [
    Case {
        name: "counter, alone",
        rules: || Arc::new(Hosted(Counter::LONELY)),
        map: || one_zone(counter_region(Counter::LONELY)),
        act: count,
        sees: 15,
    },
    Case {
        name: "counter, crowded",
        rules: || Arc::new(Hosted(Counter::CROWDED)),
        map: || one_zone(counter_region(Counter::CROWDED)),
        act: count,
        sees: 15,
    },
    Case {
        name: "kosmos",
        rules: || Arc::new(Hosted(Kosmos::new(kosmos_region()))),
        map: || one_zone(kosmos_region()),
        act: bargain,
        sees: 60,
    },
    Case {
        name: "pairs, two zones",
        rules: || Arc::new(Hosted(Pairs)),
        map: Pairs::map,
        act: give,
        sees: 15,
    },
];

/// How many steps [`measure`] tells of.
pub const STEPS: u64 = CASES.len() as u64 + 1;

/// Measures every game for `seconds` of CPU time; `done` is called after each step.
pub fn measure(seconds: f64, done: &dyn Fn()) -> Report {
    let rows = CASES.iter().map(|case| {
        let row = row(case, seconds / f64::from(MEASUREMENTS));
        done();
        row
    });
    let rows = rows.collect();
    let (bytes_per_player, bytes_per_object) = memory();
    done();
    Report { bench: "zone", rows, bytes_per_player, bytes_per_object }
}

/// The report as a table for a terminal.
pub fn table(report: &Report) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_HORIZONTAL_ONLY).set_header([
        "game",
        "players",
        "sees",
        "events per CPU second",
        "backup's share",
        "bytes logged",
        "to backup",
        "to players",
        "messages",
        "allocations",
    ]);
    for row in &report.rows {
        table.add_row([
            row.game.to_owned(),
            row.players.to_string(),
            format!("{:.1}", row.sees),
            format!("{:.0}", row.events_per_cpu_second),
            format!("{:.0} %", 100.0 * row.backup_share),
            format!("{:.0}", row.bytes_logged_per_event),
            format!("{:.0}", row.bytes_to_backup_per_event),
            format!("{:.0}", row.bytes_to_players_per_event),
            format!("{:.1}", row.messages_to_players_per_event),
            format!("{:.1}", row.allocations_per_event),
        ]);
    }
    format!(
        "primary and backup together, batched; bytes, messages and allocations per event\n{table}\n\
         memory in both: {:.0} bytes per player, {:.0} bytes per object\n",
        report.bytes_per_player, report.bytes_per_object
    )
}

fn row(case: &Case, seconds: f64) -> Row {
    let mut world = World::new(&(case.rules)(), (case.map)(), PLAYERS, case.act);
    world.run(|it| it.events < WARM_EVENTS);
    // What is counted comes first, so that it does not depend on how much was timed before.
    let mut counted = Slice::default();
    let taken = allocations::counted(|| counted = world.run(|it| it.events < COUNTED_EVENTS));
    let measured = (0..MEASUREMENTS).map(|_| world.run(|it| it.cpu_seconds < seconds));
    let best = measured.max_by(|a, b| a.rate().total_cmp(&b.rate())).expect("there is a measurement");
    assert_eq!(world.callers.refused, 0, "everything that players want can be done");
    let per_event = |it: u64| it as f64 / counted.events as f64;
    Row {
        game: case.name,
        players: PLAYERS,
        sees: world.sees(case.sees),
        events: best.events,
        cpu_seconds: best.cpu_seconds,
        events_per_cpu_second: best.rate(),
        backup_share: best.backup_seconds / best.cpu_seconds,
        bytes_logged_per_event: per_event(counted.traffic.logged),
        bytes_of_snapshots_per_event: per_event(counted.traffic.snapshots),
        bytes_to_backup_per_event: per_event(counted.traffic.to_backup),
        bytes_to_players_per_event: per_event(counted.traffic.to_players),
        messages_to_players_per_event: per_event(counted.traffic.messages),
        allocations_per_event: per_event(taken.allocations),
    }
}

/// A zone and its players.
struct World {
    rig: Rig,
    callers: Callers,
}

/// A part of a measurement.
#[derive(Clone, Copy, Default)]
struct Slice {
    events: u64,
    cpu_seconds: f64,
    backup_seconds: f64,
    traffic: rig::Traffic,
}

impl Slice {
    fn rate(&self) -> f64 {
        self.events as f64 / self.cpu_seconds
    }
}

impl World {
    fn new(rules: &Arc<dyn Rules>, map: Partition, players: usize, act: Act) -> Self {
        let mut rig = Rig::new(rules, &Arc::new(map), players);
        let mut callers = Callers::enter(&mut rig, players, act);
        if 1 < rig.zones() {
            callers.only_on_one_side();
        }
        Self { rig, callers }
    }

    /// Goes on, a millisecond of world time after the other, and times the hosts.
    fn run(&mut self, goes_on: impl Fn(&Slice) -> bool) -> Slice {
        let (head, backup_time) = (self.rig.primary().head(), self.rig.backup_time);
        let answered = self.callers.answered;
        self.rig.traffic = rig::Traffic::default();
        let mut slice = Slice::default();
        while goes_on(&slice) {
            self.callers.write(RATE / 1_000);
            let start = ThreadTime::now();
            self.callers.send(&mut self.rig);
            self.rig.advance(Span::from_millis(1));
            slice.cpu_seconds += start.elapsed().as_secs_f64();
            self.callers.hear(&mut self.rig);
            // An event of several zones is several records.
            slice.events = match self.rig.zones() {
                1 => self.rig.primary().head() - head,
                _ => self.callers.answered - answered,
            };
        }
        slice.backup_seconds = (self.rig.backup_time - backup_time).as_secs_f64();
        slice.traffic = self.rig.traffic;
        slice
    }

    /// How many other players each one sees, by looking at every pair.
    fn sees(&self, metres: u32) -> f64 {
        let (state, now) = (self.rig.primary().state(), self.rig.now());
        let place = |it: &ObjectId| state.objects.get(*it).map(|it| it.motion.position_at(now));
        let places: Vec<Position> = state.avatars.keys().filter_map(place).collect();
        let range = space::Distance::of_metres(metres);
        let near = |it: &Position| places.iter().filter(|other| it.is_within(range, **other)).count() - 1;
        places.iter().map(near).sum::<usize>() as f64 / places.len() as f64
    }
}

/// Bytes per player and per object: what is more where there are more. The logs are equally long everywhere.
fn memory() -> (f64, f64) {
    const THINGS: u32 = 32;
    let more_things = Counter { things: THINGS, ..Counter::LONELY };
    let few = held(Counter::LONELY, PLAYERS / 2);
    let many = held(Counter::LONELY, PLAYERS);
    let full = held(more_things, PLAYERS);
    (
        (many - few) as f64 / (PLAYERS - PLAYERS / 2) as f64,
        (full - many) as f64 / (PLAYERS as f64 * f64::from(THINGS)),
    )
}

/// Bytes that primary and backup hold in the steady state.
fn held(counter: Counter, players: usize) -> i64 {
    let mut world = None;
    let counted = allocations::counted(|| {
        let rules: Arc<dyn Rules> = Arc::new(Hosted(counter));
        let mut it = World::new(&rules, one_zone(counter_region(counter)), players, count);
        it.run(|it| it.events < WARM_EVENTS);
        it.rig.shrink();
        it.callers.shrink();
        world = Some(it);
    });
    let callers = world.as_ref().map_or(0, |it| it.callers.bytes_held());
    counted.bytes_held - callers as i64
}

fn count(_: ObjectId, _: ObjectId, number: u64) -> Vec<u8> {
    encoded(&(number as u32))
}

fn give(_: ObjectId, other: ObjectId, _: u64) -> Vec<u8> {
    encoded(&other)
}

/// Half are offers, seen by everybody in sight; a quarter takes them back, a quarter is talk.
fn bargain(_: ObjectId, other: ObjectId, number: u64) -> Vec<u8> {
    let give = Give { coins: 1 + (number % 16) as u32, item: None };
    encoded(&match number % 4 {
        0 => Action::Say { text: "a fair offer".to_owned() },
        3 => Action::WithdrawOffer,
        _ => Action::OfferTrade { to: other, give, want: Want::default() },
    })
}

fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain data encodes")
}

fn one_zone(region: Polygon) -> Partition {
    Partition::new(region, ZoneId(1))
}

fn counter_region(counter: Counter) -> Polygon {
    let side = COLUMNS as i64 * counter.spacing * 1_000;
    square(-1_000, side)
}

/// Large enough that nobody sees everybody.
fn kosmos_region() -> Polygon {
    square(-250_000, 250_000)
}

fn square(low: i64, high: i64) -> Polygon {
    let corner = |at| Position::saturating(at, at);
    Polygon::rectangle(corner(low), corner(high)).expect("a square is convex")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What does not depend on the machine: everything is done once, and bytes stay what they are.
    #[test]
    fn every_action_becomes_one_event() {
        for case in &CASES {
            let mut world = World::new(&(case.rules)(), (case.map)(), 20, case.act);
            let before = world.callers.answered;
            let slice = world.run(|it| it.events < 2_000);
            let answered = world.callers.answered - before;
            assert_eq!(world.callers.refused, 0, "{}", case.name);
            assert!(slice.events - answered < 200, "{}: {answered} of {}", case.name, slice.events);
            assert!(0 < slice.traffic.logged && slice.traffic.logged < slice.traffic.to_backup + 100_000);
        }
    }

    #[test]
    fn lonely_players_see_nobody() {
        let world = |counter| {
            let rules: Arc<dyn Rules> = Arc::new(Hosted(counter));
            World::new(&rules, one_zone(counter_region(counter)), 256, count)
        };
        assert_eq!(world(Counter::LONELY).sees(15), 0.0);
        assert_eq!(world(Counter::CROWDED).sees(15).round(), 7.0);
    }
}

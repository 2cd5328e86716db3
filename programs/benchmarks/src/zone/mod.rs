//! The throughput of a zone in events: primary and backup together, with all messages encoded and decoded.
//!
//! Players send actions as fast as [`RATE`] and as they are answered; the clock of the world advances as if that
//! rate were kept, so that timers (beacons, views, snapshots) cost what they cost at that load. Only the work of hosts
//! is timed: decoding and handling messages, encoding answers. The work of players, and the cost of networks and
//! disks beyond handing the bytes over, is not.

mod counter;
mod pairs;
pub mod prepared_run;
mod rig;
mod zone_players;

use counter::{COLUMNS, Counter};
use cpu_time::ThreadTime;
use game::{Hosted, HostedGame};
use machine::Span;
use pairs::Pairs;
use rig::Rig;
use serde::Serialize;
use space::{ObjectId, Partition, Polygon, Position, ZoneId};
use std::sync::Arc;
use zone_players::ZonePlayers;

pub use zone_players::Act;

/// The result of `ecumene bench zone`.
#[derive(Clone, Debug, Serialize)]
pub struct ZoneReport {
    /// Name of the benchmark: always `zone`.
    pub bench: &'static str,
    /// One row per measured game.
    pub rows: Vec<ZoneRow>,
    /// Memory that a player takes, avatar included, in primary and backup together.
    pub bytes_per_player: f64,
    /// Memory of an object that one player sees, in primary and backup together.
    pub bytes_per_object: f64,
}

/// The measurement of one game.
#[derive(Clone, Debug, Serialize)]
pub struct ZoneRow {
    /// Name of the game and its setting.
    pub game: &'static str,
    /// Number of players in the game.
    pub players: usize,
    /// Mean number of others that each player sees.
    pub sees: f64,
    /// Records written in the measurement that counts.
    pub events: u64,
    /// The CPU time they took, of primary and backup.
    pub cpu_seconds: f64,
    /// Events per second of CPU time.
    pub events_per_cpu_second: f64,
    /// The backup's share of the CPU time, 0 to 1.
    pub backup_share: f64,
    /// Bytes of records to each disk, per event.
    pub bytes_logged_per_event: f64,
    /// Bytes of snapshots to each disk, per event.
    pub bytes_of_snapshots_per_event: f64,
    /// Bytes from the primary to the backup.
    pub bytes_to_backup_per_event: f64,
    /// Bytes to all players together.
    pub bytes_to_players_per_event: f64,
    /// Messages to all players together.
    pub messages_to_players_per_event: f64,
    /// Heap allocations of both hosts, per event.
    pub allocations_per_event: f64,
}

/// Number of players in a measurement.
const PLAYERS: usize = 256;
/// Actions per second of world time, all players together: the goal.
pub const RATE: usize = 100_000;
/// The quickest of so many measurements counts: a shared machine only ever adds to a time.
const MEASUREMENTS: u32 = 5;
/// Events before the first measurement: then tails are full, buffers have grown, a snapshot was written.
const WARM_EVENTS: u64 = 10_000;
/// Bytes, messages and allocations are those of so many events: a few snapshots are among it.
const COUNTED_EVENTS: u64 = 4 * zone::config::SNAPSHOT_EVERY;

/// A game to be measured.
#[derive(Clone, Copy)]
pub struct ZoneCase {
    /// Name of the row.
    pub name: &'static str,
    /// Makes the rules.
    pub rules: fn() -> Arc<dyn HostedGame>,
    /// Makes the map. Players enter where the game says.
    pub map: fn() -> Partition,
    /// Makes the actions, all of which must be done.
    pub act: Act,
    /// Units of a player's bucket that one action takes, at most.
    pub price: u64,
    /// View distance of the players, in metres.
    pub sees: u32,
}

/// Games of which each event concerns one zone: their cost is the cost of the platform.
pub const ONE_ZONE: [ZoneCase; 2] = [
    ZoneCase {
        name: "counter, alone",
        rules: || Arc::new(Hosted(Counter::LONELY)),
        map: || one_zone(counter_region(Counter::LONELY)),
        act: count,
        price: 1,
        sees: 15,
    },
    ZoneCase {
        name: "counter, crowded",
        rules: || Arc::new(Hosted(Counter::CROWDED)),
        map: || one_zone(counter_region(Counter::CROWDED)),
        act: count,
        price: 1,
        sees: 15,
    },
];

/// A game of which each event concerns two zones.
const TWO_ZONES: ZoneCase = ZoneCase {
    name: "pairs, two zones",
    rules: || Arc::new(Hosted(Pairs)),
    map: Pairs::map,
    act: give,
    price: 2 * zone::config::ZONE_PRICE,
    sees: 15,
};

/// The platform's cases, with those of a game among them.
fn cases(of_game: &[ZoneCase]) -> impl Iterator<Item = &ZoneCase> {
    ONE_ZONE.iter().chain(of_game).chain([&TWO_ZONES])
}

/// Number of steps that [`measure`] reports to `done`.
pub fn steps(of_game: &[ZoneCase]) -> u64 {
    cases(of_game).count() as u64 + 1
}

/// Measures the platform's cases and those of a game for `seconds` of CPU time each; `done` is called after each step.
pub fn measure(seconds: f64, of_game: &[ZoneCase], done: &dyn Fn()) -> ZoneReport {
    let rows = cases(of_game).map(|case| {
        let row = row(case, seconds / f64::from(MEASUREMENTS));
        done();
        row
    });
    let rows = rows.collect();
    let (bytes_per_player, bytes_per_object) = memory();
    done();
    ZoneReport { bench: "zone", rows, bytes_per_player, bytes_per_object }
}

/// The report as a table for a terminal.
pub fn table(report: &ZoneReport) -> String {
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

fn row(case: &ZoneCase, seconds: f64) -> ZoneRow {
    let mut world = MeasuredWorld::of(case, PLAYERS);
    world.run(|it| it.events < WARM_EVENTS);
    // Counted before it is timed, so that the counts do not depend on the number of timed events.
    let mut counted = MeasuredSlice::default();
    let taken = allocations::counted(|| counted = world.run(|it| it.events < COUNTED_EVENTS));
    let measured = (0..MEASUREMENTS).map(|_| world.run(|it| it.cpu_seconds < seconds));
    // The best one: other processes can only make a measurement slower.
    let best = measured.max_by(|a, b| a.rate().total_cmp(&b.rate())).expect("there is a measurement");
    assert_eq!(world.players.refused, 0, "every action can be done");
    let per_event = |it: u64| it as f64 / counted.events as f64;
    ZoneRow {
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
struct MeasuredWorld {
    rig: Rig,
    players: ZonePlayers,
    /// The most actions that a player sends without a rest.
    burst_max: u64,
}

/// A part of a measurement.
#[derive(Clone, Copy, Default)]
struct MeasuredSlice {
    events: u64,
    cpu_seconds: f64,
    backup_seconds: f64,
    traffic: rig::RigTraffic,
}

impl MeasuredSlice {
    fn rate(&self) -> f64 {
        self.events as f64 / self.cpu_seconds
    }
}

impl MeasuredWorld {
    fn of(case: &ZoneCase, players: usize) -> Self {
        let world = Self::new(&(case.rules)(), (case.map)(), players, case.act);
        Self { burst_max: zone::config::ACTION_BURST / case.price.max(1), ..world }
    }

    fn new(rules: &Arc<dyn HostedGame>, map: Partition, players: usize, act: Act) -> Self {
        let mut rig = Rig::new(rules, &Arc::new(map), players);
        let mut players = ZonePlayers::enter(&mut rig, players, act);
        if 1 < rig.zones() {
            players.only_on_one_side();
        }
        Self { rig, players, burst_max: zone::config::ACTION_BURST }
    }

    /// Runs on, one millisecond of world time after the other, and times the hosts.
    fn run(&mut self, goes_on: impl Fn(&MeasuredSlice) -> bool) -> MeasuredSlice {
        let (head, backup_time) = (self.rig.primary().head(), self.rig.backup_time);
        let answered = self.players.answered;
        self.rig.traffic = rig::RigTraffic::default();
        let mut slice = MeasuredSlice::default();
        while goes_on(&slice) {
            if self.players.burst < self.burst_max {
                self.players.write(RATE / 1_000);
            } else if self.players.are_answered() {
                self.rest();
            }
            let start = ThreadTime::now();
            self.players.send(&mut self.rig);
            self.rig.advance(Span::from_millis(1));
            slice.cpu_seconds += start.elapsed().as_secs_f64();
            self.players.read_answers(&mut self.rig);
            // An event of several zones is several records, so there the answers are counted.
            slice.events = match self.rig.zones() {
                1 => self.rig.primary().head() - head,
                _ => self.players.answered - answered,
            };
        }
        slice.backup_seconds = (self.rig.backup_time - backup_time).as_secs_f64();
        slice.traffic = self.rig.traffic;
        slice
    }

    /// Lets world time pass, neither timed nor counted, until the players' buckets are full again. At [`RATE`], players ask for more
    /// than a bucket pays for in the long run.
    fn rest(&mut self) {
        let (traffic, backup_time) = (self.rig.traffic, self.rig.backup_time);
        let full = zone::config::ACTION_EVERY.times(zone::config::ACTION_BURST);
        for _ in 0..full.as_micros().div_ceil(1_000) {
            self.rig.advance(Span::from_millis(1));
            self.players.read_answers(&mut self.rig);
        }
        (self.rig.traffic, self.rig.backup_time) = (traffic, backup_time);
        self.players.have_rested();
    }

    /// Mean number of other players that each one sees, by looking at every pair.
    fn sees(&self, metres: u32) -> f64 {
        let (state, now) = (self.rig.primary().state(), self.rig.now());
        let place = |it: &ObjectId| state.objects.get(*it).map(|it| it.motion.position_at(now));
        let places: Vec<Position> = state.avatars.keys().filter_map(place).collect();
        let range = space::Distance::of_metres(metres);
        let near = |it: &Position| places.iter().filter(|other| it.is_within(range, **other)).count() - 1;
        places.iter().map(near).sum::<usize>() as f64 / places.len() as f64
    }
}

/// Bytes per player and per object: the difference between worlds with more and with fewer of them. The logs are
/// equally long in all of them.
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
        let rules: Arc<dyn HostedGame> = Arc::new(Hosted(counter));
        let mut it = MeasuredWorld::new(&rules, one_zone(counter_region(counter)), players, count);
        it.run(|it| it.events < WARM_EVENTS);
        it.rig.shrink();
        it.players.shrink();
        world = Some(it);
    });
    let players = world.as_ref().map_or(0, |it| it.players.bytes_held());
    counted.bytes_held - players as i64
}

fn count(_: ObjectId, _: ObjectId, number: u64) -> Vec<u8> {
    encoded(&(number as u32))
}

fn give(_: ObjectId, other: ObjectId, _: u64) -> Vec<u8> {
    encoded(&other)
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

fn square(low: i64, high: i64) -> Polygon {
    let corner = |at| Position::saturating(at, at);
    Polygon::rectangle(corner(low), corner(high)).expect("a square is convex")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kosmos_scenario::bargain;

    const BARGAIN: ZoneCase = ZoneCase {
        name: "kosmos",
        rules: bargain::rules,
        map: bargain::map,
        act: bargain::action,
        price: bargain::PRICE,
        sees: bargain::SEES,
    };

    /// Counts that do not depend on the platform: every action is done once, and the bytes are plausible.
    #[test]
    fn every_action_becomes_one_event() {
        for case in cases(&[BARGAIN]) {
            let mut world = MeasuredWorld::of(case, 20);
            let before = world.players.answered;
            let slice = world.run(|it| it.events < 2_000);
            let answered = world.players.answered - before;
            assert_eq!(world.players.refused, 0, "{}", case.name);
            assert!(slice.events - answered < 200, "{}: {answered} of {}", case.name, slice.events);
            assert!(0 < slice.traffic.logged && slice.traffic.logged < slice.traffic.to_backup + 100_000);
        }
    }

    #[test]
    fn lonely_players_see_no_others() {
        let world = |counter| {
            let rules: Arc<dyn HostedGame> = Arc::new(Hosted(counter));
            MeasuredWorld::new(&rules, one_zone(counter_region(counter)), 256, count)
        };
        assert_eq!(world(Counter::LONELY).sees(15), 0.0);
        assert_eq!(world(Counter::CROWDED).sees(15).round(), 7.0);
    }
}

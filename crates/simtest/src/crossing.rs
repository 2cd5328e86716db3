//! The price of borders: how long an object has no owner that acts for it while it changes zones, and how much longer
//! an event takes when it reaches into others. Worlds without faults, hosts ten milliseconds apart; the times are read
//! from what zones wrote and announced, and all checkers watch.

use crate::fault::FaultKinds;
use crate::history_checker::Ending;
use crate::run_options::RunOptions;
use crate::scenario::Scenario;
use crate::simulated_world::SimulatedWorld;
use crate::violation::Violation;
use game::PlayerId;
use machine::{Span, Time};
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{BrokenRules, Cause, Change, Durability, EventId, PostItem, Record};

/// Delay between two hosts, one way.
pub const HOST_DELAY: Span = Span::from_millis(10);

const PLAYER_DELAY: Span = Span::from_millis(20);
const PLAYERS: u32 = 32;
const ZONES: u32 = 4;
const LASTS: Time = Time::from_millis(40_000);

/// Number of zones of an event or a transfer, and whether it met other locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CrossingKind {
    /// Number of zones that took part.
    pub zones: usize,
    /// True if it had to try again, because of locks.
    pub contended: bool,
}

/// Times measured in one world.
#[derive(Clone, Debug, Default)]
pub struct CrossingSample {
    /// From the record that offers an object to the announcement of its new owner.
    pub transfers: Vec<(CrossingKind, Span)>,
    /// From an action to its answer, without the delay between player and zone.
    pub events: Vec<(CrossingKind, Span)>,
    /// Violations that the checkers found.
    pub violations: Vec<Violation>,
}

/// Measures the world of one seed.
pub fn sample(scenario: impl Scenario, seed: u64) -> CrossingSample {
    let mut world = SimulatedWorld::new(scenario, options(seed));
    world.run_until(LASTS);
    if !world.monitor.is_violated() {
        world.conclude(Ending::Stopped);
    }
    let times = CrossingRecords::of(&world);
    let transfers = times.transfers().into_iter().map(|(_, kind, took)| (kind, took)).collect();
    let events = times.events(&world);
    CrossingSample { transfers, events, violations: world.monitor.checker.violations.into_vec() }
}

fn options(seed: u64) -> RunOptions {
    RunOptions {
        seed,
        zones: ZONES,
        players: PLAYERS,
        fault_period: Span::from_millis(10_000),
        recovery_period: Span::from_millis(10_000),
        kinds: FaultKinds::NONE,
        durability: Durability::Batched,
        host_delay: HOST_DELAY,
        player_delay: PLAYER_DELAY,
        budget: None,
        faults: 0,
        broken_rules: BrokenRules::NONE,
    }
}

/// Players' actions and objects' transfers in a world, from the records of its zones.
pub struct CrossingReport {
    /// Kind of each action, by player and number.
    pub acts: BTreeMap<(PlayerId, u64), CrossingKind>,
    /// Transfers: time of the first offer, kind, and time until the new owner announced.
    pub transfers: Vec<(Time, CrossingKind, Span)>,
}

impl CrossingReport {
    /// Reads the records of a world.
    pub fn of(world: &SimulatedWorld) -> Self {
        let times = CrossingRecords::of(world);
        let acts = times.acts.keys().filter_map(|&it| Some((it, times.kind(it)?))).collect();
        Self { acts, transfers: times.transfers() }
    }
}

/// Times of offers, arrivals and actions, from the records of all zones.
#[derive(Default)]
struct CrossingRecords {
    /// Time of the first offer of an incarnation of an object, and number of offers.
    offers: BTreeMap<(ObjectId, u32), (Time, u32)>,
    /// Time at which the new owner announced the object.
    arrivals: BTreeMap<(ObjectId, u32), Time>,
    /// Number of zones in which a player's action took place, and its event if there were several.
    acts: BTreeMap<(PlayerId, u64), (usize, Option<EventId>)>,
    /// Number of the last attempt of an event that got locks.
    attempts: BTreeMap<EventId, u32>,
}

impl CrossingRecords {
    fn of(world: &SimulatedWorld) -> Self {
        let mut times = Self::default();
        for zone in world.layout().zones() {
            let tracker = world.monitor.checker.tracker(zone);
            for logged in tracker.records.values() {
                let Some(record) = Record::from_bytes(&logged.bytes) else { continue };
                let announced = tracker.announced.get(&record.index).map(|it| it.time);
                times.take_record(zone, logged.at, announced, &record);
            }
        }
        times
    }

    fn take_record(&mut self, zone: ZoneId, at: Time, announced: Option<Time>, record: &Record) {
        let mut others: Vec<(ZoneId, EventId)> = Vec::new();
        for change in &record.changes {
            match change {
                Change::Posted { item: PostItem::Offer(it), .. } => {
                    let offer = (it.snapshot.object, it.snapshot.incarnation);
                    self.offers.entry(offer).or_insert((at, 0)).1 += 1;
                }
                Change::Posted { to, item: PostItem::Decided(whole), .. } => others.push((*to, whole.event)),
                Change::Put { object, incarnation, .. }
                    if matches!(record.cause, Cause::Transfer(_)) && announced.is_some() =>
                {
                    self.arrivals.extend(announced.map(|it| ((*object, incarnation - 1), it)));
                }
                Change::Granted { event, attempt, .. } => {
                    let last = self.attempts.entry(*event).or_default();
                    *last = (*last).max(*attempt);
                }
                _ => (),
            }
        }
        if let Cause::Act(player, number) = record.cause {
            // The coordinator counts once, below.
            others.retain(|it| it.0 != zone);
            self.acts.insert((player, number), (others.len() + 1, others.first().map(|it| it.1)));
        }
    }

    /// Kind of a player's action; `None` if no zone wrote it.
    fn kind(&self, act: (PlayerId, u64)) -> Option<CrossingKind> {
        let (zones, event) = *self.acts.get(&act)?;
        let attempts = event.and_then(|it| self.attempts.get(&it)).copied().unwrap_or(1);
        Some(CrossingKind { zones, contended: 1 < attempts })
    }

    fn transfers(&self) -> Vec<(Time, CrossingKind, Span)> {
        let taken = |(offer, &(since, times)): (&(ObjectId, u32), &(Time, u32))| {
            let arrived = self.arrivals.get(offer)?;
            Some((since, CrossingKind { zones: 2, contended: 1 < times }, arrived.since(since)))
        };
        self.offers.iter().filter_map(taken).collect()
    }

    fn events(&self, world: &SimulatedWorld) -> Vec<(CrossingKind, Span)> {
        let sent: BTreeMap<_, _> =
            world.monitor.asked.iter().map(|&(at, player, number)| ((player, number), at)).collect();
        // Both ways between player and zone; jitter may make the whole time shorter than that.
        let round_trip = PLAYER_DELAY + PLAYER_DELAY;
        let answered = |&(at, player, number): &(Time, PlayerId, u64)| {
            let kind = self.kind((player, number))?;
            let took = at.since(*sent.get(&(player, number))?);
            let took = Span::from_micros(took.as_micros().saturating_sub(round_trip.as_micros()));
            Some((kind, took))
        };
        world.monitor.answers.iter().filter_map(answered).collect()
    }
}

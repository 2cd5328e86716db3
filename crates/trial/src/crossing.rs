//! What borders cost: how long an object has no owner that acts for it while it changes zones, and how much longer an
//! event takes when it reaches into other zones. Worlds without trouble, hosts ten milliseconds apart; the times are read
//! from what zones wrote and announced, and all checkers watch.

use crate::fault::Kinds;
use crate::judge::Ending;
use crate::options::Options;
use crate::scenario::Scenario;
use crate::violation::Violation;
use crate::world::World;
use game::PlayerId;
use machine::{Span, Time};
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{BrokenRules, Cause, Change, Durability, EventId, Item, Record};

/// Between two hosts, one way.
pub const HOST_DELAY: Span = Span::from_millis(10);

const PLAYER_DELAY: Span = Span::from_millis(20);
const PLAYERS: u32 = 32;
const ZONES: u32 = 4;
const LASTS: Time = Time::from_millis(40_000);

/// How an event or a passage went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// How many zones took part.
    pub zones: usize,
    /// Whether it had to try again, because of locks.
    pub contended: bool,
}

/// What was measured in one world.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// From the record that offers an object to the moment at which its new owner may tell that it has it.
    pub passages: Vec<(Kind, Span)>,
    /// From an action to its answer, without the way between player and zone.
    pub events: Vec<(Kind, Span)>,
    /// What the checkers found.
    pub violations: Vec<Violation>,
}

/// Measures one world.
pub fn sample(scenario: impl Scenario, seed: u64) -> Sample {
    let mut world = World::new(scenario, options(seed));
    world.run_until(LASTS);
    if !world.monitor.is_violated() {
        world.conclude(Ending::Stopped);
    }
    let story = Story::of(&world);
    let passages = story.passages().into_iter().map(|(_, kind, took)| (kind, took)).collect();
    let events = story.events(&world);
    Sample { passages, events, violations: world.monitor.judge.violations.into_vec() }
}

fn options(seed: u64) -> Options {
    Options {
        seed,
        zones: ZONES,
        players: PLAYERS,
        trouble: Span::from_millis(10_000),
        calm: Span::from_millis(10_000),
        kinds: Kinds::NONE,
        durability: Durability::Batched,
        host_delay: HOST_DELAY,
        player_delay: PLAYER_DELAY,
        budget: None,
        faults: 0,
        plants: BrokenRules::NONE,
    }
}

/// How players' actions and objects' passages went in a world, from what its zones wrote.
pub struct Crossed {
    /// What became of a player's action.
    pub acts: BTreeMap<(PlayerId, u64), Kind>,
    /// When an object was first offered, and how long it then took.
    pub passages: Vec<(Time, Kind, Span)>,
}

impl Crossed {
    /// Reads the records of a world.
    pub fn of(world: &World) -> Self {
        let story = Story::of(world);
        let acts = story.acts.keys().filter_map(|&it| Some((it, story.kind(it)?))).collect();
        Self { acts, passages: story.passages() }
    }
}

/// What happened between zones, from their records.
#[derive(Default)]
struct Story {
    /// When an incarnation of an object was first offered, and how often.
    offers: BTreeMap<(ObjectId, u32), (Time, u32)>,
    /// When its new owner could tell that it has it.
    arrivals: BTreeMap<(ObjectId, u32), Time>,
    /// In how many zones a player's action took place, and as which event.
    acts: BTreeMap<(PlayerId, u64), (usize, Option<EventId>)>,
    /// The last attempt of an event that got locks.
    attempts: BTreeMap<EventId, u32>,
}

impl Story {
    fn of(world: &World) -> Self {
        let mut story = Self::default();
        for zone in world.layout().zones() {
            let ledger = world.monitor.judge.ledger(zone);
            for logged in ledger.records.values() {
                let Some(record) = Record::from_bytes(&logged.bytes) else { continue };
                let told = ledger.announced.get(&record.index).map(|it| it.time);
                story.hear(zone, logged.at, told, &record);
            }
        }
        story
    }

    fn hear(&mut self, zone: ZoneId, at: Time, told: Option<Time>, record: &Record) {
        let mut others: Vec<(ZoneId, EventId)> = Vec::new();
        for change in &record.changes {
            match change {
                Change::Posted { item: Item::Offer(it), .. } => {
                    let offer = (it.known.object, it.known.incarnation);
                    self.offers.entry(offer).or_insert((at, 0)).1 += 1;
                }
                Change::Posted { to, item: Item::Decided(whole), .. } => others.push((*to, whole.event)),
                Change::Put { object, incarnation, .. }
                    if matches!(record.cause, Cause::Transfer(_)) && told.is_some() =>
                {
                    self.arrivals.extend(told.map(|it| ((*object, incarnation - 1), it)));
                }
                Change::Granted { event, attempt, .. } => {
                    let last = self.attempts.entry(*event).or_default();
                    *last = (*last).max(*attempt);
                }
                _ => (),
            }
        }
        if let Cause::Act(player, number) = record.cause {
            others.retain(|it| it.0 != zone);
            self.acts.insert((player, number), (others.len() + 1, others.first().map(|it| it.1)));
        }
    }

    /// How a player's action went.
    fn kind(&self, act: (PlayerId, u64)) -> Option<Kind> {
        let (zones, event) = *self.acts.get(&act)?;
        let attempts = event.and_then(|it| self.attempts.get(&it)).copied().unwrap_or(1);
        Some(Kind { zones, contended: 1 < attempts })
    }

    fn passages(&self) -> Vec<(Time, Kind, Span)> {
        let taken = |(offer, &(since, times)): (&(ObjectId, u32), &(Time, u32))| {
            let arrived = self.arrivals.get(offer)?;
            Some((since, Kind { zones: 2, contended: 1 < times }, arrived.since(since)))
        };
        self.offers.iter().filter_map(taken).collect()
    }

    fn events(&self, world: &World) -> Vec<(Kind, Span)> {
        let asked: BTreeMap<_, _> =
            world.monitor.asked.iter().map(|&(at, player, number)| ((player, number), at)).collect();
        let way = PLAYER_DELAY + PLAYER_DELAY;
        let answered = |&(at, player, number): &(Time, PlayerId, u64)| {
            let kind = self.kind((player, number))?;
            let took = at.since(*asked.get(&(player, number))?);
            let took = Span::from_micros(took.as_micros().saturating_sub(way.as_micros()));
            Some((kind, took))
        };
        world.monitor.answers.iter().filter_map(answered).collect()
    }
}

//! One run: a world, its clients, and what is measured while they play.

use super::clients::{Clients, Habit, Lines};
use super::ground::{Ground, Place};
use game::PlayerId;
use machine::{Address, Span, Time};
use serde::Serialize;
use space::ZoneId;
use std::collections::BTreeMap;
use std::sync::Arc;
use trial::crossing::{Crossed, Kind};
use trial::fault::Kinds;
use trial::{Ending, Layout, Options, World};
use zone::{BrokenRules, Durability};

/// A zone's primary and its backup.
const REPLICAS: usize = 2;

/// Everybody is in by then, or the run is of no use.
const IN_BY: Time = Time::from_millis(30_000);

/// Before anything is counted, the servers bear their load for this long.
const SETTLE: Span = Span::from_millis(5_000);

/// How long the events that were asked for may take.
const PATIENCE: Span = Span::from_secs(300);

/// How often places are looked at.
const LOOK_EVERY: Span = Span::from_millis(1_000);

/// When a run is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After so many events, or when patience ends.
    Events(u64),
    /// After so long.
    Elapsed(Span),
}

/// What a run is like.
#[derive(Clone, Debug)]
pub struct Case {
    /// The world.
    pub ground: Arc<Ground>,
    /// Where clients live: kinds of places, in turn.
    pub homes: Vec<Place>,
    /// What they do, and over which lines.
    pub habit: (Habit, Lines),
    /// What a message takes of a server's time, in or out.
    pub service: Span,
    /// Between the servers of two zones, one way.
    pub between: Span,
    /// When it is over.
    pub until: Until,
    /// Where chance starts.
    pub seed: u64,
}

/// What was measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measured {
    /// Servers with a zone each; every one has a backup beside it.
    pub servers: u32,
    /// How many played.
    pub clients: u32,
    /// How much of their time they were where they see over a border, in per cent.
    pub near_border_percent: f64,
    /// Seconds until 1000, 2000, … events were answered; as many as there were.
    pub seconds: Vec<f64>,
    /// Events per second.
    pub events_per_second: f64,
    /// From wish to answer, without the client's line, in milliseconds.
    pub event_ms: Times,
    /// Those of one zone.
    pub local_ms: Times,
    /// Those of several zones.
    pub joint_ms: Times,
    /// How long an object that changes zones has no owner who acts for it.
    pub transfer_ms: Times,
    /// How busy the busiest server was, in per cent.
    pub busiest_percent: f64,
    /// Events in which several zones took part, also those nobody asked for, per second.
    pub cross_zone_per_second: f64,
    /// Objects that changed their owner, per second.
    pub transfers_per_second: f64,
    /// Messages per client and second.
    pub messages: Messages,
    /// Inputs taken and messages sent by servers and backups, per client and second.
    pub work: f64,
    /// Objects of others that a zone knew at the end, on average and at most.
    pub ghosts: (f64, usize),
    /// Backups that took over.
    pub failovers: u64,
    /// What the checkers found.
    pub violations: Vec<String>,
}

/// Times in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// How many were measured.
    pub samples: usize,
    /// Their mean.
    pub mean: f64,
    /// Half took less.
    pub p50: f64,
    /// One in a hundred took longer.
    pub p99: f64,
}

/// Messages per client and second.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Messages {
    /// From servers to clients.
    pub down: f64,
    /// From clients to servers.
    pub up: f64,
    /// Between the servers of different zones.
    pub between_zones: f64,
    /// Between a server and its backup.
    pub backup: f64,
}

impl Messages {
    /// All of them.
    pub fn all(&self) -> f64 {
        self.down + self.up + self.between_zones + self.backup
    }
}

/// Runs a case.
pub fn run(case: &Case) -> Measured {
    Run::new(case).measure()
}

/// A run under way.
pub(super) struct Run<'a> {
    case: &'a Case,
    clients: Arc<Clients>,
    pub(super) world: World,
    looks: (u64, u64),
}

/// Counts at one moment.
struct Mark {
    time: Time,
    answers: usize,
    sent: BTreeMap<Way, u64>,
    work: BTreeMap<Address, u64>,
    cross_zone: u64,
    transfers: u64,
}

/// A kind of connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Down,
    Up,
    BetweenZones,
    Backup,
}

impl<'a> Run<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        let Case { ground, homes, habit, between, seed, .. } = case;
        let clients = Arc::new(Clients::new(ground, homes.iter().copied(), *habit, *between, *seed));
        let options = Options {
            seed: *seed,
            zones: ground.zones(),
            players: clients.count(),
            trouble: Span::ZERO,
            calm: Span::ZERO,
            kinds: Kinds::NONE,
            durability: Durability::Batched,
            host_delay: *between,
            player_delay: Span::ZERO,
            budget: None,
            faults: 0,
            plants: BrokenRules::NONE,
        };
        let layout = Layout::new(ground.map.clone(), REPLICAS);
        let world = World::of(Arc::clone(&clients), options, layout);
        Self { case, clients, world, looks: (0, 0) }
    }

    fn measure(mut self) -> Measured {
        self.let_all_in();
        let start = self.mark();
        match self.case.until {
            Until::Elapsed(span) => self.go_on(start.time + span, usize::MAX),
            Until::Events(count) => self.go_on(start.time + PATIENCE, start.answers + count as usize),
        }
        self.finish(&start)
    }

    /// Lets everybody in, then makes messages take time, and waits until that has settled.
    pub(super) fn let_all_in(&mut self) {
        let mut now = Time::ZERO;
        while now < IN_BY && !(Time::from_millis(5_000) <= now && self.all_are_in()) {
            now += LOOK_EVERY;
            self.world.run_until(now);
        }
        for replica in self.world.layout().replicas() {
            self.world.sim.burden(replica, self.case.service);
        }
        self.world.run_until(now + SETTLE);
    }

    fn all_are_in(&self) -> bool {
        self.world.players().all(|it| it.1.is_in())
    }

    /// Goes on until a time, or until so many events were answered.
    fn go_on(&mut self, until: Time, answers: usize) {
        while self.world.now() < until && self.world.monitor.answers.len() < answers {
            let next = self.world.now() + LOOK_EVERY;
            self.world.run_until(next.min(until));
            self.look();
            if self.world.monitor.is_violated() {
                return;
            }
        }
    }

    /// Looks where everybody is.
    pub(super) fn look(&mut self) {
        let now = self.world.now();
        for (_, player) in self.world.players() {
            let Some(sight) = player.sight(now) else { continue };
            let Some(mine) = sight.objects.get(&sight.me) else { continue };
            let near = self.case.ground.is_near_border(mine.motion.position_at(sight.now));
            self.looks = (self.looks.0 + u64::from(near), self.looks.1 + 1);
        }
    }

    fn mark(&self) -> Mark {
        let crossings = self.world.monitor.judge.crossings();
        let replicas = || self.world.layout().replicas();
        Mark {
            time: self.world.now(),
            answers: self.world.monitor.answers.len(),
            sent: self.sent(),
            work: replicas().map(|it| (it, self.world.sim.work(it))).collect(),
            cross_zone: crossings.cross_zone_events,
            transfers: crossings.transfers,
        }
    }

    fn sent(&self) -> BTreeMap<Way, u64> {
        let (layout, sim) = (&self.world.layout(), &self.world.sim);
        let mut sent = BTreeMap::new();
        let mut count = |from, to, way| {
            let messages = sim.counters(from, to).map_or(0, |it| it.sent.messages);
            *sent.entry(way).or_default() += messages;
        };
        let players = self.world.player_addresses();
        for from in layout.replicas() {
            for to in layout.replicas().filter(|&it| it != from) {
                let same = layout.zone_of(from) == layout.zone_of(to);
                count(from, to, if same { Way::Backup } else { Way::BetweenZones });
            }
            for &player in &players {
                count(from, player, Way::Down);
                count(player, from, Way::Up);
            }
        }
        sent
    }

    fn finish(mut self, start: &Mark) -> Measured {
        let end = self.mark();
        let took = end.time.since(start.time).as_secs_f64();
        let clients = self.clients.count();
        let each = |more: u64| more as f64 / took / f64::from(clients);
        let way = |it| each(end.sent.get(&it).unwrap_or(&0) - start.sent.get(&it).unwrap_or(&0));
        let work: Vec<u64> = end.work.iter().map(|(it, after)| after - start.work[it]).collect();
        let busy = |units: u64| self.case.service.as_secs_f64() * units as f64 / took;
        let ghosts: Vec<usize> = self.zones().map(|it| self.ghosts(it)).collect();
        if !self.world.monitor.is_violated() {
            self.world.conclude(Ending::Stopped);
        }
        let seconds = self.seconds(start);
        let [event_ms, local_ms, joint_ms, transfer_ms] = self.times(start);
        Measured {
            servers: self.case.ground.zones(),
            clients,
            near_border_percent: 100.0 * self.looks.0 as f64 / self.looks.1.max(1) as f64,
            seconds,
            events_per_second: (end.answers - start.answers) as f64 / took,
            event_ms,
            local_ms,
            joint_ms,
            transfer_ms,
            busiest_percent: 100.0 * work.iter().copied().map(busy).fold(0.0, f64::max),
            cross_zone_per_second: (end.cross_zone - start.cross_zone) as f64 / took,
            transfers_per_second: (end.transfers - start.transfers) as f64 / took,
            messages: Messages {
                down: way(Way::Down),
                up: way(Way::Up),
                between_zones: way(Way::BetweenZones),
                backup: way(Way::Backup),
            },
            work: each(work.iter().sum()),
            ghosts: (
                ghosts.iter().sum::<usize>() as f64 / ghosts.len() as f64,
                ghosts.iter().copied().max().unwrap_or(0),
            ),
            failovers: self.world.monitor.judge.tally.failovers,
            violations: self.world.monitor.judge.violations.all().iter().map(ToString::to_string).collect(),
        }
    }

    fn zones(&self) -> impl Iterator<Item = ZoneId> + use<> {
        self.world.layout().zones()
    }

    fn ghosts(&self, zone: ZoneId) -> usize {
        self.world.primary(zone).map_or(0, |it| it.1.ghosts().len())
    }

    /// When each thousandth event was answered.
    fn seconds(&self, start: &Mark) -> Vec<f64> {
        let counted = &self.world.monitor.answers[start.answers..];
        let thousands = counted.iter().skip(999).step_by(1_000);
        thousands.map(|it| it.0.since(start.time).as_secs_f64()).collect()
    }

    /// How long events took: all, those of one zone, those of several; and passages.
    fn times(&self, start: &Mark) -> [Times; 4] {
        let asked: BTreeMap<(PlayerId, u64), Time> =
            self.world.monitor.asked.iter().map(|&(at, player, number)| ((player, number), at)).collect();
        let crossed = Crossed::of(&self.world);
        let is_joint = |act| crossed.acts.get(&act).is_some_and(|it: &Kind| 1 < it.zones);
        let (mut local, mut joined) = (Vec::new(), Vec::new());
        for &(at, player, number) in &self.world.monitor.answers[start.answers..] {
            let Some(&since) = asked.get(&(player, number)) else { continue };
            let way = 2 * self.clients.delay(player).as_micros();
            let took = at.since(since).as_micros().saturating_sub(way) as f64 / 1e3;
            if is_joint((player, number)) { joined.push(took) } else { local.push(took) }
        }
        let all = local.iter().chain(&joined).copied().collect();
        let passages = crossed.passages.iter().filter(|it| start.time <= it.0);
        let passages = passages.map(|it| it.2.as_micros() as f64 / 1e3).collect();
        [all, local, joined, passages].map(times)
    }
}

fn times(mut took: Vec<f64>) -> Times {
    if took.is_empty() {
        return Times::default();
    }
    took.sort_by(f64::total_cmp);
    let at = |part: f64| took[((took.len() - 1) as f64 * part).round() as usize];
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    Times { samples: took.len(), mean, p50: at(0.5), p99: at(0.99) }
}

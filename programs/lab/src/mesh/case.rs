//! One run: a world, its clients, and the measurements while they play.

use super::clients::{Habit, LineKind, MeshClients};
use super::ground::{HomeKind, MeshGround};
use game::PlayerId;
use machine::{Address, Span, Time};
use serde::Serialize;
use simtest::crossing::CrossingReport;
use simtest::fault::FaultKinds;
use simtest::{Ending, Layout, RunOptions, SimulatedWorld};
use space::ZoneId;
use std::collections::BTreeMap;
use std::sync::Arc;
use zone::{BrokenRules, Durability};

/// Replicas per zone: a primary and its backup.
const REPLICAS: usize = 2;

/// Time by which all clients must have entered; then the measurement begins anyway.
const ENTERED_BY: Time = Time::from_millis(30_000);

/// Time for which servers carry their load before anything is counted.
const SETTLE: Span = Span::from_millis(5_000);

/// Time within which the events that were asked for must be answered.
const EVENTS_WITHIN: Span = Span::from_secs(300);

/// Time between two looks at the positions of clients.
const LOOK_EVERY: Span = Span::from_millis(1_000);

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshRunEnd {
    /// After so many answered events, or after [`EVENTS_WITHIN`].
    Events(u64),
    /// After this much simulated time.
    Elapsed(Span),
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct MeshCase {
    /// The world and its zones.
    pub ground: Arc<MeshGround>,
    /// Kind of home of each client.
    pub homes: Vec<HomeKind>,
    /// Behaviour of the clients, and the kind of their lines.
    pub habit: (Habit, LineKind),
    /// Time that a message takes of a server's processor, in or out.
    pub service: Span,
    /// Delay between the servers of two zones, one way.
    pub between: Span,
    /// Condition that ends the run.
    pub until: MeshRunEnd,
    /// Random seed of the run.
    pub seed: u64,
}

/// The measurements of a run; their fields are part of the JSON.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MeshMeasurement {
    /// Number of servers, each with one zone and a backup beside it.
    pub servers: u32,
    /// Number of clients that played.
    pub clients: u32,
    /// Share of their time that clients were where they see over a border, in per cent.
    pub near_border_percent: f64,
    /// Seconds until 1000, 2000, … events were answered, as far as they were.
    pub seconds: Vec<f64>,
    /// Actions that were answered per second.
    pub events_per_second: f64,
    /// Time from action to answer, without the client's line.
    pub event_ms: TimeStatistics,
    /// The same for events of one zone.
    pub local_ms: TimeStatistics,
    /// The same for events of several zones.
    pub joint_ms: TimeStatistics,
    /// Time for which no zone acts for an object during its transfer.
    pub transfer_ms: TimeStatistics,
    /// Load of the busiest server, in per cent.
    pub busiest_percent: f64,
    /// Events in which several zones took part, per second, also those without an action.
    pub cross_zone_per_second: f64,
    /// Transfers of objects, per second.
    pub transfers_per_second: f64,
    /// Messages per client and second, by connection.
    pub messages: MessageRates,
    /// Inputs taken and messages sent by servers and backups, per client and second.
    pub work: f64,
    /// Ghosts of a zone at the end of the run, mean and most.
    pub ghosts: (f64, usize),
    /// Number of failovers in the run.
    pub failovers: u64,
    /// Violations that the checkers found, in words.
    pub violations: Vec<String>,
}

/// Statistics of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TimeStatistics {
    /// Number of times that were measured.
    pub samples: usize,
    /// Mean of the times, in milliseconds.
    pub mean: f64,
    /// Median: half of them took less.
    pub p50: f64,
    /// 99th percentile: one in a hundred took longer.
    pub p99: f64,
}

/// Messages per client and second, by connection.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct MessageRates {
    /// Messages from servers to clients.
    pub down: f64,
    /// Messages from clients to servers.
    pub up: f64,
    /// Messages between the servers of different zones.
    pub between_zones: f64,
    /// Messages between a server and its backup.
    pub backup: f64,
}

impl MessageRates {
    /// The sum over all connections.
    pub fn all(&self) -> f64 {
        self.down + self.up + self.between_zones + self.backup
    }
}

/// Runs a case and measures it.
pub fn run(case: &MeshCase) -> MeshMeasurement {
    MeshRun::new(case).measure()
}

/// A run that is under way.
pub(super) struct MeshRun<'a> {
    case: &'a MeshCase,
    clients: Arc<MeshClients>,
    pub(super) world: SimulatedWorld,
    looks: (u64, u64),
}

/// All counts of a run at one moment; measurements are differences of two.
struct MeshCounts {
    time: Time,
    answers: usize,
    sent: BTreeMap<ConnectionKind, u64>,
    work: BTreeMap<Address, u64>,
    cross_zone: u64,
    transfers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ConnectionKind {
    Down,
    Up,
    BetweenZones,
    Backup,
}

impl<'a> MeshRun<'a> {
    pub(super) fn new(case: &'a MeshCase) -> Self {
        let MeshCase { ground, homes, habit, between, seed, .. } = case;
        let clients = Arc::new(MeshClients::new(ground, homes.iter().copied(), *habit, *between, *seed));
        let options = RunOptions {
            seed: *seed,
            zones: ground.zones(),
            players: clients.count(),
            // No faults: the load is what is measured.
            fault_period: Span::ZERO,
            recovery_period: Span::ZERO,
            kinds: FaultKinds::NONE,
            durability: Durability::Batched,
            host_delay: *between,
            player_delay: Span::ZERO,
            budget: None,
            faults: 0,
            broken_rules: BrokenRules::NONE,
        };
        let layout = Layout::new(ground.map.clone(), REPLICAS);
        let world = SimulatedWorld::of(Arc::clone(&clients), options, layout);
        Self { case, clients, world, looks: (0, 0) }
    }

    fn measure(mut self) -> MeshMeasurement {
        self.admit_all();
        let start = self.mark();
        match self.case.until {
            MeshRunEnd::Elapsed(span) => self.run_until(start.time + span, usize::MAX),
            MeshRunEnd::Events(count) => {
                self.run_until(start.time + EVENTS_WITHIN, start.answers + count as usize)
            }
        }
        self.finish(&start)
    }

    /// Waits until all clients have entered, then makes messages take time, and waits until that has settled.
    pub(super) fn admit_all(&mut self) {
        let mut now = Time::ZERO;
        while now < ENTERED_BY && !(Time::from_millis(5_000) <= now && self.all_have_entered()) {
            now += LOOK_EVERY;
            self.world.run_until(now);
        }
        // Only from now on do messages take time: entering is not part of what is measured.
        for replica in self.world.layout().replicas() {
            self.world.sim.burden(replica, self.case.service);
        }
        self.world.run_until(now + SETTLE);
    }

    fn all_have_entered(&self) -> bool {
        self.world.players().all(|it| it.1.is_in())
    }

    /// Runs the world until a time, or until so many events were answered.
    fn run_until(&mut self, until: Time, answers: usize) {
        while self.world.now() < until && self.world.monitor.answers.len() < answers {
            let next = self.world.now() + LOOK_EVERY;
            self.world.run_until(next.min(until));
            self.look();
            if self.world.monitor.is_violated() {
                return;
            }
        }
    }

    /// Counts the clients near borders.
    pub(super) fn look(&mut self) {
        let now = self.world.now();
        for (_, player) in self.world.players() {
            let Some(sight) = player.sight(now) else { continue };
            let Some(mine) = sight.objects.get(&sight.me) else { continue };
            let near = self.case.ground.is_near_border(mine.motion.position_at(sight.now));
            self.looks = (self.looks.0 + u64::from(near), self.looks.1 + 1);
        }
    }

    fn mark(&self) -> MeshCounts {
        let crossings = self.world.monitor.checker.crossings();
        let replicas = || self.world.layout().replicas();
        MeshCounts {
            time: self.world.now(),
            answers: self.world.monitor.answers.len(),
            sent: self.sent(),
            work: replicas().map(|it| (it, self.world.sim.work(it))).collect(),
            cross_zone: crossings.cross_zone_events,
            transfers: crossings.transfers,
        }
    }

    fn sent(&self) -> BTreeMap<ConnectionKind, u64> {
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
                count(from, to, if same { ConnectionKind::Backup } else { ConnectionKind::BetweenZones });
            }
            for &player in &players {
                count(from, player, ConnectionKind::Down);
                count(player, from, ConnectionKind::Up);
            }
        }
        sent
    }

    fn finish(mut self, start: &MeshCounts) -> MeshMeasurement {
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
        MeshMeasurement {
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
            messages: MessageRates {
                down: way(ConnectionKind::Down),
                up: way(ConnectionKind::Up),
                between_zones: way(ConnectionKind::BetweenZones),
                backup: way(ConnectionKind::Backup),
            },
            work: each(work.iter().sum()),
            ghosts: (
                ghosts.iter().sum::<usize>() as f64 / ghosts.len() as f64,
                ghosts.iter().copied().max().unwrap_or(0),
            ),
            failovers: self.world.monitor.checker.counts.failovers,
            violations: self.world.monitor.checker.violations.all().iter().map(ToString::to_string).collect(),
        }
    }

    fn zones(&self) -> impl Iterator<Item = ZoneId> + use<> {
        self.world.layout().zones()
    }

    fn ghosts(&self, zone: ZoneId) -> usize {
        self.world.primary(zone).map_or(0, |it| it.1.ghosts().len())
    }

    /// Seconds until each thousandth event was answered.
    fn seconds(&self, start: &MeshCounts) -> Vec<f64> {
        let counted = &self.world.monitor.answers[start.answers..];
        let thousands = counted.iter().skip(999).step_by(1_000);
        thousands.map(|it| it.0.since(start.time).as_secs_f64()).collect()
    }

    /// Times of all events, of those of one zone, of those of several zones, and of transfers.
    fn times(&self, start: &MeshCounts) -> [TimeStatistics; 4] {
        let asked: BTreeMap<(PlayerId, u64), Time> =
            self.world.monitor.asked.iter().map(|&(at, player, number)| ((player, number), at)).collect();
        let crossed = CrossingReport::of(&self.world);
        let is_joint = |act| crossed.acts.get(&act).is_some_and(|it| 1 < it.zones);
        let (mut local, mut joined) = (Vec::new(), Vec::new());
        for &(at, player, number) in &self.world.monitor.answers[start.answers..] {
            let Some(&since) = asked.get(&(player, number)) else { continue };
            // The client's line counts twice: the action travels over it, and the answer.
            let way = 2 * self.clients.delay(player).as_micros();
            let took = at.since(since).as_micros().saturating_sub(way) as f64 / 1e3;
            if is_joint((player, number)) { joined.push(took) } else { local.push(took) }
        }
        let all = local.iter().chain(&joined).copied().collect();
        let transfers = crossed.transfers.iter().filter(|it| start.time <= it.0);
        let transfers = transfers.map(|it| it.2.as_micros() as f64 / 1e3).collect();
        [all, local, joined, transfers].map(times)
    }
}

fn times(mut took: Vec<f64>) -> TimeStatistics {
    if took.is_empty() {
        return TimeStatistics::default();
    }
    took.sort_by(f64::total_cmp);
    let at = |part: f64| took[((took.len() - 1) as f64 * part).round() as usize];
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    TimeStatistics { samples: took.len(), mean, p50: at(0.5), p99: at(0.99) }
}

//! The replicas of a host, each in a worker on one of its reactors, started again when they fail.

use crate::config::{CarrierConfig, GamePolicy, PolicySetting, ServerConfig};
use crate::cross_zone_counters::CrossZoneCounters;
use crate::directory::RemoteDirectory;
use crate::host_disk::{DiskUser, HostDisk, ZoneRequest};
use crate::log_throttle::LogThrottle;
use crate::quarantine::{FORGOTTEN_AFTER, Quarantine};
use crate::stored_partition::corners;
use crate::stuck_calls::StuckCalls;
use crate::watchdog::WatchedReplica;
use crate::world_entry::WorldEntry;
use anyhow::Context as _;
use game::{GuardedGame, HostedGame};
use history::{EntryKind, Header, HistoryWriter};
use interest::policies::{A3, Circle, CircleAttenuated, Everything, FieldOfView};
use interest::{Policy, PolicyError, UpdateSchedule};
use machine::{Address, Span, Time, directory, disk};
use net::address;
use net::host_context::HostContext;
use net::link_router::LinkRouter;
use net::reactor::ReactorHandle;
use net::worker::{EventSink, Inbound, WorkerExit, WorkerHandle};
use node::ReplicaNode;
use node::carrier::{self, CarrierSettings, PoseCounts};
use space::{Distance, Partition, Position, ZoneId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use zone::{BrokenRules, CallSlot, PrimaryStatus, ReplicaCommand, ReplicaEvent, ReplicaStatus};

/// Time in which a replica tells its state. A late primary answers within a few turns of its reactor; one that hangs, never.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(800);

/// Time in which a replica that leaves must bring its log to disk.
const SYNC_TIMEOUT: Duration = Duration::from_secs(4);

/// Everything needed to start a replica, also again after a failure.
#[derive(Clone)]
struct ZoneStarter {
    config: zone::ZoneConfig,
    carrier: CarrierConfig,
    disk: HostDisk,
    history: HistoryWriter,
    directory: RemoteDirectory,
    runtime: tokio::runtime::Handle,
    reactor: ReactorHandle<ReplicaNode>,
    counters: Arc<CrossZoneCounters>,
    /// Failures of the zone in earlier lives of this host.
    quarantine: Quarantine,
}

/// The running replicas of a host, by zone. A replica in quarantine is not among them.
#[derive(Clone)]
pub struct ZoneSupervisor {
    workers: Arc<Mutex<BTreeMap<u32, WorkerHandle<ReplicaNode>>>>,
    watched: Vec<WatchedReplica>,
    /// As noted when the host started.
    stuck_calls: StuckCalls,
    counters: Arc<CrossZoneCounters>,
    disk: HostDisk,
}

/// Starts a replica of every zone that this host may hold, dealt out to its reactors.
/// `failed` is sent the reason when the thread of the disk has failed: no replica can go on then.
pub fn start_all(
    config: &ServerConfig,
    world: &WorldEntry,
    rules: &Arc<dyn HostedGame>,
    directory: &RemoteDirectory,
    context: &Arc<HostContext<ReplicaNode>>,
    reactors: &[ReactorHandle<ReplicaNode>],
    failed: &mpsc::Sender<String>,
) -> anyhow::Result<ZoneSupervisor> {
    let id = config.host.id;
    let report = failed.clone();
    let disk = HostDisk::start(config.host_folder(), move |why| {
        // The channel is full if another failure came first: the host ends either way.
        drop(report.try_send(format!("the thread of the disk panicked: {why}")));
    })?;
    for reactor in reactors {
        let disk = disk.clone();
        reactor.at_turn_end(move || disk.submit());
    }
    let stuck_calls = StuckCalls::read(&config.host_folder());
    let mut zones = ZoneSupervisor {
        workers: Arc::default(),
        watched: Vec::new(),
        stuck_calls: stuck_calls.clone(),
        counters: Arc::default(),
        disk,
    };
    let map = Arc::new(world.map.partition().context("the world's stored partition is invalid")?);
    policy(&config.carrier)?; // Checked here, so that a wrong setting stops the host and not each replica.
    let held = world.zones.iter().filter(|it| it.1.contains(&id));
    for ((&zone, hosts), reactor) in held.zip(reactors.iter().cycle()) {
        let header = header(config, world, &map, zone, hosts);
        let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
        let calls = Arc::<CallSlot>::default();
        zones.watched.push(WatchedReplica { zone, calls: calls.clone(), thread: reactor.thread() });
        let zone_config = zone::ZoneConfig {
            rules: Arc::new(GuardedGame::new(rules.clone(), calls.clone())),
            calls,
            suspects: stuck_calls.suspects(zone),
            ..zone_config(config, world, &map, rules, zone, hosts, &history)
        };
        let starter = ZoneStarter {
            config: zone_config,
            quarantine: Quarantine::after(stuck_calls.failures(zone)),
            carrier: config.carrier.clone(),
            disk: zones.disk.clone(),
            history,
            directory: directory.clone(),
            runtime: tokio::runtime::Handle::current(),
            reactor: reactor.clone(),
            counters: zones.counters(),
        };
        let (ended, exits) = mpsc::unbounded_channel();
        let replica = SupervisedReplica {
            quarantine: starter.quarantine,
            starter,
            context: context.clone(),
            workers: zones.workers.clone(),
            ended,
            exits,
        };
        // At once if it may, so that the host registers with this zone.
        let first = if replica.quarantine.pause_at_start().is_none() { Some(replica.start()) } else { None };
        tokio::spawn(replica.supervise(first));
    }
    Ok(zones)
}

fn replicas(zone: u32, hosts: &[u32]) -> Vec<Address> {
    hosts.iter().map(|&host| address::replica(host, zone)).collect()
}

/// The first line of a replica's history.
fn header(config: &ServerConfig, world: &WorldEntry, map: &Partition, zone: u32, hosts: &[u32]) -> Header {
    let corners = map.polygon(ZoneId(zone)).map(corners).unwrap_or_default();
    Header {
        process: format!("host-{}-zone-{zone}", config.host.id),
        world: Some(history::WorldHeader {
            game: world.game.clone(),
            schema: world.schema,
            zone: ZoneId(zone),
            region: corners.into_iter().filter_map(|[x, y]| Position::new(x, y).ok()).collect(),
            hosts: replicas(zone, hosts),
            durability: config.host.durability.into(),
        }),
    }
}

fn zone_config(
    config: &ServerConfig,
    world: &WorldEntry,
    map: &Arc<Partition>,
    rules: &Arc<dyn HostedGame>,
    zone: u32,
    hosts: &[u32],
    history: &HistoryWriter,
) -> zone::ZoneConfig {
    let id = config.host.id;
    zone::ZoneConfig {
        zone: ZoneId(zone),
        map: map.clone(),
        zone_of: Arc::new(|it| address::zone_of(it).map(ZoneId)),
        rules: rules.clone(),
        me: address::replica(id, zone),
        replicas: replicas(zone, hosts),
        founds: hosts.first() == Some(&id),
        force: config.host.force,
        durability: config.host.durability.into(),
        timing: config.timing.timing(),
        seed: world.seed,
        players_max: config.host.players_max,
        notes: history.is_on(),
        calls: Arc::default(),
        suspects: zone::Suspects::NONE,
        broken_rules: BrokenRules::NONE,
    }
}

/// A replica that is started again whenever it fails.
struct SupervisedReplica {
    starter: ZoneStarter,
    context: Arc<HostContext<ReplicaNode>>,
    workers: Arc<Mutex<BTreeMap<u32, WorkerHandle<ReplicaNode>>>>,
    ended: mpsc::UnboundedSender<WorkerExit>,
    exits: mpsc::UnboundedReceiver<WorkerExit>,
    quarantine: Quarantine,
}

impl SupervisedReplica {
    const fn zone(&self) -> u32 {
        self.starter.config.zone.0
    }

    fn start(&self) -> anyhow::Result<()> {
        let handle = start(&self.starter, &self.context, self.ended.clone())?;
        lock(&self.workers).insert(self.zone(), handle);
        self.count_quarantine(0.0);
        Ok(())
    }

    fn count_quarantine(&self, is_in: f64) {
        metrics::gauge!("ecumene_zone_quarantine", "zone" => self.zone().to_string()).set(is_in);
    }

    /// Starts the replica again whenever its worker ends by itself, after longer and longer pauses. `first` is what came of its
    /// first start; `None` if it begins in quarantine.
    async fn supervise(mut self, first: Option<anyhow::Result<()>>) {
        let mut started = match first {
            Some(started) => started,
            None => {
                let pause = self.quarantine.pause_at_start().unwrap_or_default();
                self.rest("calls of the game did not come back in earlier lives of this host", pause).await;
                self.start()
            }
        };
        loop {
            let why = match started {
                Ok(()) => match self.next_exit().await {
                    Some(exit) => reason(&exit),
                    None => return, // The host ends.
                },
                Err(error) => format!("it could not be started: {error:#}"),
            };
            metrics::counter!("ecumene_replicas_failed_total").increment(1);
            self.starter.history.write(self.starter.config.me, EntryKind::Crashed);
            let pause = self.quarantine.fail();
            self.rest(&why, pause).await;
            started = self.start();
            if started.is_ok() {
                let (zone, failures) = (self.zone(), self.quarantine.failures());
                tracing::info!(
                    zone,
                    failures,
                    "a zone has left quarantine: its replica was started again from its disk"
                );
            }
        }
    }

    /// Keeps the zone in quarantine: it has no worker, other hosts learn that it is not here, and another replica leads it.
    async fn rest(&self, why: &str, pause: Duration) {
        let (zone, failures, millis) = (self.zone(), self.quarantine.failures(), pause.as_millis() as u64);
        tracing::error!(
            zone,
            why,
            failures,
            pause_ms = millis,
            "a replica failed: its zone is in quarantine on this host"
        );
        // No messages for the dead worker; `start` adds the replica again.
        self.context.router.remove_zone(zone);
        lock(&self.workers).remove(&zone);
        self.count_quarantine(1.0);
        metrics::gauge!("ecumene_zone_role", "zone" => zone.to_string()).set(-1.0);
        tokio::time::sleep(pause).await;
    }

    /// The next exit of the worker. Meanwhile its failures are forgotten, after a long time without any.
    async fn next_exit(&mut self) -> Option<WorkerExit> {
        if 0 < self.quarantine.failures() {
            if let Ok(exit) = timeout(FORGOTTEN_AFTER, self.exits.recv()).await {
                return exit;
            }
            self.quarantine.forget();
            tracing::info!(zone = self.zone(), "a zone has recovered: its failures are forgotten");
        }
        self.exits.recv().await
    }
}

fn reason(exit: &WorkerExit) -> String {
    match exit {
        WorkerExit::Stopped => "it stopped by itself".to_owned(),
        WorkerExit::Panicked(message) => format!("it panicked: {message}"),
    }
}

fn lock<T>(it: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    it.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn start(
    starter: &ZoneStarter,
    context: &Arc<HostContext<ReplicaNode>>,
    ended: mpsc::UnboundedSender<WorkerExit>,
) -> anyhow::Result<WorkerHandle<ReplicaNode>> {
    let (handle, inbox) = starter.reactor.inbox();
    let (me, history) = (starter.config.me, starter.history.clone());
    let (zone, schema) = (starter.config.zone.0, starter.config.rules.schema());
    starter.disk.open(DiskUser { zone, schema, me, history: history.clone(), replica: handle.clone() })?;
    history.write(me, EntryKind::Started);
    let carrier = carrier::build(CarrierSettings {
        policy: policy(&starter.carrier)?,
        schedule: schedule(&starter.carrier),
        budget: starter.carrier.budget(),
        tick: Span::from_millis(starter.carrier.tick),
    });
    let machine = ReplicaNode::new(starter.config.clone(), carrier);
    let sink = ReplicaEventSink {
        me,
        zone,
        disk: starter.disk.clone(),
        directory: starter.directory.clone(),
        replica: handle.clone(),
        history,
        runtime: starter.runtime.clone(),
        // A world of one zone has no cross-zone events to look for.
        counters: starter.config.is_meshed().then(|| starter.counters.clone()),
        disk_requests: Vec::new(),
        directory_requests: Vec::new(),
        faults: LogThrottle::default(),
        poses: PoseMetrics { zone: zone.to_string(), counted: PoseCounts::default() },
    };
    starter.reactor.run(machine, sink, inbox, move |exit| drop(ended.send(exit)));
    context.router.add_zone(zone, handle.clone());
    Ok(handle)
}

/// The pose schedule, a twentieth faster than configured. World time may run a little slower than the clock that ticks,
/// and a pose that is a microsecond too early waits for another tick: half the rate.
const fn schedule(config: &CarrierConfig) -> UpdateSchedule {
    UpdateSchedule::every(Span::from_micros(config.interval.saturating_mul(950)))
}

/// The policy that a configuration names. An error says which number the policy refuses.
pub fn policy(config: &CarrierConfig) -> anyhow::Result<Box<dyn Policy + Send>> {
    let metres = |what: &str, it: f64| {
        Distance::from_metres(it).map_err(|error| anyhow::anyhow!("carrier.{what}: {error}"))
    };
    let refused = |error: PolicyError| anyhow::anyhow!("carrier: {error}");
    let (view, critical) = (metres("view", config.view)?, metres("critical", config.critical)?);
    Ok(match config.policy {
        PolicySetting::A3 => Box::new(A3::new(view, critical, config.angle).map_err(refused)?),
        PolicySetting::Circle => Box::new(Circle::new(view)),
        PolicySetting::CircleAttenuated => Box::new(CircleAttenuated::new(view, critical).map_err(refused)?),
        PolicySetting::FieldOfView => Box::new(FieldOfView::new(view, config.angle).map_err(refused)?),
        PolicySetting::Everything => Box::new(Everything),
        PolicySetting::Game => {
            let GamePolicy(make) = config
                .game_policy
                .as_ref()
                .context("carrier.policy is \"game\", and this game brings no policy of its own")?;
            make(config).map_err(refused)?
        }
    })
}

/// Carries out the events of a replica: on its disk, in the directory, in its history.
struct ReplicaEventSink {
    me: Address,
    zone: u32,
    disk: HostDisk,
    directory: RemoteDirectory,
    replica: WorkerHandle<ReplicaNode>,
    history: HistoryWriter,
    runtime: tokio::runtime::Handle,
    /// Counters of what happens between zones, if there are several.
    counters: Option<Arc<CrossZoneCounters>>,
    disk_requests: Vec<disk::DiskRequest>,
    directory_requests: Vec<directory::DirectoryRequest>,
    faults: LogThrottle,
    poses: PoseMetrics,
}

/// Metrics of a zone's carrier. It starts with the carrier at zero.
struct PoseMetrics {
    zone: String,
    counted: PoseCounts,
}

impl PoseMetrics {
    /// Adds the increase since the last call to the metrics.
    fn count(&mut self, counters: PoseCounts) {
        let before = std::mem::replace(&mut self.counted, counters);
        if counters != before {
            let zone = || self.zone.clone();
            metrics::counter!("ecumene_poses_total", "zone" => zone()).increment(counters.sent - before.sent);
            metrics::counter!("ecumene_poses_deferred_total", "zone" => zone())
                .increment(counters.deferred - before.deferred);
        }
    }
}

impl EventSink<ReplicaNode> for ReplicaEventSink {
    fn on_event(&mut self, _: Time, event: ReplicaEvent) {
        match event {
            // Collected until `flush`: the history is written before disk and directory act.
            ReplicaEvent::Disk(request) => self.disk_requests.push(request),
            ReplicaEvent::Directory(request) => self.directory_requests.push(request),
            ReplicaEvent::Note(note) => self.history.note(self.me, EntryKind::Said(note)),
            ReplicaEvent::Load(level) => {
                metrics::gauge!("ecumene_zone_load", "zone" => self.poses.zone.clone()).set(level.number());
                tracing::info!(?level, "the load level of a primary has changed");
            }
            ReplicaEvent::Fault(why) => {
                if let Some(before) = self.faults.count() {
                    tracing::warn!(why, before, "a fault of the game: the event did not happen");
                }
            }
            ReplicaEvent::Broken(why) => {
                tracing::error!(why, "a replica cannot go on");
                // Ends the worker; the supervisor then starts the replica again from its disk.
                self.replica.send(Inbound::Stop);
            }
            ReplicaEvent::Carrier(_) => (),
        }
    }

    fn flush(&mut self, host: &ReplicaNode) {
        self.history.flush();
        self.poses.count(host.pose_counts());
        // Primary and backup both write a record; only the primary counts it.
        let is_primary = matches!(host.replica().status(), ReplicaStatus::Primary(..));
        let counters = self.counters.as_ref().filter(|_| is_primary);
        for request in self.disk_requests.drain(..) {
            self.disk.ask(ZoneRequest { zone: self.zone, request, counters: counters.cloned() });
        }
        for request in self.directory_requests.drain(..) {
            // On the process's runtime, so that the reactor never waits for the network.
            let (directory, replica) = (self.directory.clone(), self.replica.clone());
            self.runtime.spawn(async move {
                let done = directory.ask(request).await;
                replica.command(ReplicaCommand::Directory(done));
            });
        }
    }
}

impl ZoneSupervisor {
    /// The workers of all replicas that are not in quarantine.
    pub fn handles(&self) -> Vec<(u32, WorkerHandle<ReplicaNode>)> {
        lock(&self.workers).iter().map(|(&zone, it)| (zone, it.clone())).collect()
    }

    /// Counters of what happens between zones.
    pub fn counters(&self) -> Arc<CrossZoneCounters> {
        self.counters.clone()
    }

    /// The replicas that a watchdog observes.
    pub fn watched(&self) -> Vec<WatchedReplica> {
        self.watched.clone()
    }

    /// The calls that did not come back in earlier lives of the host.
    pub fn stuck_calls(&self) -> StuckCalls {
        self.stuck_calls.clone()
    }

    /// Updates the metrics of all replicas. One that does not answer in time keeps its last values.
    pub async fn report(&self, router: &LinkRouter<ReplicaNode>) {
        let (players, hosts) = router.count();
        metrics::gauge!("ecumene_players_connected").set(players as f64);
        metrics::gauge!("ecumene_hosts_connected").set(hosts as f64);
        let mut reports = JoinSet::new();
        for (zone, handle) in self.handles() {
            reports.spawn(timeout(ANSWER_TIMEOUT, report(zone, handle)));
        }
        reports.join_all().await;
    }

    /// The states of all primaries; `None` for a replica that did not answer in time.
    pub async fn primaries(&self) -> Vec<Option<PrimaryStatus>> {
        let mut asked = JoinSet::new();
        for (_, handle) in self.handles() {
            // A worker that has ended counts as no primary: another host leads its zone soon.
            asked.spawn(timeout(ANSWER_TIMEOUT, async move {
                handle.inspect(|host| host.replica().primary_status()).await.flatten()
            }));
        }
        let answers = asked.join_all().await.into_iter();
        answers.filter_map(|it| it.map_or(Some(None), |status| status.map(Some))).collect()
    }

    /// Keeps the backups of this host from taking over for a while: a part of the host hangs.
    pub fn hold(&self) {
        for (_, handle) in self.handles() {
            handle.command(ReplicaCommand::Hold);
        }
    }

    /// Lets every replica give up its role, and waits until every record is on disk. No replica waits for another, nor the
    /// host for one that hangs.
    pub async fn leave(&self) {
        let mut leaving = JoinSet::new();
        for (_, handle) in self.handles() {
            handle.command(ReplicaCommand::Leave);
            leaving.spawn(timeout(SYNC_TIMEOUT, async move {
                while handle.inspect(|host| host.replica().is_synced()).await == Some(false) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }));
        }
        leaving.join_all().await;
    }

    /// Brings what waits in the journal to the zones' logs. Nothing depends on it: the next start is a little shorter, and the
    /// zones' logs are whole by themselves.
    pub async fn checkpoint(&self) {
        self.disk.checkpoint().await;
    }
}

/// Updates the metrics of one replica.
async fn report(zone: u32, handle: WorkerHandle<ReplicaNode>) {
    let inspection = handle.inspect(|host| {
        let replica = host.replica();
        let (role, epoch) = match replica.status() {
            ReplicaStatus::Unassigned => (0.0, 0),
            ReplicaStatus::Backup(epoch) => (1.0, epoch.0),
            ReplicaStatus::Primary(epoch, _) => (2.0, epoch.0),
            ReplicaStatus::Broken => (-1.0, 0),
        };
        (role, epoch, replica.head(), replica.state().objects.iter().count())
    });
    let Some((role, epoch, head, objects)) = inspection.await else { return };
    let zone = zone.to_string();
    metrics::gauge!("ecumene_zone_role", "zone" => zone.clone()).set(role);
    metrics::gauge!("ecumene_zone_epoch", "zone" => zone.clone()).set(f64::from(epoch));
    metrics::gauge!("ecumene_zone_records", "zone" => zone.clone()).set(head as f64);
    metrics::gauge!("ecumene_zone_objects", "zone" => zone).set(objects as f64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_slower_does_not_halve_the_rate() {
        let schedule = schedule(&ServerConfig::default().carrier);
        let tick = Span::from_micros(99_990);
        assert!(schedule.is_due(tick, 1.0));
        assert!(!schedule.is_due(tick, 0.5) && schedule.is_due(tick.times(2), 0.5));
    }
}

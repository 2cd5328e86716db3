//! The zones of a host, each in a cell of its own, started again when they fail.

use crate::config::{CarrierConfig, Config, PolicyName};
use crate::directory::Remote;
use crate::disk::Disk;
use crate::map::corners;
use crate::tally::Tally;
use crate::world::World;
use anyhow::Context as _;
use game::Rules;
use history::{Header, HistoryWriter, What};
use interest::policies::{A3, Circle, CircleAttenuated, Everything, FieldOfView};
use interest::{Policy, Schedule};
use machine::{Address, Span, Time, directory, disk};
use net::address;
use net::cell::{self, End, Handle, Inbound, Owner};
use net::session::House;
use net::switchboard::Switchboard;
use node::Host;
use node::carrier::{self, CarrierSettings, PoseCounts};
use space::{Distance, Partition, Position, ZoneId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use zone::{BrokenRules, Command, Event, Standing};

/// A zone that failed is started again after this long,
const AGAIN_AFTER: Duration = Duration::from_millis(500);
/// unless it failed this often: then something is wrong with the machine, and the whole host goes.
const FAILURES_MAX: u32 = 5;

/// Whoever was well for this long begins to count anew: a failure now and then over months is no broken zone.
const WELL_AFTER: Duration = Duration::from_secs(600);

/// Faults are told at most this often.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What starts a zone, again and again.
#[derive(Clone)]
struct Recipe {
    config: zone::Config,
    carrier: CarrierConfig,
    folder: PathBuf,
    history: HistoryWriter,
    directory: Remote,
    runtime: tokio::runtime::Handle,
    tally: Arc<Tally>,
}

/// The zones of a host.
pub struct Supervised {
    cells: Arc<Mutex<BTreeMap<u32, Handle<Host>>>>,
    tally: Arc<Tally>,
}

/// Starts every zone that this host may hold. What comes out of the receiver is why one cannot be started again.
pub fn start_all(
    config: &Config,
    world: &World,
    rules: &Arc<dyn Rules>,
    directory: &Remote,
    house: &Arc<House<Host>>,
) -> anyhow::Result<(Supervised, mpsc::Receiver<String>)> {
    let (sender, failed) = mpsc::channel(1);
    let zones = Supervised { cells: Arc::default(), tally: Arc::default() };
    let id = config.host.id;
    let map = Arc::new(world.map.partition().context("the world's borders make no sense")?);
    policy(&config.carrier)?;
    for (&zone, hosts) in world.zones.iter().filter(|it| it.1.contains(&id)) {
        let header = header(config, world, &map, zone, hosts);
        let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
        let recipe = Recipe {
            config: zone_config(config, world, &map, rules, zone, hosts, &history),
            carrier: config.carrier.clone(),
            folder: config.data.join(format!("host-{id}")).join(format!("zone-{zone}")),
            history,
            directory: directory.clone(),
            runtime: tokio::runtime::Handle::current(),
            tally: zones.tally(),
        };
        let (ended, mut endings) = mpsc::unbounded_channel();
        zones.put(zone, start(&recipe, house, ended.clone())?);
        tokio::spawn(supervise(
            recipe,
            house.clone(),
            zones.cells.clone(),
            ended,
            sender.clone(),
            async move { endings.recv().await.map(|end| (end, endings)) },
        ));
    }
    Ok((zones, failed))
}

fn replicas(zone: u32, hosts: &[u32]) -> Vec<Address> {
    hosts.iter().map(|&host| address::replica(host, zone)).collect()
}

/// What a replica's history says of itself.
fn header(config: &Config, world: &World, map: &Partition, zone: u32, hosts: &[u32]) -> Header {
    let corners = map.polygon(ZoneId(zone)).map(corners).unwrap_or_default();
    Header {
        process: format!("host-{}-zone-{zone}", config.host.id),
        world: Some(history::World {
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
    config: &Config,
    world: &World,
    map: &Arc<Partition>,
    rules: &Arc<dyn Rules>,
    zone: u32,
    hosts: &[u32],
    history: &HistoryWriter,
) -> zone::Config {
    let id = config.host.id;
    zone::Config {
        zone: ZoneId(zone),
        map: map.clone(),
        zone_of: Arc::new(|it| address::zone_of(it).map(ZoneId)),
        rules: rules.clone(),
        me: address::replica(id, zone),
        peers: replicas(zone, hosts),
        founds: hosts.first() == Some(&id),
        force: config.host.force,
        durability: config.host.durability.into(),
        timing: config.timing.timing(),
        seed: world.seed,
        players_max: config.host.players_max,
        notes: history.is_on(),
        broken_rules: BrokenRules::NONE,
    }
}

type Endings = mpsc::UnboundedReceiver<End>;

/// Starts a zone again whenever it ends by itself.
async fn supervise(
    recipe: Recipe,
    house: Arc<House<Host>>,
    cells: Arc<Mutex<BTreeMap<u32, Handle<Host>>>>,
    ended: mpsc::UnboundedSender<End>,
    failed: mpsc::Sender<String>,
    first: impl Future<Output = Option<(End, Endings)>>,
) {
    let zone = recipe.config.zone.0;
    let Some((end, mut endings)) = first.await else { return };
    let (mut why, mut failures) = (reason(&end), 0);
    while failures < FAILURES_MAX {
        failures += 1;
        tracing::error!(zone, why, "a replica ended; it is started again from its disk");
        metrics::counter!("ecumene_replicas_failed_total").increment(1);
        house.switchboard.remove_zone(zone);
        recipe.history.write(recipe.config.me, What::Crashed);
        tokio::time::sleep(AGAIN_AFTER).await;
        let began = Instant::now();
        why = match start(&recipe, &house, ended.clone()) {
            Ok(handle) => {
                drop(locked(&cells).insert(zone, handle));
                let Some(end) = endings.recv().await else { return };
                reason(&end)
            }
            // The thread of its old disk may be at work still, and hold the folder.
            Err(error) => format!("it could not be started: {error:#}"),
        };
        if WELL_AFTER <= began.elapsed() {
            failures = 0;
        }
    }
    drop(failed.send(format!("zone {zone} failed {FAILURES_MAX} times in a row: {why}")).await);
}

fn reason(end: &End) -> String {
    match end {
        End::Stopped => "it gave up".to_owned(),
        End::Panicked(said) => format!("it panicked: {said}"),
    }
}

fn locked<T>(it: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    it.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn start(
    recipe: &Recipe,
    house: &Arc<House<Host>>,
    ended: mpsc::UnboundedSender<End>,
) -> anyhow::Result<Handle<Host>> {
    let (handle, inbox) = Handle::new();
    let (me, history) = (recipe.config.me, recipe.history.clone());
    let schema = recipe.config.rules.schema();
    let disk = Disk::open(&recipe.folder, schema, me, history.clone(), handle.clone())
        .with_context(|| format!("in {}", recipe.folder.display()))?;
    history.write(me, What::Started);
    let carrier = carrier::build(CarrierSettings {
        policy: policy(&recipe.carrier)?,
        schedule: schedule(&recipe.carrier),
        budget: recipe.carrier.budget(),
        tick: Span::from_millis(recipe.carrier.tick),
    });
    let machine = Host::new(recipe.config.clone(), carrier);
    let zone = recipe.config.zone.0;
    let owner = ZoneOwner {
        me,
        disk,
        directory: recipe.directory.clone(),
        replica: handle.clone(),
        history,
        runtime: recipe.runtime.clone(),
        tally: recipe.config.is_meshed().then(|| recipe.tally.clone()),
        disk_requests: Vec::new(),
        directory_requests: Vec::new(),
        faults: Seldom::default(),
        poses: Poses { zone: zone.to_string(), counted: PoseCounts::default() },
    };
    cell::spawn_thread(&format!("zone-{zone}"), machine, owner, inbox, move |end| drop(ended.send(end)))?;
    house.switchboard.add_zone(zone, handle.clone());
    Ok(handle)
}

/// A twentieth early. World time may run a little slower than the clock that ticks, and a pose that is found not to be due
/// by a microsecond waits for another tick: half the rate.
const fn schedule(config: &CarrierConfig) -> Schedule {
    Schedule::every(Span::from_micros(config.interval.saturating_mul(950)))
}

fn policy(config: &CarrierConfig) -> anyhow::Result<Box<dyn Policy + Send>> {
    let metres = |what: &str, it: f64| {
        Distance::from_metres(it).map_err(|error| anyhow::anyhow!("carrier.{what}: {error}"))
    };
    let (view, critical) = (metres("view", config.view)?, metres("critical", config.critical)?);
    Ok(match config.policy {
        PolicyName::A3 => Box::new(A3::new(view, critical, config.angle)?),
        PolicyName::Circle => Box::new(Circle::new(view)),
        PolicyName::CircleAttenuated => Box::new(CircleAttenuated::new(view, critical)?),
        PolicyName::FieldOfView => Box::new(FieldOfView::new(view, config.angle)?),
        PolicyName::Everything => Box::new(Everything),
    })
}

/// Carries out what a replica raises: on its disk, in the directory, in its history.
struct ZoneOwner {
    me: Address,
    disk: Disk,
    directory: Remote,
    replica: Handle<Host>,
    history: HistoryWriter,
    runtime: tokio::runtime::Handle,
    /// Where to count what happens between zones, if there are several.
    tally: Option<Arc<Tally>>,
    disk_requests: Vec<disk::Request>,
    directory_requests: Vec<directory::Request>,
    faults: Seldom,
    poses: Poses,
}

/// Tells the metrics what a zone's carrier has done. It lives as long as the carrier.
struct Poses {
    zone: String,
    counted: PoseCounts,
}

impl Poses {
    /// Counts what was not counted before.
    fn count(&mut self, tally: PoseCounts) {
        let before = std::mem::replace(&mut self.counted, tally);
        if tally != before {
            let zone = || self.zone.clone();
            metrics::counter!("ecumene_poses_total", "zone" => zone()).increment(tally.sent - before.sent);
            metrics::counter!("ecumene_poses_deferred_total", "zone" => zone())
                .increment(tally.deferred - before.deferred);
        }
    }
}

/// Lets one through now and then: whoever sends nonsense by the thousand must not fill the log.
#[derive(Default)]
struct Seldom {
    told: Option<Instant>,
    untold: u64,
}

impl Seldom {
    /// How many went untold before this one, if it is time to tell.
    fn count(&mut self) -> Option<u64> {
        if self.told.is_some_and(|it| it.elapsed() < TELL_EVERY) {
            self.untold += 1;
            return None;
        }
        self.told = Some(Instant::now());
        Some(std::mem::take(&mut self.untold))
    }
}

impl Owner<Host> for ZoneOwner {
    fn hear(&mut self, _: Time, event: Event) {
        match event {
            Event::Disk(request) => self.disk_requests.push(request),
            Event::Directory(request) => self.directory_requests.push(request),
            Event::Note(note) => self.history.note(self.me, What::Said(note)),
            Event::Fault(why) => {
                if let Some(before) = self.faults.count() {
                    tracing::warn!(
                        why,
                        before,
                        "an action made no sense to the game, or the game a mistake: refused"
                    );
                }
            }
            Event::Broken(why) => {
                tracing::error!(why, "a replica cannot go on");
                self.replica.say(Inbound::Stop);
            }
            Event::Carrier(_) => (),
        }
    }

    fn flush(&mut self, host: &Host) {
        self.history.flush();
        self.poses.count(host.carried());
        // Of the two that write a record, the one who decided it counts it.
        let reigns = matches!(host.replica().standing(), Standing::Primary(..));
        let tally = self.tally.as_ref().filter(|_| reigns);
        self.disk_requests.drain(..).for_each(|it| self.disk.ask(it, tally.cloned()));
        for request in self.directory_requests.drain(..) {
            let (directory, replica) = (self.directory.clone(), self.replica.clone());
            self.runtime.spawn(async move {
                let done = directory.ask(request).await;
                replica.command(Command::Directory(done));
            });
        }
    }
}

impl Supervised {
    fn put(&self, zone: u32, handle: Handle<Host>) {
        locked(&self.cells).insert(zone, handle);
    }

    fn handles(&self) -> Vec<(u32, Handle<Host>)> {
        locked(&self.cells).iter().map(|(&zone, it)| (zone, it.clone())).collect()
    }

    /// What happened between zones.
    pub fn tally(&self) -> Arc<Tally> {
        self.tally.clone()
    }

    /// Tells the metrics how things stand.
    pub async fn report(&self, switchboard: &Switchboard<Host>) {
        let (players, hosts) = switchboard.count();
        metrics::gauge!("ecumene_players_connected").set(players as f64);
        metrics::gauge!("ecumene_hosts_connected").set(hosts as f64);
        for (zone, handle) in self.handles() {
            let looked = handle.look(|host| {
                let replica = host.replica();
                let (role, epoch) = match replica.standing() {
                    Standing::Nobody => (0.0, 0),
                    Standing::Backup(epoch) => (1.0, epoch.0),
                    Standing::Primary(epoch, _) => (2.0, epoch.0),
                    Standing::Broken => (-1.0, 0),
                };
                (role, epoch, replica.head(), replica.state().objects.iter().count())
            });
            let Some((role, epoch, head, objects)) = looked.await else { continue };
            let zone = zone.to_string();
            metrics::gauge!("ecumene_zone_role", "zone" => zone.clone()).set(role);
            metrics::gauge!("ecumene_zone_epoch", "zone" => zone.clone()).set(f64::from(epoch));
            metrics::gauge!("ecumene_zone_records", "zone" => zone.clone()).set(head as f64);
            metrics::gauge!("ecumene_zone_objects", "zone" => zone).set(objects as f64);
        }
    }

    /// Hands over, and waits until everything is on disk.
    pub async fn leave(&self) {
        for (_, handle) in self.handles() {
            handle.command(Command::Leave);
        }
        for (_, handle) in self.handles() {
            while handle.look(|host| host.replica().is_settled()).await == Some(false) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_slower_does_not_halve_the_rate() {
        let schedule = schedule(&Config::default().carrier);
        let tick = Span::from_micros(99_990);
        assert!(schedule.is_due(tick, 1.0));
        assert!(!schedule.is_due(tick, 0.5) && schedule.is_due(tick.times(2), 0.5));
    }

    #[tokio::test(start_paused = true)]
    async fn nonsense_by_the_thousand_is_told_once_and_then_counted() {
        let mut seldom = Seldom::default();
        assert_eq!((0..1_000).filter_map(|_| seldom.count()).collect::<Vec<_>>(), [0]);
        tokio::time::advance(TELL_EVERY).await;
        assert_eq!((0..1_000).filter_map(|_| seldom.count()).collect::<Vec<_>>(), [999]);
    }
}

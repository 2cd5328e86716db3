//! Watches a running world: counts what happens between zones and how often another host takes over, starts again what
//! ended, and kills a host if that was asked for.

use crate::cluster::Cluster;
use crate::world::RunningWorld;
use anyhow::{Result, bail};
use client::{HostHealth, Lobby};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// How often hosts are asked what happened between zones.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// Hosts that end by themselves more often than this have a reason that starting them again does not mend.
const FALLS_MAX: u32 = 100;

/// A host that was killed comes back after this long.
const BACK_AFTER: Duration = Duration::from_secs(2);

/// How often the world is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Counts of what happened between zones, added up over the lives of all hosts.
pub struct BorderCounts {
    lobby: Lobby,
    seen: BTreeMap<u32, HostHealth>,
    sum: HostHealth,
    looked: Instant,
}

impl BorderCounts {
    /// Counts of a world from now on.
    pub async fn begin(lobby: SocketAddr) -> Self {
        let lobby = Lobby::new(&lobby.to_string());
        let mut counts = Self { lobby, seen: BTreeMap::new(), sum: ZERO, looked: Instant::now() };
        counts.look().await;
        counts.sum = ZERO;
        counts
    }

    /// Counts so far, of all hosts.
    pub async fn end(mut self) -> HostHealth {
        self.look().await;
        self.sum
    }

    async fn look_now_and_then(&mut self) {
        if COUNT_EVERY <= self.looked.elapsed() {
            self.look().await;
        }
    }

    /// Asks all hosts. One that was killed is not there; one that came back counts from zero.
    async fn look(&mut self) {
        self.looked = Instant::now();
        let Ok(health) = self.lobby.health().await else { return };
        for (host, address) in health.web.iter().filter(|_| 1 < health.zones.len()) {
            let Ok(now) = Lobby::host_health(address).await else { continue };
            let before = self.seen.insert(*host, now);
            let news = |of: fn(&HostHealth) -> u64| match before.as_ref().map(of) {
                Some(before) if before <= of(&now) => of(&now) - before,
                _ => of(&now),
            };
            self.sum.transfers += news(|it| it.transfers);
            self.sum.cross_zone_events += news(|it| it.cross_zone_events);
        }
    }
}

const ZERO: HostHealth = HostHealth { transfers: 0, cross_zone_events: 0 };

/// When what is done to a world that is watched.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchOptions {
    /// Watching ends after this long.
    pub end_after: Option<Duration>,
    /// The host that decides in the most zones is killed after this long, and comes back.
    pub kill_after: Option<Duration>,
}

/// Watches a world until the time is over or `stop` ends; `tell` hears what happens, for people. Returns how often another
/// host took over a zone.
pub async fn watch(
    world: &mut RunningWorld,
    counts: &mut BorderCounts,
    options: WatchOptions,
    stop: impl Future<Output = ()>,
    tell: &dyn Fn(&str),
) -> Result<u64> {
    let began = Instant::now();
    let end = options.end_after.map(|it| began + it);
    let mut watcher = Watcher::new(options.kill_after.map(|it| began + it), tell);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => (),
            () = &mut stop => return Ok(watcher.failovers),
        }
        let now = Instant::now();
        if end.is_some_and(|it| it <= now) {
            return Ok(watcher.failovers);
        }
        counts.look_now_and_then().await;
        if let RunningWorld::Outside(cluster) = world {
            watcher.look(cluster, now).await?;
        }
    }
}

/// What is known of a cluster that is watched.
struct Watcher<'a> {
    kill: Option<Instant>,
    /// Hosts that come back, and when.
    back: Vec<(u32, Instant)>,
    /// The last known primary of each zone.
    primaries: BTreeMap<u32, u32>,
    failovers: u64,
    falls: u32,
    tell: &'a dyn Fn(&str),
}

impl<'a> Watcher<'a> {
    fn new(kill: Option<Instant>, tell: &'a dyn Fn(&str)) -> Self {
        Self { kill, back: Vec::new(), primaries: BTreeMap::new(), failovers: 0, falls: 0, tell }
    }

    async fn look(&mut self, cluster: &mut Cluster, now: Instant) -> Result<()> {
        let health = cluster.health().await;
        for (zone, primary) in
            health.iter().flat_map(|it| &it.zones).filter_map(|it| Some((it.zone, it.primary?)))
        {
            let before = self.primaries.insert(zone, primary);
            self.failovers += u64::from(before.is_some_and(|it| it != primary));
        }
        let first = health.and_then(|it| it.first());
        if let (Some(primary), true) = (first, self.kill.is_some_and(|it| it <= now)) {
            self.kill = None;
            cluster.kill(primary).await?;
            self.back.push((primary, now + BACK_AFTER));
            (self.tell)(&format!("host {primary} was killed; it comes back in {BACK_AFTER:?}"));
        }
        self.restart(cluster, now).await
    }

    /// Starts again what ended: hosts after a while, the directory at once.
    async fn restart(&mut self, cluster: &mut Cluster, now: Instant) -> Result<()> {
        for host in cluster.fallen() {
            self.falls += 1;
            if FALLS_MAX < self.falls {
                bail!("hosts keep ending, host {host} last; its log says why");
            }
            (self.tell)(&format!("host {host} has ended; it comes back in {BACK_AFTER:?}"));
            self.back.push((host, now + BACK_AFTER));
        }
        if cluster.seat_has_fallen() {
            (self.tell)("the directory has ended; it is started again, and meanwhile everybody plays on");
            cluster.start_seat_again().await?;
        }
        for (host, _) in self.back.extract_if(.., |it| it.1 <= now) {
            cluster.start_host(host)?;
        }
        Ok(())
    }
}

//! Watches a running world: counts cross-zone events and failovers, restarts processes that ended, and kills a host if
//! that was asked for.

use crate::cluster::Cluster;
use crate::running_world::RunningWorld;
use anyhow::{Result, bail};
use client::{HostHealth, LobbyClient};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// Interval at which hosts are asked for their counters.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// Ended hosts after which watching fails: restarting does not mend their reason.
const ENDED_MAX: u32 = 100;

/// Pause before a killed host is started again.
const RESTART_PAUSE: Duration = Duration::from_secs(2);

/// Interval at which the world is looked at.
const WATCH_EVERY: Duration = Duration::from_millis(50);

/// Counters of what happened between zones, added up over the restarts of all hosts.
pub struct CrossZoneTotals {
    lobby: LobbyClient,
    last: BTreeMap<u32, HostHealth>,
    sum: HostHealth,
    updated: Instant,
}

impl CrossZoneTotals {
    /// Counters of a world from now on.
    pub async fn begin(lobby: SocketAddr) -> Self {
        let lobby = LobbyClient::new(&lobby.to_string());
        let mut totals = Self { lobby, last: BTreeMap::new(), sum: ZERO, updated: Instant::now() };
        totals.update().await;
        // Events before the beginning do not count.
        totals.sum = ZERO;
        totals
    }

    /// The totals so far, of all hosts.
    pub async fn end(mut self) -> HostHealth {
        self.update().await;
        self.sum
    }

    async fn update_if_due(&mut self) {
        if COUNT_EVERY <= self.updated.elapsed() {
            self.update().await;
        }
    }

    /// Asks all hosts. One that was killed does not answer; one that was restarted counts from zero.
    async fn update(&mut self) {
        self.updated = Instant::now();
        let Ok(health) = self.lobby.health().await else { return };
        // A world of one zone has nothing to count.
        for (host, address) in health.web.iter().filter(|_| 1 < health.zones.len()) {
            let Ok(now) = LobbyClient::host_health(address).await else { continue };
            let before = self.last.insert(*host, now);
            // Less than before means that the host was restarted.
            let increase = |of: fn(&HostHealth) -> u64| match before.as_ref().map(of) {
                Some(before) if before <= of(&now) => of(&now) - before,
                _ => of(&now),
            };
            self.sum.transfers += increase(|it| it.transfers);
            self.sum.cross_zone_events += increase(|it| it.cross_zone_events);
        }
    }
}

const ZERO: HostHealth = HostHealth { transfers: 0, cross_zone_events: 0 };

/// Times at which watching ends and a host is killed.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchOptions {
    /// Watching ends after this time.
    pub end_after: Option<Duration>,
    /// The host that leads the most zones is killed after this time, and started again.
    pub kill_after: Option<Duration>,
}

/// Watches a world until the time is over or `stop` is done; `tell` is called with lines for people. Returns the number
/// of failovers.
pub async fn watch(
    world: &mut RunningWorld,
    totals: &mut CrossZoneTotals,
    options: WatchOptions,
    stop: impl Future<Output = ()>,
    tell: &dyn Fn(&str),
) -> Result<u64> {
    let began = Instant::now();
    let end = options.end_after.map(|it| began + it);
    let mut watcher = ClusterWatcher::new(options.kill_after.map(|it| began + it), tell);
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = tokio::time::sleep(WATCH_EVERY) => (),
            () = &mut stop => return Ok(watcher.failovers),
        }
        let now = Instant::now();
        if end.is_some_and(|it| it <= now) {
            return Ok(watcher.failovers);
        }
        totals.update_if_due().await;
        if let RunningWorld::Processes(cluster) = world {
            watcher.update(cluster, now).await?;
        }
    }
}

/// State of a cluster that is watched.
struct ClusterWatcher<'a> {
    kill: Option<Instant>,
    /// Hosts to start again, and when.
    restarts: Vec<(u32, Instant)>,
    /// The last known primary of each zone, by host.
    primaries: BTreeMap<u32, u32>,
    failovers: u64,
    ended_hosts: u32,
    tell: &'a dyn Fn(&str),
}

impl<'a> ClusterWatcher<'a> {
    fn new(kill: Option<Instant>, tell: &'a dyn Fn(&str)) -> Self {
        Self { kill, restarts: Vec::new(), primaries: BTreeMap::new(), failovers: 0, ended_hosts: 0, tell }
    }

    async fn update(&mut self, cluster: &mut Cluster, now: Instant) -> Result<()> {
        let health = cluster.health().await;
        for (zone, primary) in
            health.iter().flat_map(|it| &it.zones).filter_map(|it| Some((it.zone, it.primary?)))
        {
            let before = self.primaries.insert(zone, primary);
            self.failovers += u64::from(before.is_some_and(|it| it != primary));
        }
        let leading = health.and_then(|it| it.leading_host());
        if let (Some(primary), true) = (leading, self.kill.is_some_and(|it| it <= now)) {
            self.kill = None;
            cluster.kill(primary).await?;
            self.restarts.push((primary, now + RESTART_PAUSE));
            (self.tell)(&format!("host {primary} was killed; it is started again in {RESTART_PAUSE:?}"));
        }
        self.restart(cluster, now).await
    }

    /// Starts ended processes again: hosts after a pause, the control plane at once.
    async fn restart(&mut self, cluster: &mut Cluster, now: Instant) -> Result<()> {
        for host in cluster.take_ended_hosts() {
            self.ended_hosts += 1;
            if ENDED_MAX < self.ended_hosts {
                bail!("hosts keep ending, host {host} last; see its log");
            }
            (self.tell)(&format!("host {host} has ended; it is started again in {RESTART_PAUSE:?}"));
            self.restarts.push((host, now + RESTART_PAUSE));
        }
        if cluster.control_plane_has_ended() {
            (self.tell)("the control plane has ended; it is started again, and play goes on meanwhile");
            cluster.restart_control_plane().await?;
        }
        for (host, _) in self.restarts.extract_if(.., |it| it.1 <= now) {
            cluster.start_host(host)?;
        }
        Ok(())
    }
}

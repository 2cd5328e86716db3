//! All settings, from one file. The defaults are the file that `ecumene config print` shows.

use crate::ConfigTemplate;
use crate::zone_worker;
use interest::{Budget, Policy, PolicyError};
use lobby::AdmissionSettings;
use machine::Span;
use serde::Deserialize;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zone::{Durability, Timing};

/// The most zones of a new world: each is a worker and a disk on every host.
pub const ZONES_MAX: u32 = 256;

/// The longest queue that a lobby may have: some two hundred megabytes.
const QUEUE_MAX: usize = 1_000_000;

/// The configuration file with all defaults and their explanations.
pub const TEMPLATE: &str = include_str!("config.toml");

/// All settings of a control plane or host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// Folder of keys, directory, accounts and the hosts' logs.
    pub data: PathBuf,
    /// Folder of histories; empty if none are written.
    pub history: PathBuf,
    /// Settings of a world that is founded.
    pub world: WorldConfig,
    /// Settings of the directory service.
    pub directory: DirectoryConfig,
    /// Settings of the lobby and web page.
    pub lobby: LobbyConfig,
    /// Settings of one host process.
    pub host: HostConfig,
    /// Settings of the carrier, which selects and sends poses.
    pub carrier: CarrierConfig,
    /// Intervals and timeouts of replicas and players.
    pub timing: TimingConfig,
    /// Settings of the log on standard error.
    pub log: LogConfig,
}

/// Settings of a new world; an existing world keeps those it was founded with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldConfig {
    /// Metres from its middle to its sides.
    pub half: u32,
    /// Number of zones into which it is cut.
    pub zones: u32,
    /// Random seed of the game.
    pub seed: u64,
    /// Numbers of the hosts that may hold replicas.
    pub hosts: Vec<u32>,
}

/// Settings of the directory service.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DirectoryConfig {
    /// UDP address at which hosts reach the directory.
    pub listen: SocketAddr,
}

/// Settings of the lobby and web page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LobbyConfig {
    /// TCP address of the page and the log-in.
    pub listen: SocketAddr,
    /// Log-ins per second from one address; 50 times as many requests for sessions.
    pub per_address: f64,
    /// Log-ins from one address in a burst; 50 times as many requests for sessions.
    pub burst: u32,
    /// Proxies whose `X-Forwarded-For` header is trusted.
    pub proxies: Vec<IpAddr>,
    /// Lets players in at the pace at which hosts keep up; without it all at once.
    pub admission: bool,
    /// The most players who wait to enter.
    pub queue_max: usize,
    /// Number of players in the world at which no others are let in; 0 is no limit.
    pub players_max: u32,
}

impl LobbyConfig {
    /// The settings of admission.
    pub fn admission(&self) -> AdmissionSettings {
        AdmissionSettings {
            is_on: self.admission,
            queue_max: self.queue_max,
            players_max: (0 < self.players_max).then_some(self.players_max),
            ..AdmissionSettings::default()
        }
    }
}

/// Settings of one host process.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Number of this host, one of `world.hosts`.
    pub id: u32,
    /// UDP address for other hosts.
    pub mesh: SocketAddr,
    /// UDP address for players, by QUIC and WebTransport.
    pub players: SocketAddr,
    /// TCP address for players by WebSocket, for health and metrics.
    pub web: SocketAddr,
    /// IP address that others are told, if it differs from those it listens at.
    pub announce: Option<IpAddr>,
    /// WebSocket address that players are told, if it differs from `web`.
    pub websocket: Option<String>,
    /// Proxies before `web` whose `X-Forwarded-For` header is trusted.
    pub proxies: Vec<IpAddr>,
    /// The most players connected at once.
    pub players_max: usize,
    /// Number of threads that own sockets, connections and zones: 1 to 64.
    pub reactors: usize,
    /// Durability of records: how far they are on disk before they are announced.
    pub durability: DurabilitySetting,
    /// Lets a replica go on alone after a full stop of all hosts.
    pub force: bool,
}

/// [`Durability`], as the configuration file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurabilitySetting {
    /// Records are on both disks before they are announced.
    Synced,
    /// Records are on both disks within 100 ms.
    Batched,
    /// Records are on disk within seconds.
    Lazy,
}

impl From<DurabilitySetting> for Durability {
    fn from(it: DurabilitySetting) -> Self {
        match it {
            DurabilitySetting::Synced => Self::Synced,
            DurabilitySetting::Batched => Self::Batched,
            DurabilitySetting::Lazy => Self::Lazy,
        }
    }
}

/// Makes the policy that a game brings along, with the numbers of the configuration.
#[derive(Clone)]
pub struct GamePolicy(pub Arc<GamePolicyMaker>);

/// The function in a [`GamePolicy`].
pub type GamePolicyMaker =
    dyn Fn(&CarrierConfig) -> Result<Box<dyn Policy + Send>, PolicyError> + Send + Sync;

impl fmt::Debug for GamePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GamePolicy")
    }
}

impl PartialEq for GamePolicy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Settings of the carrier, which selects and sends poses.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarrierConfig {
    /// Policy that gives the relevance of a subject.
    pub policy: PolicySetting,
    /// The policy of [`PolicySetting::Game`]; the program of a game sets it, never a file.
    #[serde(skip)]
    pub game_policy: Option<GamePolicy>,
    /// Radius within which a subject is relevant, in metres.
    pub view: f64,
    /// Radius within which relevance is full, in metres.
    pub critical: f64,
    /// Width of the field of view, in degrees.
    pub angle: f64,
    /// Interval between two poses of a fully relevant subject, in milliseconds.
    pub interval: u64,
    /// Interval between two packets, in milliseconds.
    pub tick: u64,
    /// Bytes of poses per second and player; 0 is no limit.
    pub bytes_per_second: u32,
    /// Unused bytes that a player's budget saves up.
    pub burst: u32,
}

/// With less, a player learns of one or two avatars a second: more likely a mistake in the unit than intended.
const BYTES_PER_SECOND_MIN: u32 = 1_000;

impl CarrierConfig {
    /// The budget of one player, if there is a limit.
    pub fn budget(&self) -> Option<Budget> {
        let Self { bytes_per_second, burst, .. } = *self;
        (0 < bytes_per_second).then_some(Budget { bytes_per_second, burst })
    }

    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            (1..=60_000).contains(&self.interval) && (1..=60_000).contains(&self.tick),
            "carrier: times must be 1 ms to a minute"
        );
        zone_worker::policy(self)?;
        // Without a limit the two numbers mean nothing.
        let Some(budget) = self.budget() else { return Ok(()) };
        anyhow::ensure!(
            BYTES_PER_SECOND_MIN <= budget.bytes_per_second,
            "carrier.bytes_per_second must be at least {BYTES_PER_SECOND_MIN}, or 0 for no limit"
        );
        let per_tick = (u64::from(budget.bytes_per_second) * self.tick).div_ceil(1_000);
        // A burst below one tick's share could never be used up, and the budget would not reach its rate.
        anyhow::ensure!(
            per_tick <= u64::from(budget.burst),
            "carrier.burst must be at least {per_tick}, what {} bytes per second make in {} ms: the rest would be lost",
            budget.bytes_per_second,
            self.tick
        );
        Ok(())
    }
}

/// An interest policy, as the configuration file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicySetting {
    /// Full relevance within the critical distance; beyond it, relevance falls with the distance in front of the observer, and
    /// is none behind.
    A3,
    /// Full relevance within a circle, none outside.
    Circle,
    /// Relevance falls with the distance.
    CircleAttenuated,
    /// Full relevance within a sector, none outside.
    FieldOfView,
    /// Full relevance of all subjects.
    Everything,
    /// The policy that the game brings along.
    Game,
}

/// Intervals and timeouts of replicas and players, in milliseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// Interval between two beacons of a primary.
    pub beacon: u64,
    /// Silence of the backup after which a primary stops sending poses.
    pub lease: u64,
    /// Silence of the primary after which a backup asks the directory.
    pub grace: u64,
    /// Silence of the backup after which a primary asks the directory to go on alone.
    pub patience: u64,
    /// Time without a connection after which a player leaves the world.
    pub leave: u64,
}

impl TimingConfig {
    /// The same settings in the form that zones take.
    pub fn timing(&self) -> Timing {
        let ms = Span::from_millis;
        Timing {
            beacon: ms(self.beacon),
            lease: ms(self.lease),
            grace: ms(self.grace),
            patience: ms(self.patience),
            leave: ms(self.leave),
            ..Timing::default()
        }
    }
}

/// Settings of the log on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// Filter in the syntax of `tracing_subscriber`.
    pub filter: String,
    /// Text for people or JSON for programs.
    pub format: LogFormat,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Lines of text for people.
    Text,
    /// One JSON object per line.
    Json,
}

impl Default for ServerConfig {
    fn default() -> Self {
        toml::from_str(TEMPLATE).expect("a test reads the template")
    }
}

impl ServerConfig {
    /// The platform's defaults, overridden by the keys of a text.
    pub fn of_text(text: &str) -> anyhow::Result<Self> {
        ConfigTemplate::default().config(text)
    }

    pub(crate) fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.world.hosts.is_empty(), "world.hosts is empty: give at least one number");
        anyhow::ensure!(!self.world.hosts.contains(&0), "world.hosts: hosts are numbered from 1");
        let different: std::collections::BTreeSet<_> = self.world.hosts.iter().collect();
        anyhow::ensure!(different.len() == self.world.hosts.len(), "world.hosts names a host twice");
        anyhow::ensure!((10..=100_000).contains(&self.world.half), "world.half must be 10 to 100000 metres");
        anyhow::ensure!(
            (1..=ZONES_MAX).contains(&self.world.zones),
            "world.zones is {}: a world is cut into 1 to {ZONES_MAX} zones",
            self.world.zones
        );
        let timing = &self.timing;
        anyhow::ensure!(
            // So that one lost beacon does not end a lease.
            timing.beacon * 2 <= timing.lease
                && timing.lease <= timing.grace
                && timing.grace <= timing.patience,
            "timing: twice the beacon must fit into the lease, the lease into the grace, the grace into the patience"
        );
        anyhow::ensure!(0 < timing.beacon, "timing.beacon must be at least 1 ms");
        anyhow::ensure!(
            1_000 <= timing.leave,
            "timing.leave must be at least 1000 ms: connections break now and then"
        );
        self.carrier.check()?;
        self.check_lobby()?;
        self.check_host()
    }

    fn check_lobby(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            (0.001..=10_000.0).contains(&self.lobby.per_address),
            "lobby.per_address must be 0.001 to 10000 times a second"
        );
        anyhow::ensure!(
            (1..=QUEUE_MAX).contains(&self.lobby.queue_max),
            "lobby.queue_max must be 1 to {QUEUE_MAX}; to have no queue, set lobby.admission to false"
        );
        anyhow::ensure!(
            self.lobby.admission || self.lobby.players_max == 0,
            "lobby.players_max needs lobby.admission = true"
        );
        anyhow::ensure!(0 < self.lobby.burst, "lobby.burst must be at least 1, or no player can ever log in");
        Ok(())
    }

    fn check_host(&self) -> anyhow::Result<()> {
        let host = &self.host;
        anyhow::ensure!(0 < host.players_max, "host.players_max must be at least 1");
        anyhow::ensure!((1..=64).contains(&host.reactors), "host.reactors must be 1 to 64");
        for (key, at) in [("mesh", host.mesh), ("players", host.players), ("web", host.web)] {
            anyhow::ensure!(
                // 0.0.0.0 is an address to listen at, not one to tell others.
                host.announce.is_some() || !at.ip().is_unspecified(),
                "host.{key} is {}, to which no client can connect: give host.announce, the address that others are told",
                at.ip()
            );
        }
        if let Some(url) = &host.websocket {
            anyhow::ensure!(
                url.starts_with("ws://") || url.starts_with("wss://"),
                "host.websocket is {url:?}: give a whole address, such as wss://one.example.org/play"
            );
        }
        Ok(())
    }

    /// Folder of this host's logs, and of its note of calls that did not come back.
    pub fn host_folder(&self) -> PathBuf {
        self.data.join(format!("host-{}", self.host.id))
    }

    /// Folder of histories, if they are written.
    pub fn history(&self) -> Option<&Path> {
        (!self.history.as_os_str().is_empty()).then_some(&self.history)
    }
}

/// A configuration file as parsed TOML, before it is checked.
pub type ConfigTable = toml::Table;

/// Sets a key in a section of a configuration file.
pub fn set(table: &mut ConfigTable, section: &str, key: &str, value: impl Into<toml::Value>) {
    let section = table.entry(section).or_insert_with(|| toml::Value::Table(ConfigTable::new()));
    if let toml::Value::Table(section) = section {
        section.insert(key.to_owned(), value.into());
    }
}

pub(crate) fn override_with(whole: &mut toml::Table, given: toml::Table) {
    for (key, value) in given {
        match (whole.get_mut(&key), value) {
            // Sections are merged key by key; any other value is replaced.
            (Some(toml::Value::Table(inner)), toml::Value::Table(given)) => override_with(inner, given),
            (_, value) => drop(whole.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_holds_the_defaults_of_zone_and_lobby() {
        let config = ServerConfig::default();
        assert_eq!(config.lobby.admission(), AdmissionSettings::default());
        assert_eq!(config.timing.timing(), Timing::default());
        assert_eq!(ServerConfig::of_text("").unwrap(), config);
    }

    #[test]
    fn a_file_overrides_only_the_keys_it_holds() {
        let config =
            ServerConfig::of_text("data = \"elsewhere\"\n[host]\nid = 2\ndurability = \"synced\"").unwrap();
        assert_eq!((config.host.id, config.host.durability), (2, DurabilitySetting::Synced));
        assert_eq!(config.data, Path::new("elsewhere"));
        assert_eq!(config.host.players_max, ServerConfig::default().host.players_max);
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| ServerConfig::of_text(text).unwrap_err().to_string();
        assert!(why("[host]\nidd = 2").contains("idd"));
        assert!(why("[host]\nid = \"two\"").contains("id"));
        assert!(why("[world]\nhosts = []").contains("world.hosts"));
        for zones in ["0", "257"] {
            assert!(why(&format!("[world]\nzones = {zones}")).contains("1 to 256"));
        }
        assert!(why("[world]\nzones = -1").contains("zones"));
        assert!(why("[timing]\ngrace = 10").contains("timing"));
        for (text, named) in [
            ("[lobby]\nburst = 0", "lobby.burst"),
            ("[lobby]\nper_address = inf", "lobby.per_address"),
            ("[lobby]\nqueue_max = 0", "lobby.queue_max"),
            ("[lobby]\nadmission = false\nplayers_max = 5", "lobby.admission"),
            ("[lobby]\nper_address = 0.0", "lobby.per_address"),
            ("[host]\nplayers_max = 0", "host.players_max"),
            ("[host]\nplayers = \"0.0.0.0:4433\"", "host.announce"),
            ("[host]\nwebsocket = \"one.example.org\"", "wss://"),
            ("[world]\nhosts = [1, 1]", "twice"),
            ("[carrier]\ninterval = 10000000000000000", "carrier"),
            ("[carrier]\nbytes_per_second = 999", "carrier.bytes_per_second"),
            ("[carrier]\nbytes_per_second = -1", "bytes_per_second"),
            ("[carrier]\nburst = 6399", "at least 6400"),
            ("[carrier]\ntick = 1000", "carrier.burst must be at least 64000"),
            ("[carrier]\nangle = 400.0", "between 0 and 360 degrees"),
            ("[carrier]\ncritical = 61.0", "must not exceed the view distance"),
            ("[carrier]\nview = -1.0", "carrier.view"),
            ("[carrier]\npolicy = \"field-of-view\"\nangle = -1.0", "between 0 and 360 degrees"),
            ("[timing]\nleave = 0", "timing.leave"),
        ] {
            assert!(why(text).contains(named), "{text}: {}", why(text));
        }
    }

    #[test]
    fn a_policy_ignores_the_numbers_that_it_does_not_use() {
        for policy in ["circle", "everything"] {
            let text = format!("[carrier]\npolicy = \"{policy}\"\ncritical = 61.0\nangle = 400.0");
            assert!(ServerConfig::of_text(&text).is_ok(), "{policy}");
        }
    }

    #[test]
    fn a_player_may_have_a_budget_or_none() {
        let budget = |text: &str| ServerConfig::of_text(text).unwrap().carrier.budget();
        assert_eq!(budget(""), Some(Budget { bytes_per_second: 64_000, burst: 16_000 }));
        assert_eq!(budget("[carrier]\nbytes_per_second = 0"), None);
        // Without a limit the burst does not matter.
        assert_eq!(budget("[carrier]\nbytes_per_second = 0\nburst = 0\ntick = 5000"), None);
    }

    #[test]
    fn a_host_may_announce_another_address_than_it_listens_at() {
        let config = ServerConfig::of_text(
            "[host]\nplayers = \"0.0.0.0:4433\"\nannounce = \"203.0.113.7\"\nwebsocket = \"wss://one.example.org/play\"",
        );
        assert_eq!(config.unwrap().host.announce, Some([203, 0, 113, 7].into()));
    }
}

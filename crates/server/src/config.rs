//! Every knob, from one file. The defaults are the file that `ecumene config print` shows.

use anyhow::Context as _;
use interest::Budget;
use machine::Span;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use zone::{Durability, Timing};

/// The most zones a world is founded with: each is a thread and a disk on every host.
pub const ZONES_MAX: u32 = 256;

/// The defaults, with what they mean.
pub const TEMPLATE: &str = include_str!("config.toml");

/// Everything that can be chosen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where everything is kept.
    pub data: PathBuf,
    /// Where histories are written; empty for nowhere.
    pub history: PathBuf,
    /// A new world.
    pub world: WorldConfig,
    /// The directory.
    pub directory: Listen,
    /// The lobby.
    pub lobby: LobbyConfig,
    /// A host.
    pub host: HostConfig,
    /// Who hears of whom.
    pub carrier: CarrierConfig,
    /// When things happen by themselves.
    pub timing: TimingConfig,
    /// What is logged.
    pub log: LogConfig,
}

/// A new world.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldConfig {
    /// Metres from its middle to its sides.
    pub half: u32,
    /// How many zones it is cut into.
    pub zones: u32,
    /// Where its chance starts.
    pub seed: u64,
    /// The hosts that may hold it.
    pub hosts: Vec<u32>,
}

/// Where something listens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// The address.
    pub listen: SocketAddr,
}

/// The lobby.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LobbyConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How often one address may come in per second; for sessions it may ask 50 times as often.
    pub per_address: f64,
    /// How often at once, after a silence; likewise.
    pub burst: u32,
    /// Proxies that are believed when they say for whom they ask.
    pub proxies: Vec<IpAddr>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Its number.
    pub id: u32,
    /// Where other hosts find it.
    pub mesh: SocketAddr,
    /// Where players find it, by QUIC and WebTransport.
    pub players: SocketAddr,
    /// Where players find it, by WebSocket.
    pub web: SocketAddr,
    /// The address that others are told, if it is not the one it listens at.
    pub announce: Option<IpAddr>,
    /// Where players are told to find it by WebSocket, if not at `web`.
    pub websocket: Option<String>,
    /// Proxies before `web` that are believed when they say for whom they ask.
    pub proxies: Vec<IpAddr>,
    /// The most players at once.
    pub players_max: usize,
    /// How announcements wait for disks.
    pub durability: DurabilityName,
    /// Whether it goes on alone after a full stop.
    pub force: bool,
}

/// [`Durability`], as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurabilityName {
    /// Both disks first.
    Synced,
    /// Both disks soon after.
    Batched,
    /// When there is time.
    Lazy,
}

impl From<DurabilityName> for Durability {
    fn from(it: DurabilityName) -> Self {
        match it {
            DurabilityName::Synced => Self::Synced,
            DurabilityName::Batched => Self::Batched,
            DurabilityName::Lazy => Self::Lazy,
        }
    }
}

/// Who hears of whom.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarrierConfig {
    /// The policy.
    pub policy: PolicyName,
    /// Metres.
    pub view: f64,
    /// Metres.
    pub critical: f64,
    /// Degrees.
    pub angle: f64,
    /// Milliseconds.
    pub interval: u64,
    /// Milliseconds.
    pub tick: u64,
    /// Bytes of poses that one player gets; 0 is no limit.
    pub bytes_per_second: u32,
    /// Bytes that are saved up.
    pub burst: u32,
}

/// With less than this a player hears of one avatar or two a second: rather a mistake in the unit than a wish.
const BYTES_PER_SECOND_MIN: u32 = 1_000;

impl CarrierConfig {
    /// What a player may get, if that is limited.
    pub fn budget(&self) -> Option<Budget> {
        let Self { bytes_per_second, burst, .. } = *self;
        (0 < bytes_per_second).then_some(Budget { bytes_per_second, burst })
    }

    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            (1..=60_000).contains(&self.interval) && (1..=60_000).contains(&self.tick),
            "carrier: times must be 1 ms to a minute"
        );
        let Some(budget) = self.budget() else { return Ok(()) };
        anyhow::ensure!(
            BYTES_PER_SECOND_MIN <= budget.bytes_per_second,
            "carrier.bytes_per_second must be at least {BYTES_PER_SECOND_MIN}, or 0 for no limit"
        );
        let per_tick = (u64::from(budget.bytes_per_second) * self.tick).div_ceil(1_000);
        anyhow::ensure!(
            per_tick <= u64::from(budget.burst),
            "carrier.burst must be at least {per_tick}, what {} bytes per second make in {} ms: the rest would be lost",
            budget.bytes_per_second,
            self.tick
        );
        Ok(())
    }
}

/// An interest policy, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// Graded by distance and direction.
    A3,
    /// All within a circle.
    Circle,
    /// Graded by distance.
    CircleAttenuated,
    /// All within a sector.
    FieldOfView,
    /// All.
    Everything,
}

/// When things happen by themselves, in milliseconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// Between two beacons.
    pub beacon: u64,
    /// Until a primary stops sending poses.
    pub lease: u64,
    /// Until a backup asks.
    pub grace: u64,
    /// Until a primary wants to go on alone.
    pub patience: u64,
    /// Until a player without a connection leaves.
    pub leave: u64,
}

impl TimingConfig {
    /// As zones know it.
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

/// What is logged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// Which things.
    pub filter: String,
    /// How.
    pub format: LogFormat,
}

/// How logs look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

impl Default for Config {
    fn default() -> Self {
        toml::from_str(TEMPLATE).expect("a test reads the template")
    }
}

impl Config {
    /// The defaults, overridden by a file where it says something.
    pub fn load(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::of_text(&text).with_context(|| format!("in {}", path.display()))
    }

    /// The defaults, overridden by a text where it says something.
    pub fn of_text(text: &str) -> anyhow::Result<Self> {
        let mut whole: toml::Table = toml::from_str(TEMPLATE).expect("a test reads the template");
        let given: toml::Table = toml::from_str(text)?;
        override_with(&mut whole, given);
        let config: Self = whole.try_into()?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(!self.world.hosts.is_empty(), "world.hosts names nobody: give at least one number");
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
            timing.beacon * 2 <= timing.lease
                && timing.lease <= timing.grace
                && timing.grace <= timing.patience,
            "timing: twice the beacon must fit into the lease, the lease into the grace, the grace into the patience"
        );
        anyhow::ensure!(0 < timing.beacon, "timing.beacon must be at least 1 ms");
        anyhow::ensure!(
            1_000 <= timing.leave,
            "timing.leave must be at least 1000 ms: lines break now and then"
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
        anyhow::ensure!(0 < self.lobby.burst, "lobby.burst must be at least 1, or nobody ever comes in");
        Ok(())
    }

    fn check_host(&self) -> anyhow::Result<()> {
        let host = &self.host;
        anyhow::ensure!(0 < host.players_max, "host.players_max must be at least 1");
        for (knob, at) in [("mesh", host.mesh), ("players", host.players), ("web", host.web)] {
            anyhow::ensure!(
                host.announce.is_some() || !at.ip().is_unspecified(),
                "host.{knob} is {}, which nobody can call: say in host.announce which address others are to be told",
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

    /// Where histories are written, if anywhere.
    pub fn history(&self) -> Option<&Path> {
        (!self.history.as_os_str().is_empty()).then_some(&self.history)
    }
}

/// A configuration file, before it is understood.
pub type Table = toml::Table;

/// Sets a knob in a section of a file.
pub fn set(table: &mut Table, section: &str, knob: &str, value: impl Into<toml::Value>) {
    let section = table.entry(section).or_insert_with(|| toml::Value::Table(Table::new()));
    if let toml::Value::Table(section) = section {
        section.insert(knob.to_owned(), value.into());
    }
}

fn override_with(whole: &mut toml::Table, given: toml::Table) {
    for (key, value) in given {
        match (whole.get_mut(&key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(given)) => override_with(inner, given),
            (_, value) => drop(whole.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_says_what_the_zone_does_by_default() {
        let config = Config::default();
        assert_eq!(config.timing.timing(), Timing::default());
        assert_eq!(Config::of_text("").unwrap(), config);
    }

    #[test]
    fn a_file_says_only_what_differs() {
        let config =
            Config::of_text("data = \"elsewhere\"\n[host]\nid = 2\ndurability = \"synced\"").unwrap();
        assert_eq!((config.host.id, config.host.durability), (2, DurabilityName::Synced));
        assert_eq!(config.data, Path::new("elsewhere"));
        assert_eq!(config.host.players_max, Config::default().host.players_max);
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| Config::of_text(text).unwrap_err().to_string();
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
            ("[timing]\nleave = 0", "timing.leave"),
        ] {
            assert!(why(text).contains(named), "{text}: {}", why(text));
        }
    }

    #[test]
    fn what_a_player_gets_may_be_limited_or_not() {
        let budget = |text: &str| Config::of_text(text).unwrap().carrier.budget();
        assert_eq!(budget(""), Some(Budget { bytes_per_second: 64_000, burst: 16_000 }));
        assert_eq!(budget("[carrier]\nbytes_per_second = 0"), None);
        // Whoever sets no limit need not think of what is saved up.
        assert_eq!(budget("[carrier]\nbytes_per_second = 0\nburst = 0\ntick = 5000"), None);
    }

    #[test]
    fn a_host_may_be_known_by_another_address_than_it_listens_at() {
        let config = Config::of_text(
            "[host]\nplayers = \"0.0.0.0:4433\"\nannounce = \"203.0.113.7\"\nwebsocket = \"wss://one.example.org/play\"",
        );
        assert_eq!(config.unwrap().host.announce, Some([203, 0, 113, 7].into()));
    }
}

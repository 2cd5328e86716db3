//! Faults in a world of real processes while bots play; the histories of all of them are checked afterwards.

use crate::cluster::{Cluster, ClusterOptions};
use crate::crowd::{BotCrowd, CrowdOptions, CrowdReport, MIXED};
use crate::{InvalidOptions, TestedGame};
use anyhow::{Context as _, Result, bail};
use client::{Header, HistoryWriter, Transport, WorldHealth};
use rustix::process::Signal;
use serde::Serialize;
use simtest::Scenario;
use simtest::histories::{self, HistoryReport};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time that the world may take to recover. Generous: nothing is measured here.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(60);

const LONG_TIMEOUTS: &str = "\
[host]
durability = \"synced\"
[timing]
beacon = 100
lease = 800
grace = 1500
patience = 2000
leave = 60000
";

/// Answers that bots must get between two faults.
const ANSWERS: u64 = 20;

/// A fault in a world of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessFault {
    /// Kill the host that leads the most zones (kill -9), and start it again.
    Kill,
    /// Freeze the leading host until another has taken over, then let it continue: it must find out.
    Freeze,
    /// Kill the control plane, let the world go on without it, and start it again.
    Directory,
    /// Tell the leading host to leave, and start it again: it hands over first.
    Leave,
    /// Kill all processes at once, and start them again.
    Everything,
}

/// The options of a run with faults.
#[derive(Clone, Debug)]
pub struct ChaosOptions {
    /// Folder of the world: it must not exist, or hold a world of an earlier run, which is removed.
    pub data: PathBuf,
    /// Configuration file in place of the default with long timeouts.
    pub config: Option<PathBuf>,
    /// Folder of histories, if not within the world's folder.
    pub history: Option<PathBuf>,
    /// Faults of one round, in this order.
    pub troubles: Vec<ProcessFault>,
    /// Number of rounds through all faults.
    pub rounds: u32,
    /// Number of bots that play.
    pub bots: usize,
    /// Number of zones of the world.
    pub zones: u32,
    /// Transport of the bots' connections.
    pub transport: Transport,
}

impl ChaosOptions {
    /// The folder of the histories.
    pub fn history(&self) -> PathBuf {
        self.history.clone().unwrap_or_else(|| self.data.join("history"))
    }
}

/// The result of a run with faults.
#[derive(Debug, Serialize)]
pub struct ChaosReport {
    /// Number of faults in all rounds.
    pub troubles: u32,
    /// Measurements of the bots that played.
    #[serde(flatten)]
    pub crowd: CrowdReport,
    /// Number of records in the histories.
    pub records: u64,
    /// Number of times another host took over a zone.
    pub failovers: u64,
    /// Number of times a replica was started again.
    pub restarts: u64,
    /// Number of full stops after which records were rolled back.
    pub rolled_back: u64,
    /// Violations that the checkers found, empty if the run is good.
    pub violations: Vec<String>,
}

/// Injects faults into a world while bots play, and checks the histories; `begins` is called before each fault.
pub async fn run(
    options: &ChaosOptions,
    game: Arc<dyn TestedGame>,
    begins: impl Fn(ProcessFault),
) -> Result<ChaosReport> {
    let cluster_options = prepare(options)?;
    let crowd = inject_faults(options, Arc::clone(&game), cluster_options, begins).await?;
    check(options, game.scenario(), crowd)
}

/// Makes a new folder for the world, with its configuration.
fn prepare(options: &ChaosOptions) -> Result<ClusterOptions> {
    let data = options.data.clone();
    let marker = data.join("chaos.toml");
    // The marker shows that an earlier run made the folder; any other one is not ours to remove.
    if data.exists() && !marker.exists() {
        bail!(InvalidOptions(format!("{} exists and is not a world of this command", data.display())));
    }
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    std::fs::create_dir_all(&data)?;
    std::fs::write(&marker, config_text(options.config.as_deref(), options.zones)?)?;
    Ok(ClusterOptions {
        data,
        config: Some(marker),
        history: Some(options.history()),
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: vec![1, 2, 3],
        program: None,
        environment: Vec::new(),
    })
}

/// Long timeouts, so that a busy computer is not taken for a dead host, and synced disks, so that killing everything at
/// once may lose nothing at all, however slow they are. The settings of a given file win.
fn config_text(given: Option<&Path>, zones: u32) -> Result<String> {
    let given = match given {
        Some(path) => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => LONG_TIMEOUTS.to_owned(),
    };
    let mut table: server::config::ConfigTable = given.parse()?;
    // All bots log in from one address.
    server::config::set(&mut table, "lobby", "per_address", 1_000.0);
    server::config::set(&mut table, "lobby", "burst", 100_000_i64);
    server::config::set(&mut table, "world", "zones", i64::from(zones));
    Ok(table.to_string())
}

async fn inject_faults(
    options: &ChaosOptions,
    game: Arc<dyn TestedGame>,
    cluster_options: ClusterOptions,
    begins: impl Fn(ProcessFault),
) -> Result<CrowdReport> {
    // The last host starts when all bots are in: they must find it by themselves once it leads. Unless a zone must be
    // founded by it.
    let (&last, others) = cluster_options.hosts.split_last().context("there are no hosts")?;
    let comes_late = options.zones as usize <= others.len();
    let hosts = if comes_late { others.to_vec() } else { cluster_options.hosts.clone() };
    let mut cluster = Cluster::start(ClusterOptions { hosts, ..cluster_options.clone() }).await?;
    let mut crowd = BotCrowd::enter(CrowdOptions {
        game,
        lobby: cluster.lobby().to_string(),
        count: options.bots,
        behaviour: MIXED.to_owned(),
        transport: options.transport,
        history: HistoryWriter::begin(Some(&options.history()), &Header::of("bots"), net::clock::now)?,
        seed: 1,
        pace: None,
    })
    .await?;
    if comes_late {
        cluster.start_host(last)?;
    }
    crowd.measure().await;
    for _ in 0..options.rounds {
        for &fault in &options.troubles {
            until_answered(&crowd, "before").await?;
            begins(fault);
            cluster = inject(cluster, &cluster_options, &crowd, fault).await?;
        }
    }
    until_answered(&crowd, "at the end").await?;
    cluster.until_backed_up().await?;
    let report = crowd.finish().await;
    cluster.leave().await?;
    Ok(report)
}

/// Waits until the bots have got some more answers.
async fn until_answered(crowd: &BotCrowd, when: &str) -> Result<()> {
    let (before, deadline) = (crowd.acked(), tokio::time::Instant::now() + RECOVERY_TIMEOUT);
    while crowd.acked() < before + ANSWERS {
        if deadline < tokio::time::Instant::now() {
            bail!("{when}, no bot was answered for {RECOVERY_TIMEOUT:?}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn inject(
    mut cluster: Cluster,
    options: &ClusterOptions,
    crowd: &BotCrowd,
    fault: ProcessFault,
) -> Result<Cluster> {
    cluster.until_backed_up().await?;
    let primary = cluster.primary().await.context("no host leads a zone")?;
    // Also as a backup: the entry of a zone names a dead backup until its primary has given it up, and a fault that hits
    // that primary meanwhile would be a second failure at once, which no zone with two replicas can survive.
    let replaced = |it: &WorldHealth| {
        it.zones.iter().all(|it| it.primary.is_some_and(|it| it != primary) && it.backup != Some(primary))
    };
    match fault {
        ProcessFault::Kill => {
            cluster.kill(primary).await?;
            cluster.until(RECOVERY_TIMEOUT, "other hosts hold every zone", replaced).await?;
            cluster.start_host(primary)?;
        }
        ProcessFault::Freeze => {
            cluster.signal(primary, Signal::STOP)?;
            let taken_over = cluster.until(RECOVERY_TIMEOUT, "other hosts hold every zone", replaced).await;
            until_answered(crowd, "with a frozen host").await?;
            // Whatever happened, the host must run again before an error may end the test.
            cluster.signal(primary, Signal::CONT)?;
            taken_over?;
        }
        ProcessFault::Directory => {
            cluster.kill_control_plane().await?;
            until_answered(crowd, "without a directory").await?;
            cluster.restart_control_plane().await?;
        }
        ProcessFault::Leave => {
            cluster.stop_host(primary).await?;
            cluster.until(RECOVERY_TIMEOUT, "other hosts hold every zone", replaced).await?;
            cluster.start_host(primary)?;
        }
        ProcessFault::Everything => {
            let (lobby, before) =
                (cluster.lobby(), cluster.health().await.context("the lobby does not answer")?);
            cluster.kill_all().await?;
            cluster = Cluster::start(ClusterOptions { lobby, ..options.clone() }).await?;
            // The entries of before are still there: only a new epoch says that a zone has recovered.
            let epochs: BTreeMap<u32, Option<u32>> =
                before.zones.iter().map(|it| (it.zone, it.epoch)).collect();
            let recovered =
                |it: &WorldHealth| it.zones.iter().all(|it| epochs.get(&it.zone) < Some(&it.epoch));
            cluster.until(RECOVERY_TIMEOUT, "every zone has recovered", recovered).await?;
        }
    }
    until_answered(crowd, "afterwards").await?;
    Ok(cluster)
}

fn check(options: &ChaosOptions, scenario: &dyn Scenario, crowd: CrowdReport) -> Result<ChaosReport> {
    let read = histories::read(&options.history())?;
    let HistoryReport { records, counts, violations, .. } = read.check(scenario)?;
    let text = |it: &simtest::Violation| format!("{}: {}", it.invariant, it.detail);
    Ok(ChaosReport {
        troubles: options.rounds * options.troubles.len() as u32,
        records,
        failovers: counts.failovers,
        restarts: counts.restarts,
        rolled_back: counts.rolled_back,
        violations: violations.iter().map(text).collect(),
        crowd,
    })
}

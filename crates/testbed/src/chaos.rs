//! Troubles for a world of real processes while bots play; the histories that all of them wrote are judged afterwards.

use crate::cluster::{Cluster, ClusterOptions};
use crate::crowd::{Crowd, CrowdOptions, CrowdReport, MIXED};
use crate::{Refused, TestedGame};
use anyhow::{Context as _, Result, bail};
use client::{Header, HistoryWriter, Transport};
use rustix::process::Signal;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use trial::Scenario;
use trial::histories::{self, Verdict};

/// How long the world may take to get over something. Generous: nothing is measured here.
const WITHIN: Duration = Duration::from_secs(60);

const PATIENT: &str = "\
[host]
durability = \"synced\"
[timing]
beacon = 100
lease = 800
grace = 1500
patience = 2000
leave = 60000
";

/// How much must be answered between two troubles.
const ANSWERS: u64 = 20;

/// What can be done to a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Kill the host that decides in the most zones (kill -9), and start it again.
    Kill,
    /// Freeze the host that decides until another has taken over, then let it go on: it must find out.
    Freeze,
    /// Kill the directory and lobby, let the world go on without, and start them again.
    Directory,
    /// Tell the host that decides to leave, and start it again: it hands over first.
    Leave,
    /// Kill everything at once, and start everything again.
    Everything,
}

/// What is done to which world.
#[derive(Clone, Debug)]
pub struct ChaosOptions {
    /// The folder of the world: it must not exist, or hold a world of an earlier run, which is removed.
    pub data: PathBuf,
    /// A configuration instead of the patient one.
    pub config: Option<PathBuf>,
    /// Where histories are written, if not in the world's folder.
    pub history: Option<PathBuf>,
    /// Troubles, in this order.
    pub troubles: Vec<Trouble>,
    /// How often all of them.
    pub rounds: u32,
    /// How many bots play.
    pub bots: usize,
    /// How many zones the world has.
    pub zones: u32,
    /// How bots connect.
    pub transport: Transport,
}

impl ChaosOptions {
    /// The folder of the histories.
    pub fn history(&self) -> PathBuf {
        self.history.clone().unwrap_or_else(|| self.data.join("history"))
    }
}

/// What came of it.
#[derive(Debug, Serialize)]
pub struct ChaosReport {
    /// How many troubles there were.
    pub troubles: u32,
    /// What the bots experienced.
    #[serde(flatten)]
    pub crowd: CrowdReport,
    /// Records in the histories.
    pub records: u64,
    /// How often another host took over a zone.
    pub failovers: u64,
    /// How often a replica started again.
    pub restarts: u64,
    /// Full stops after which something was rolled back.
    pub rolled_back: u64,
    /// Violations that the judges found. Empty is good.
    pub violations: Vec<String>,
}

/// Breaks a world in every way asked for while bots play, and judges the histories; `begins` is called before each
/// trouble.
pub async fn run(
    options: &ChaosOptions,
    game: Arc<dyn TestedGame>,
    begins: impl Fn(Trouble),
) -> Result<ChaosReport> {
    let cluster_options = prepared(options)?;
    let crowd = torment(options, Arc::clone(&game), cluster_options, begins).await?;
    judged(options, game.scenario(), crowd)
}

/// Makes a new folder for the world, with its configuration.
fn prepared(options: &ChaosOptions) -> Result<ClusterOptions> {
    let data = options.data.clone();
    let marker = data.join("chaos.toml");
    if data.exists() && !marker.exists() {
        bail!(Refused(format!("{} exists and is not a world of this command", data.display())));
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
    })
}

/// Patient timers, so that a busy machine is not taken for a dead host, and disks that are waited for, so that killing
/// everything at once may cost nothing at all, however slow they are. Whatever a file says wins.
fn config_text(given: Option<&Path>, zones: u32) -> Result<String> {
    let given = match given {
        Some(path) => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => PATIENT.to_owned(),
    };
    let mut table: server::config::Table = given.parse()?;
    server::config::set(&mut table, "lobby", "per_address", 1_000.0);
    server::config::set(&mut table, "lobby", "burst", 100_000_i64);
    server::config::set(&mut table, "world", "zones", i64::from(zones));
    Ok(table.to_string())
}

async fn torment(
    options: &ChaosOptions,
    game: Arc<dyn TestedGame>,
    cluster_options: ClusterOptions,
    begins: impl Fn(Trouble),
) -> Result<CrowdReport> {
    // The last host comes when all bots are in: they must find it by themselves when it decides. Unless a zone waits to
    // be founded by it.
    let (&last, others) = cluster_options.hosts.split_last().context("there are no hosts")?;
    let comes_late = options.zones as usize <= others.len();
    let hosts = if comes_late { others.to_vec() } else { cluster_options.hosts.clone() };
    let mut cluster = Cluster::start(ClusterOptions { hosts, ..cluster_options.clone() }).await?;
    let mut crowd = Crowd::enter(CrowdOptions {
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
        for &trouble in &options.troubles {
            goes_on(&crowd, "before").await?;
            begins(trouble);
            cluster = befall(cluster, &cluster_options, &crowd, trouble).await?;
        }
    }
    goes_on(&crowd, "at the end").await?;
    cluster.until_protected().await?;
    let report = crowd.finish().await;
    cluster.leave().await?;
    Ok(report)
}

/// Waits until the bots have got some more answers.
async fn goes_on(crowd: &Crowd, when: &str) -> Result<()> {
    let (before, deadline) = (crowd.acked(), tokio::time::Instant::now() + WITHIN);
    while crowd.acked() < before + ANSWERS {
        if deadline < tokio::time::Instant::now() {
            bail!("{when}, nobody was answered for {WITHIN:?}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn befall(
    mut cluster: Cluster,
    options: &ClusterOptions,
    crowd: &Crowd,
    trouble: Trouble,
) -> Result<Cluster> {
    cluster.until_protected().await?;
    let primary = cluster.primary().await.context("nobody reigns")?;
    let another = |it: &client::Health| it.zones.iter().all(|it| it.primary.is_some_and(|it| it != primary));
    match trouble {
        Trouble::Kill => {
            cluster.kill(primary).await?;
            cluster.until(WITHIN, "another host reigns", another).await?;
            cluster.start_host(primary)?;
        }
        Trouble::Freeze => {
            cluster.signal(primary, Signal::STOP)?;
            let taken_over = cluster.until(WITHIN, "another host reigns", another).await;
            goes_on(crowd, "with a frozen host").await?;
            cluster.signal(primary, Signal::CONT)?;
            taken_over?;
        }
        Trouble::Directory => {
            cluster.kill_seat().await?;
            goes_on(crowd, "without a directory").await?;
            cluster.start_seat_again().await?;
        }
        Trouble::Leave => {
            cluster.leave_one(primary).await?;
            cluster.until(WITHIN, "another host reigns", another).await?;
            cluster.start_host(primary)?;
        }
        Trouble::Everything => {
            let lobby = cluster.lobby();
            cluster.kill_all().await?;
            cluster = Cluster::start(ClusterOptions { lobby, ..options.clone() }).await?;
        }
    }
    goes_on(crowd, "afterwards").await?;
    Ok(cluster)
}

fn judged(options: &ChaosOptions, scenario: &dyn Scenario, crowd: CrowdReport) -> Result<ChaosReport> {
    let read = histories::read(&options.history())?;
    let Verdict { records, tally, violations, .. } = read.judged(scenario)?;
    let told = |it: &trial::Violation| format!("{}: {}", it.invariant, it.detail);
    Ok(ChaosReport {
        troubles: options.rounds * options.troubles.len() as u32,
        records,
        failovers: tally.failovers,
        restarts: tally.restarts,
        rolled_back: tally.rolled_back,
        violations: violations.iter().map(told).collect(),
        crowd,
    })
}

//! `ecumene chaos`: a world of real processes is broken on purpose while bots play, and what everybody wrote down is
//! judged.

use super::bots::Format;
use super::cluster::{Cluster, ClusterOptions};
use super::crowd::{Crowd, CrowdOptions, CrowdReport};
use super::{ConfigArgs, block_on};
use crate::{Failure, print, say};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use client::{Book, Transport};
use rustix::process::Signal;
use serde::Serialize;
use server::config::ZONES_MAX;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
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

/// Breaks a world of real processes in every way below while bots play, then judges what everybody wrote down. Exit
/// code 0 means that nothing acknowledged was lost or done twice, and nothing else was violated either.
#[derive(Args)]
#[command(after_help = "\
Examples:
  ecumene chaos                                   everything once, 50 bots
  ecumene chaos --trouble kill,freeze --rounds 5  some of it, five times

It makes a world of its own in DIR, which must not exist or be a world of this command.
More: docs/operating.md")]
pub struct ChaosArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// What to do to it, in this order
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["kill", "freeze", "directory", "leave", "everything"])]
    trouble: Vec<Trouble>,
    /// How often
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// How many bots play
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    bots: u32,
    /// How many zones the world has
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(ZONES_MAX)))]
    zones: u32,
    /// Bots connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// What can be done to a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Trouble {
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

#[derive(Serialize)]
struct ChaosReport {
    troubles: u32,
    #[serde(flatten)]
    crowd: CrowdReport,
    records: u64,
    failovers: u64,
    restarts: u64,
    rolled_back: u64,
    violations: Vec<String>,
}

/// Runs `ecumene chaos`.
pub fn run(args: &ChaosArgs) -> Result<(), Failure> {
    let data = args.config.data.clone().unwrap_or_else(|| PathBuf::from("out/chaos"));
    let marker = data.join("chaos.toml");
    if data.exists() && !marker.exists() {
        return Err(Failure::Asked(format!("{} exists and is not a world of this command", data.display())));
    }
    if data.exists() {
        std::fs::remove_dir_all(&data)?;
    }
    std::fs::create_dir_all(&data)?;
    std::fs::write(&marker, config_text(args.config.config.as_deref(), args.zones)?)?;
    let history = args.config.history.clone().unwrap_or_else(|| data.join("history"));
    let options = ClusterOptions {
        data,
        config: Some(marker),
        history: Some(history.clone()),
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: vec![1, 2, 3],
    };
    let crowd = block_on(torment(args, options, &history))?;
    judge(args, crowd, &history)
}

/// Patient timers, so that a busy machine is not taken for a dead host, and disks that are waited for, so that killing
/// everything at once may cost nothing at all, however slow they are. Whatever a file says wins.
fn config_text(given: Option<&Path>, zones: u32) -> Result<String, Failure> {
    let given = match given {
        Some(path) => {
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
        }
        None => PATIENT.to_owned(),
    };
    let mut table: server::config::Table = given.parse().map_err(anyhow::Error::from)?;
    server::config::set(&mut table, "lobby", "per_address", 1_000.0);
    server::config::set(&mut table, "lobby", "burst", 100_000_i64);
    server::config::set(&mut table, "world", "zones", i64::from(zones));
    Ok(table.to_string())
}

async fn torment(args: &ChaosArgs, options: ClusterOptions, history: &Path) -> Result<CrowdReport, Failure> {
    // The last host comes when everybody is in: players must find it by themselves when it decides. Unless a zone waits
    // to be founded by it.
    let (&last, others) = options.hosts.split_last().context("there are no hosts")?;
    let comes_late = args.zones as usize <= others.len();
    let hosts = if comes_late { others.to_vec() } else { options.hosts.clone() };
    let mut cluster = Cluster::start(ClusterOptions { hosts, ..options.clone() }).await?;
    let transport = if args.web_socket { Transport::WebSocket } else { Transport::Quic };
    let mut crowd = Crowd::enter(CrowdOptions {
        lobby: cluster.lobby().to_string(),
        count: args.bots as usize,
        behaviour: "mixed".to_owned(),
        transport,
        book: Book::begin(history, "bots")?,
        seed: 1,
        pace: None,
    })
    .await?;
    if comes_late {
        cluster.start_host(last)?;
    }
    crowd.measure().await;
    for _ in 0..args.rounds {
        for &trouble in &args.trouble {
            goes_on(&crowd, "before").await?;
            if args.format == Format::Table {
                say(&format!("{trouble:?} …"));
            }
            cluster = befall(cluster, &options, &crowd, trouble).await?;
        }
    }
    goes_on(&crowd, "at the end").await?;
    cluster.until_protected().await?;
    let report = crowd.finish().await;
    cluster.leave().await?;
    Ok(report)
}

/// Waits until the bots have got some more answers.
async fn goes_on(crowd: &Crowd, when: &str) -> Result<(), Failure> {
    let (before, deadline) = (crowd.acked(), tokio::time::Instant::now() + WITHIN);
    while crowd.acked() < before + ANSWERS {
        if deadline < tokio::time::Instant::now() {
            return Err(anyhow::anyhow!("{when}, nobody was answered for {WITHIN:?}").into());
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
) -> Result<Cluster, Failure> {
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

fn judge(args: &ChaosArgs, crowd: CrowdReport, history: &Path) -> Result<(), Failure> {
    let read = histories::read(history).map_err(anyhow::Error::from)?;
    let Verdict { records, tally, violations, .. } = read.judged().map_err(anyhow::Error::from)?;
    let told = |it: &trial::Violation| format!("{}: {}", it.invariant, it.detail);
    let report = ChaosReport {
        troubles: args.rounds * args.trouble.len() as u32,
        records,
        failovers: tally.failovers,
        restarts: tally.restarts,
        rolled_back: tally.rolled_back,
        violations: violations.iter().map(told).collect(),
        crowd,
    };
    match args.format {
        Format::Json => print(&format!("{}\n", serde_json::to_string(&report)?))?,
        Format::Table => print(&format!(
            "{}judged    {} records, {} failovers, {} restarts, {} violations\n",
            super::bots::table(&report.crowd),
            report.records,
            report.failovers,
            report.restarts,
            report.violations.len()
        ))?,
    }
    if let Some(first) = report.violations.first() {
        let folder = history.display();
        return Err(anyhow::anyhow!("{first}; `ecumene check {folder}` shows what was around it").into());
    }
    match report.crowd.errors {
        0 => Ok(()),
        errors => Err(anyhow::anyhow!("{errors} actions were never answered, or sessions lost").into()),
    }
}

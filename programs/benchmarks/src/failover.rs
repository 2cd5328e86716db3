//! How long no player is answered after the deciding host was killed, on real processes.

use anyhow::{Context as _, Result, bail};
use client::{HistoryWriter, Lobby, Stay, StayOptions, Transport};
use machine::Time;
use net::dial::Dialer;
use node::Client as Node;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use testbed::TestedGame;
use testbed::cluster::{Cluster, ClusterOptions, forget};
use tokio::sync::mpsc;
use zone::{Happening, Outcome, Want};

/// How many players try to act all the time.
const PROBES: usize = 8;

/// How often each acts.
const ACT_EVERY: Duration = Duration::from_millis(20);

/// How long a failover may take before it counts as none.
const WITHIN: Duration = Duration::from_secs(20);

/// What is measured.
#[derive(Clone, Debug)]
pub struct FailoverOptions {
    /// How many kills.
    pub kills: u32,
    /// The folder of the world meanwhile. A world that is there is removed first.
    pub data: PathBuf,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Report {
    /// Milliseconds from each kill to the first action done.
    pub millis: Vec<f64>,
}

impl Report {
    /// The smallest sample that this part of all samples does not exceed.
    fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.millis.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len()) - 1]
    }

    /// The report for programs.
    pub fn json(&self) -> serde_json::Value {
        let rounded: Vec<f64> = self.millis.iter().map(|it| (it * 10.0).round() / 10.0).collect();
        serde_json::json!({
            "bench": "failover",
            "kills": self.millis.len(),
            "p50_ms": self.quantile(0.5),
            "p99_ms": self.quantile(0.99),
            "min_ms": self.quantile(0.0),
            "max_ms": self.quantile(1.0),
            "samples_ms": rounded,
        })
    }
}

/// The report for a terminal.
pub fn table(report: &Report) -> String {
    let [p50, p99, min, max] = [0.5, 0.99, 0.0, 1.0].map(|it| report.quantile(it));
    let kills = report.millis.len();
    format!(
        "{kills} kills of the deciding host, real processes, default timers\n\
         from the kill to the first action done: p50 {p50:.0} ms, p99 {p99:.0} ms, {min:.0} to {max:.0} ms\n"
    )
}

/// Kills the deciding host (kill -9) again and again, at default timers, and takes the time from the kill to the first
/// action that was wanted after it and done; `done` is called after each kill.
pub async fn measure(options: &FailoverOptions, game: &dyn TestedGame, done: &dyn Fn()) -> Result<Report> {
    forget(&options.data)?;
    let mut cluster = Cluster::start(ClusterOptions {
        data: options.data.clone(),
        config: None,
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: vec![1, 2, 3],
    })
    .await?;
    let (heard, mut happenings) = mpsc::unbounded_channel();
    let mut probes = Vec::new();
    for number in 0..PROBES {
        probes
            .push(probe(&cluster.lobby().to_string(), number, game.everyday_action(), heard.clone()).await?);
    }
    let mut millis = Vec::new();
    for _ in 0..options.kills {
        cluster.until_protected().await?;
        answered_after(&mut happenings, net::clock::now()).await?;
        let primary = cluster.primary().await.context("nobody reigns")?;
        let dialled: Vec<u64> = probes.iter().map(redials).collect();
        let killed = net::clock::now();
        cluster.kill(primary).await?;
        let answered = answered_after(&mut happenings, killed).await?;
        millis.push(answered.since(killed).as_micros() as f64 / 1_000.0);
        cluster.start_host(primary)?;
        all_redialled(&probes, &dialled).await?;
        done();
    }
    drop(probes);
    cluster.leave().await?;
    Ok(Report { millis })
}

/// Waits until every player has dialled the restarted host again: then they are connected to the host that would take
/// over, as players are who have been in for a few seconds.
async fn all_redialled(probes: &[Probe], before: &[u64]) -> Result<()> {
    let deadline = tokio::time::Instant::now() + WITHIN;
    while probes.iter().zip(before).any(|(it, before)| redials(it) <= *before) {
        if deadline < tokio::time::Instant::now() {
            bail!("a player does not reach the restarted host");
        }
        tokio::time::sleep(ACT_EVERY).await;
    }
    Ok(())
}

fn redials(probe: &Probe) -> u64 {
    probe.0.counts.redials.load(std::sync::atomic::Ordering::Relaxed)
}

type Probe = (Stay, tokio::task::JoinHandle<()>);

/// A player who acts all the time.
async fn probe(
    lobby: &str,
    number: usize,
    action: Vec<u8>,
    heard: mpsc::UnboundedSender<(Time, Happening)>,
) -> Result<Probe> {
    let lobby = Lobby::new(lobby);
    let pass = lobby.guest(&format!("probe-{number}")).await?;
    let dialer = Dialer::new()?;
    let options = StayOptions {
        transport: Transport::Quic,
        dialer,
        history: HistoryWriter::default(),
        seed: number as u64,
    };
    let (sender, mut happenings) = mpsc::unbounded_channel();
    let stay = Stay::begin(&lobby, &pass, options, |config, _| Node::new(config), sender).await?;
    let player = stay.player.clone();
    tokio::spawn(async move {
        while let Some(it) = happenings.recv().await {
            if heard.send((net::clock::now(), it)).is_err() {
                return;
            }
        }
    });
    let acting = tokio::spawn(async move {
        while player.command(Want::Act(action.clone())) {
            tokio::time::sleep(ACT_EVERY).await;
        }
    });
    Ok((stay, acting))
}

/// Waits for the first action that was wanted after a moment and done; when that was known.
async fn answered_after(
    happenings: &mut mpsc::UnboundedReceiver<(Time, Happening)>,
    moment: Time,
) -> Result<Time> {
    let mut last = None;
    let waited = tokio::time::timeout(WITHIN, async {
        while let Some((at, happening)) = happenings.recv().await {
            if let Happening::Answered(_, Outcome::Done, took) = happening
                && moment <= at - took
            {
                return Some(at);
            }
            last = Some(happening);
        }
        None
    });
    let answered = waited.await.ok().flatten();
    answered.with_context(|| format!("no action was done within {WITHIN:?}; what was heard last: {last:?}"))
}

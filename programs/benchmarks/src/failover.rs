//! The time for which no player gets an answer after the primary's host was killed, on real processes.

use anyhow::{Context as _, Result, bail};
use client::{HistoryWriter, LobbyClient, Session, SessionOptions, Transport};
use machine::Time;
use net::dial::Dialer;
use node::ClientNode as Node;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use testbed::TestedGame;
use testbed::cluster::{Cluster, ClusterOptions, remove_world};
use tokio::sync::mpsc;
use zone::{Outcome, PlayerCommand, PlayerEvent};

/// Number of players that act all the time.
const PROBES: usize = 8;

/// Time between two actions of a player.
const ACT_EVERY: Duration = Duration::from_millis(20);

/// A failover that takes longer than this fails the measurement.
const WITHIN: Duration = Duration::from_secs(20);

/// The options of `ecumene bench failover`.
#[derive(Clone, Debug)]
pub struct FailoverOptions {
    /// Number of times that the primary's host is killed.
    pub kills: u32,
    /// The folder of the world meanwhile. A world that is there is removed first.
    pub data: PathBuf,
}

/// The result of `ecumene bench failover`.
#[derive(Clone, Debug)]
pub struct FailoverReport {
    /// Milliseconds from each kill to the first action done.
    pub millis: Vec<f64>,
}

impl FailoverReport {
    /// The smallest sample that this part of all samples does not exceed.
    fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.millis.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() as f64 * part).ceil() as usize).clamp(1, sorted.len()) - 1]
    }

    /// The report as JSON, for programs.
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

/// The report as text for a terminal.
pub fn table(report: &FailoverReport) -> String {
    let [p50, p99, min, max] = [0.5, 0.99, 0.0, 1.0].map(|it| report.quantile(it));
    let kills = report.millis.len();
    format!(
        "{kills} kills of the deciding host, real processes, default timers\n\
         from the kill to the first action done: p50 {p50:.0} ms, p99 {p99:.0} ms, {min:.0} to {max:.0} ms\n"
    )
}

/// Kills the primary's host (kill -9) again and again, at default timers, and takes the time from the kill to the first
/// action that a player sent after it and that was done; `done` is called after each kill.
pub async fn measure(
    options: &FailoverOptions,
    game: &dyn TestedGame,
    done: &dyn Fn(),
) -> Result<FailoverReport> {
    remove_world(&options.data)?;
    let mut cluster = Cluster::start(ClusterOptions {
        data: options.data.clone(),
        config: None,
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: vec![1, 2, 3],
    })
    .await?;
    let (sender, mut events) = mpsc::unbounded_channel();
    let mut probes = Vec::new();
    for number in 0..PROBES {
        probes
            .push(probe(&cluster.lobby().to_string(), number, game.everyday_action(), sender.clone()).await?);
    }
    let mut millis = Vec::new();
    for _ in 0..options.kills {
        cluster.until_backed_up().await?;
        // The world must work before it is hit, or the time of the last failover would be measured again.
        answered_after(&mut events, net::clock::now()).await?;
        let primary = cluster.primary().await.context("the zone has no primary")?;
        let dialled: Vec<u64> = probes.iter().map(redials).collect();
        let killed = net::clock::now();
        cluster.kill(primary).await?;
        let answered = answered_after(&mut events, killed).await?;
        millis.push(answered.since(killed).as_micros() as f64 / 1_000.0);
        cluster.start_host(primary)?;
        // The next kill must find the usual state: all players connected to all hosts.
        all_redialled(&probes, &dialled).await?;
        done();
    }
    drop(probes);
    cluster.leave().await?;
    Ok(FailoverReport { millis })
}

/// Waits until every player has dialled the restarted host again: then they are connected to the host that would take
/// over, as are players who joined some seconds ago.
async fn all_redialled(probes: &[ProbePlayer], before: &[u64]) -> Result<()> {
    let deadline = tokio::time::Instant::now() + WITHIN;
    while probes.iter().zip(before).any(|(it, before)| redials(it) <= *before) {
        if deadline < tokio::time::Instant::now() {
            bail!("a player does not reach the restarted host");
        }
        tokio::time::sleep(ACT_EVERY).await;
    }
    Ok(())
}

fn redials(probe: &ProbePlayer) -> u64 {
    probe.0.counters.redials.load(std::sync::atomic::Ordering::Relaxed)
}

type ProbePlayer = (Session, tokio::task::JoinHandle<()>);

/// A player who acts all the time.
async fn probe(
    lobby: &str,
    number: usize,
    action: Vec<u8>,
    forward: mpsc::UnboundedSender<(Time, PlayerEvent)>,
) -> Result<ProbePlayer> {
    let lobby = LobbyClient::new(lobby);
    let pass = lobby.guest(&format!("probe-{number}")).await?;
    let dialer = Dialer::new()?;
    let options = SessionOptions {
        transport: Transport::Quic,
        dialer,
        history: HistoryWriter::default(),
        seed: number as u64,
    };
    let (sender, mut events) = mpsc::unbounded_channel();
    let on_event = move |event| drop(sender.send(event)); // The benchmark may be over.
    let session = Session::begin(&lobby, &pass, options, |config, _| Node::new(config), on_event).await?;
    let player = session.player.clone();
    tokio::spawn(async move {
        while let Some(it) = events.recv().await {
            if forward.send((net::clock::now(), it)).is_err() {
                return;
            }
        }
    });
    let acting = tokio::spawn(async move {
        while player.command(PlayerCommand::Act(action.clone())) {
            tokio::time::sleep(ACT_EVERY).await;
        }
    });
    Ok((session, acting))
}

/// Waits for the first action that a player sent after `moment` and that was done; returns the time of its answer.
async fn answered_after(
    events: &mut mpsc::UnboundedReceiver<(Time, PlayerEvent)>,
    moment: Time,
) -> Result<Time> {
    let mut last = None;
    let waited = tokio::time::timeout(WITHIN, async {
        while let Some((at, event)) = events.recv().await {
            if let PlayerEvent::Answered(_, Outcome::Done, took) = event
                && moment <= at - took
            {
                return Some(at);
            }
            last = Some(event);
        }
        None
    });
    let answered = waited.await.ok().flatten();
    answered.with_context(|| format!("no action was done within {WITHIN:?}; the last event was {last:?}"))
}

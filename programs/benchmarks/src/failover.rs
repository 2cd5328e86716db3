//! The time for which no player gets an answer after the primary's host was killed, on real processes.

use crate::acting_player::{ACT_EVERY, ActingPlayer, WITHIN, answered_after};
use anyhow::{Context as _, Result, bail};
use net::dial::Dialer;
use std::net::SocketAddr;
use std::path::PathBuf;
use testbed::TestedGame;
use testbed::cluster::{Cluster, ClusterOptions, remove_world};
use tokio::sync::mpsc;

/// Number of players that act all the time.
const PLAYERS: usize = 8;

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
        program: None,
        environment: Vec::new(),
    })
    .await?;
    let (sender, mut events) = mpsc::unbounded_channel();
    let (lobby, mut players) = (cluster.lobby().to_string(), Vec::new());
    for number in 0..PLAYERS {
        let (action, sender) = (game.everyday_action(), sender.clone());
        let on_event = move |at, event| drop(sender.send((at, event))); // The benchmark may be over.
        players.push(ActingPlayer::begin(&lobby, number, action, Dialer::new()?, on_event).await?);
    }
    let mut millis = Vec::new();
    for _ in 0..options.kills {
        cluster.until_backed_up().await?;
        // The world must work before it is hit, or the time of the last failover would be measured again.
        answered_after(&mut events, net::clock::now()).await?;
        let primary = cluster.primary().await.context("the zone has no primary")?;
        let dialled: Vec<u64> = players.iter().map(ActingPlayer::redials).collect();
        let killed = net::clock::now();
        cluster.kill(primary).await?;
        let answered = answered_after(&mut events, killed).await?;
        millis.push(answered.since(killed).as_micros() as f64 / 1_000.0);
        cluster.start_host(primary)?;
        // The next kill must find the usual state: all players connected to the backup's host.
        all_redialled(&players, &dialled).await?;
        done();
    }
    drop(players);
    cluster.leave().await?;
    Ok(FailoverReport { millis })
}

/// Waits until every player has dialled the restarted host again: then they are connected to the host that would take
/// over, as are players who joined some seconds ago.
async fn all_redialled(players: &[ActingPlayer], before: &[u64]) -> Result<()> {
    let deadline = tokio::time::Instant::now() + WITHIN;
    while players.iter().zip(before).any(|(it, before)| it.redials() <= *before) {
        if deadline < tokio::time::Instant::now() {
            bail!("a player does not reach the restarted host");
        }
        tokio::time::sleep(ACT_EVERY).await;
    }
    Ok(())
}

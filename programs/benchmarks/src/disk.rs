//! Whether a busy world's disks keep up: bytes on disk, memory and the time of a restart, on real processes.

use crate::acting_player::{ActingPlayer, answered_after};
use anyhow::Result;
use net::dial::Dialer;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testbed::TestedGame;
use testbed::cluster::{Cluster, ClusterOptions, remove_world};
use testbed::process;
use tokio::sync::mpsc;
use zone::{Outcome, PlayerEvent};

/// The options of `ecumene bench disk`.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// Number of players; each acts 50 times a second, as long as answers come.
    pub players: usize,
    /// Seconds of play.
    pub seconds: f64,
    /// Seconds between two rows.
    pub every: f64,
    /// The folder of the world meanwhile. A world that is there is removed first.
    pub data: PathBuf,
}

/// The result of `ecumene bench disk`.
#[derive(Clone, Debug, Serialize)]
pub struct DiskReport {
    /// Name of the benchmark, for programs.
    pub bench: &'static str,
    /// Number of players.
    pub players: usize,
    /// Samples, in order of time.
    pub rows: Vec<DiskRow>,
    /// Seconds from the start of the processes, all of which were killed, to the first action done.
    pub restart_seconds: f64,
    /// Actions without an answer when all processes were killed.
    pub unanswered: u64,
}

/// The world at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct DiskRow {
    /// Seconds since the beginning.
    pub at_seconds: f64,
    /// Actions done per second since the row before.
    pub actions_per_second: f64,
    /// The longest time that an action of this row took, in milliseconds.
    pub slowest_ms: f64,
    /// Bytes in the folders of all hosts.
    pub bytes_on_disk: u64,
    /// The most memory that any host ever had, in MiB.
    pub memory_mib: f64,
}

/// Counters of all players.
#[derive(Debug, Default)]
struct ActionCounters {
    done: AtomicU64,
    /// The longest time of an action since the last row, in microseconds.
    slowest: AtomicU64,
}

impl ActionCounters {
    fn count(&self, event: &PlayerEvent) {
        if let PlayerEvent::Answered(_, Outcome::Done, took) = event {
            self.done.fetch_add(1, Ordering::Relaxed);
            self.slowest.fetch_max(took.as_micros(), Ordering::Relaxed);
        }
    }
}

/// Lets players act as fast as the world answers, in a world of one zone on three hosts; then kills all processes and
/// starts them again. `done` is called after each row.
pub async fn measure(options: &DiskOptions, game: &dyn TestedGame, done: &dyn Fn()) -> Result<DiskReport> {
    remove_world(&options.data)?;
    let world = ClusterOptions {
        data: options.data.clone(),
        config: None,
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: vec![1, 2, 3],
        program: None,
        environment: Vec::new(),
    };
    let cluster = Cluster::start(world.clone()).await?;
    cluster.until_backed_up().await?;
    let (dialer, counters) = (Dialer::new()?, Arc::new(ActionCounters::default()));
    let mut players = Vec::new();
    for number in 0..options.players {
        let counters = counters.clone();
        let on_event = move |_, event| counters.count(&event);
        let lobby = cluster.lobby().to_string();
        players.push(
            ActingPlayer::begin(&lobby, number, game.everyday_action(), dialer.clone(), on_event).await?,
        );
    }
    let rows = sample(options, &cluster, &counters, done).await?;
    let unanswered = unanswered(&players).await;
    cluster.kill_all().await?;
    drop(players);
    let restart_seconds = restart(world, options.players, game).await?;
    Ok(DiskReport { bench: "disk", players: options.players, rows, restart_seconds, unanswered })
}

async fn sample(
    options: &DiskOptions,
    cluster: &Cluster,
    counters: &ActionCounters,
    done: &dyn Fn(),
) -> Result<Vec<DiskRow>> {
    let began = tokio::time::Instant::now();
    let (mut rows, mut before, mut at) = (Vec::new(), counters.done.load(Ordering::Relaxed), 0.0);
    while at < options.seconds {
        tokio::time::sleep(Duration::from_secs_f64(options.every)).await;
        let now = began.elapsed().as_secs_f64();
        let acted = counters.done.load(Ordering::Relaxed);
        let memory = cluster.processes().iter().map(|it| process::peak_memory_mib(it.1)).fold(0.0, f64::max);
        rows.push(DiskRow {
            at_seconds: now,
            actions_per_second: (acted - before) as f64 / (now - at),
            slowest_ms: counters.slowest.swap(0, Ordering::Relaxed) as f64 / 1e3,
            bytes_on_disk: bytes_in(&options.data),
            memory_mib: memory,
        });
        (before, at) = (acted, now);
        done();
    }
    Ok(rows)
}

async fn unanswered(players: &[ActingPlayer]) -> u64 {
    let mut sum = 0;
    for it in players {
        sum += it.session.player.inspect(|it| it.player().unanswered()).await.unwrap_or(0) as u64;
    }
    sum
}

/// Starts the world again; returns the seconds until an action of a new player, of this number, is done.
async fn restart(world: ClusterOptions, number: usize, game: &dyn TestedGame) -> Result<f64> {
    let began = net::clock::now();
    let cluster = Cluster::start(world).await?;
    let lobby = cluster.lobby().to_string();
    let (sender, mut events) = mpsc::unbounded_channel();
    let on_event = move |at, event| drop(sender.send((at, event))); // The measurement may be over.
    let player =
        ActingPlayer::begin(&lobby, number, game.everyday_action(), Dialer::new()?, on_event).await?;
    let answered = answered_after(&mut events, began).await?;
    drop(player);
    cluster.leave().await?;
    Ok(answered.since(began).as_micros() as f64 / 1e6)
}

/// The bytes of all files in a folder. Files may come and go meanwhile: those that are gone count as empty.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|it| match it.metadata() {
        Ok(data) if data.is_dir() => bytes_in(&it.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// The report as text for a terminal.
pub fn table(report: &DiskReport) -> String {
    let mut text = format!("{} players, one zone on three hosts\n", report.players);
    for it in &report.rows {
        text += &format!(
            "{:5.0} s: {:5.0} actions/s, slowest {:6.0} ms, {:6.1} MiB on disk, hosts have at most {:.0} MiB of memory\n",
            it.at_seconds,
            it.actions_per_second,
            it.slowest_ms,
            it.bytes_on_disk as f64 / f64::from(1 << 20),
            it.memory_mib,
        );
    }
    text += &format!(
        "all processes killed with {} actions unanswered; started again, the first action was done after {:.1} s\n",
        report.unanswered, report.restart_seconds,
    );
    text
}

//! A world of its own with honest bots, under attacks from the network and from hostile players. No process may
//! end, no honest bot may lose an action, and memory must stay within the sum of the limits.

use crate::scratch::Scratch;
use anyhow::{Context as _, Result};
use client::{HistoryWriter, Transport};
use comfy_table::{Table, presets};
use machine::Span;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use testbed::TestedGame;
use testbed::attack::{self, AttackCounters, AttackRun};
use testbed::cluster::{Cluster, ClusterOptions};
use testbed::crowd::{BotCrowd, CrowdOptions, MIXED};
use testbed::process::peak_memory_mib;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

/// Time for which the honest bots are measured before the attack.
const CALM: Duration = Duration::from_secs(5);

const HOSTS: [u32; 3] = [1, 2, 3];

const MIB: f64 = 1_048_576.0;

/// The strength and duration of the attack.
#[derive(Clone, Copy, Debug)]
pub struct HostileOptions {
    /// Number of honest bots in the world.
    pub bots: u32,
    /// Least number of hostile datagrams, frames and requests.
    pub count: u64,
    /// Least duration of the attack, in seconds.
    pub seconds: f64,
}

/// The result of `ecumene bench hostile`.
#[derive(Debug, Serialize)]
pub struct HostileReport {
    /// Name of the benchmark: always `hostile`.
    pub bench: &'static str,
    /// Number of honest bots in the world.
    pub bots: u32,
    /// Duration of the attack, in seconds.
    pub seconds: f64,
    /// Number of hostile datagrams, frames and requests.
    pub sent: u64,
    /// Counts for each kind of attack.
    pub attacks: BTreeMap<&'static str, AttackCounters>,
    /// Actions of honest bots that were answered.
    pub honest_actions: u64,
    /// Actions of honest bots that were not, and sessions lost.
    pub honest_errors: u64,
    /// Connections of honest bots that were dialled again.
    pub honest_redials: u64,
    /// Latency of half of the answers before the attack.
    pub p50_ms_before: f64,
    /// Latency of all but one in a hundred answers before the attack.
    pub p99_ms_before: f64,
    /// The same of half of the answers under attack.
    pub p50_ms_during: f64,
    /// The same of all but one in a hundred under attack.
    pub p99_ms_during: f64,
    /// Memory of each server process, in MiB.
    pub memory: Vec<ProcessMemory>,
    /// Length of all text logs together.
    pub log_bytes: u64,
    /// Violations of what must hold under attack. Empty is good.
    pub failures: Vec<String>,
}

/// The most memory that a process ever had, in MiB.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessMemory {
    /// Name of the server process.
    pub process: String,
    /// Peak memory before the attack.
    pub before_mib: f64,
    /// Peak memory after the attack.
    pub after_mib: f64,
    /// Most growth that the limits allow.
    pub bound_mib: f64,
}

/// Attacks a world of its own while honest bots play in it.
pub async fn measure(options: &HostileOptions, game: Arc<dyn TestedGame>) -> Result<HostileReport> {
    let scratch = Scratch::new()?;
    // A larger burst lets all honest bots log in at once; the limits per address stay at their defaults.
    let burst = options.bots + 40;
    let config =
        scratch.configure(&format!("world = {{ hosts = {HOSTS:?} }}\nlobby = {{ burst = {burst} }}\n"))?;
    let mut cluster = Cluster::start(ClusterOptions {
        data: scratch.path().to_owned(),
        config: Some(config),
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: HOSTS.to_vec(),
    })
    .await?;
    let mut crowd = BotCrowd::enter(honest(options, game, cluster.lobby())).await?;
    // Starts the counts anew: log-in and entering are not part of the measurement.
    crowd.measure().await;
    tokio::time::sleep(CALM.min(Duration::from_secs_f64(options.seconds))).await;
    let before = crowd.latency();
    crowd.measure().await;
    let memory: Vec<_> = cluster.processes().iter().map(|(_, id)| peak_memory_mib(*id)).collect();
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(options.seconds);
    let world = world_of(cluster.lobby()).await?;
    let arena =
        AttackRun::new(cluster.lobby(), scratch.path().to_owned(), world, until, options.count).await?;
    fight(&arena).await?;
    let during = crowd.latency();
    let seconds = began.elapsed().as_secs_f64();
    let mut failures = arena.unexpected_outcomes();
    failures.extend(cluster.ended_process());
    let memory: Vec<_> = cluster.processes().into_iter().zip(memory).map(memory_of).collect();
    failures.extend(overgrown(&memory));
    let crowd = crowd.finish().await;
    if crowd.errors != 0 || crowd.actions_acked == 0 {
        failures.push(format!("the honest had {} errors, {} answers", crowd.errors, crowd.actions_acked));
    }
    cluster.leave().await?;
    let (said, log_bytes) = logs(scratch.path())?;
    failures.extend(said);
    Ok(HostileReport {
        bench: "hostile",
        bots: options.bots,
        seconds,
        sent: arena.total(),
        attacks: arena.counters(),
        honest_actions: crowd.actions_acked,
        honest_errors: crowd.errors,
        honest_redials: crowd.redials,
        p50_ms_before: before.0,
        p99_ms_before: before.1,
        p50_ms_during: during.0,
        p99_ms_during: during.1,
        memory,
        log_bytes,
        failures,
    })
}

fn honest(options: &HostileOptions, game: Arc<dyn TestedGame>, lobby: SocketAddr) -> CrowdOptions {
    CrowdOptions {
        game,
        lobby: lobby.to_string(),
        count: options.bots as usize,
        behaviour: MIXED.to_owned(),
        transport: Transport::Quic,
        history: HistoryWriter::default(),
        seed: 1,
        pace: Some(Span::from_millis(50)),
    }
}

/// Texts about the processes that took more memory than the limits add up to.
fn overgrown(memory: &[ProcessMemory]) -> impl Iterator<Item = String> {
    let grown = memory.iter().filter(|it| it.before_mib + it.bound_mib < it.after_mib);
    grown.map(|it| format!("{} grew from {:.0} to {:.0} MiB", it.process, it.before_mib, it.after_mib))
}

/// Attacks from a thread of its own, so that the honest bots' clocks measure the servers and not the attackers.
async fn fight(arena: &Arc<AttackRun>) -> Result<()> {
    let (arena, (sender, ended)) = (arena.clone(), tokio::sync::oneshot::channel());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("attackers".to_owned()).spawn(move || {
        runtime.block_on(arena.attack_all());
        let _ = sender.send(());
    })?;
    ended.await.context("the attackers broke")
}

/// The name of the world, from the lobby's health page.
async fn world_of(lobby: SocketAddr) -> Result<String> {
    let mut stream = tokio::net::TcpStream::connect(lobby).await?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let body = answer.split_once("\r\n\r\n").context("the lobby gave no answer")?.1;
    let json: serde_json::Value = serde_json::from_str(body)?;
    Ok(json["world"].as_str().context("the lobby does not name its world")?.to_owned())
}

fn memory_of(((process, id), before_mib): ((String, u32), f64)) -> ProcessMemory {
    let bound_mib =
        if process.starts_with("host") { host_bound() } else { control_plane_bound() } as f64 / MIB;
    ProcessMemory { process, before_mib, after_mib: peak_memory_mib(id), bound_mib }
}

/// The growth in bytes that a host's limits allow under attack: all unauthenticated connections at once, each with all
/// the memory it may take; connections that the host has not accepted yet; all TCP connections; the queues of the
/// hostile players; and the world's own growth.
fn host_bound() -> usize {
    use net::{connection_limits, endpoint, send_queue};
    let unauthenticated = connection_limits::UNAUTHENTICATED_MAX * endpoint::UNAUTHENTICATED_BYTES;
    let players = attack::INSIDERS * (send_queue::SURE_MAX + endpoint::PLAYER_BYTES);
    unauthenticated + endpoint::INCOMING_BYTES + tcp_bound() + players + PLAY_BYTES
}

/// The growth in bytes that the control plane's limits allow: its TCP connections, the passwords that are hashed at
/// once, its own work.
fn control_plane_bound() -> usize {
    tcp_bound() + server::lobby_http::HASHING_BYTES + PLAY_BYTES
}

/// The bytes of the attackers' TCP connections, which are fewer than the servers' own limit.
fn tcp_bound() -> usize {
    attack::SOCKETS_MAX.min(server::web::CONNECTIONS_MAX) * server::web::CONNECTION_BYTES
}

/// Bytes of the world's own growth (log, snapshots, new objects) while the attack lasts.
const PLAY_BYTES: usize = 16 * 1024 * 1024;

/// Lines of panics and ended replicas in the text logs, and the length of these logs.
fn logs(data: &Path) -> Result<(Vec<String>, u64)> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    for entry in std::fs::read_dir(data)? {
        let path = entry?.path();
        if path.extension().is_none_or(|it| it != "log") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        bytes += text.len() as u64;
        let bad = text.lines().filter(|it| it.contains("panicked") || it.contains("a replica ended"));
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.extend(bad.take(3).map(|it| format!("{name}: {it}")));
    }
    Ok((found, bytes))
}

/// The report as tables for a terminal.
pub fn table(report: &HostileReport) -> String {
    let mut attacks = Table::new();
    attacks.load_style(presets::UTF8_HORIZONTAL_ONLY);
    attacks.set_header(["attack", "sent", "refused", "put up with"]);
    for (name, it) in &report.attacks {
        attacks.add_row([
            name.to_string(),
            it.sent.to_string(),
            it.refused.to_string(),
            it.tolerated.to_string(),
        ]);
    }
    let mut memory = Table::new();
    memory.load_style(presets::UTF8_HORIZONTAL_ONLY);
    memory.set_header(["process", "MiB before", "after", "may grow by"]);
    for it in &report.memory {
        let cell = |it: f64| format!("{it:.1}");
        memory.add_row([it.process.clone(), cell(it.before_mib), cell(it.after_mib), cell(it.bound_mib)]);
    }
    let HostileReport {
        bots, seconds, sent, honest_actions, honest_errors, honest_redials, log_bytes, ..
    } = report;
    let failures = match report.failures.len() {
        0 => "Nothing happened that must not.\n".to_owned(),
        _ => format!("MUST NOT HAPPEN:\n- {}\n", report.failures.join("\n- ")),
    };
    format!(
        "{attacks}\n\n{memory}\n\n\
         {sent} hostile datagrams, frames and requests in {seconds:.0} s; {bots} honest bots: {honest_actions} actions \
         answered, {honest_errors} errors, {honest_redials} connections dialled again\n\
         latency before p50 {:.1} ms, p99 {:.1} ms; under attack p50 {:.1} ms, p99 {:.1} ms; {log_bytes} bytes of logs\n\
         {failures}",
        report.p50_ms_before, report.p99_ms_before, report.p50_ms_during, report.p99_ms_during,
    )
}

//! A world of its own, honest bots in it, and everything that strangers and players can throw at its doors. No process may
//! end, no honest bot may lose an action, and memory stays within what the limits add up to.

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
use testbed::attack::{self, Arena, Tally};
use testbed::cluster::{Cluster, ClusterOptions};
use testbed::crowd::{Crowd, CrowdOptions, MIXED};
use testbed::process::peak_memory_mib;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

/// How long the honest bots are measured before the attack.
const CALM: Duration = Duration::from_secs(5);

/// The hosts of the world.
const HOSTS: [u32; 3] = [1, 2, 3];

const MIB: f64 = 1_048_576.0;

/// How hard, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct HostileOptions {
    /// Honest bots.
    pub bots: u32,
    /// At least so many hostile datagrams, frames and requests.
    pub count: u64,
    /// For at least how long.
    pub seconds: f64,
}

/// The result.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Always `hostile`.
    pub bench: &'static str,
    /// Honest bots.
    pub bots: u32,
    /// How long the attack lasted.
    pub seconds: f64,
    /// Hostile datagrams, frames and requests.
    pub sent: u64,
    /// What became of each kind of attack.
    pub attacks: BTreeMap<&'static str, Tally>,
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
    /// Memory of each server process.
    pub memory: Vec<Memory>,
    /// How long the logs are.
    pub log_bytes: u64,
    /// What must not have happened, and did. Empty is good.
    pub failures: Vec<String>,
}

/// The most memory that a process ever had, in MiB.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// The process.
    pub process: String,
    /// Before the attack.
    pub before_mib: f64,
    /// After it.
    pub after_mib: f64,
    /// What it may grow by.
    pub bound_mib: f64,
}

/// Attacks a world of its own while honest bots play in it.
pub async fn measure(options: &HostileOptions, game: Arc<dyn TestedGame>) -> Result<Report> {
    let scratch = Scratch::new()?;
    // Only the honest come all at once; what one address may do after that is what it may do by default.
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
    let mut crowd = Crowd::enter(honest(options, game, cluster.lobby())).await?;
    crowd.measure().await;
    tokio::time::sleep(CALM.min(Duration::from_secs_f64(options.seconds))).await;
    let before = crowd.latency();
    crowd.measure().await;
    let memory: Vec<_> = cluster.processes().iter().map(|(_, id)| peak_memory_mib(*id)).collect();
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(options.seconds);
    let world = world_of(cluster.lobby()).await?;
    let arena = Arena::new(cluster.lobby(), scratch.path().to_owned(), world, until, options.count).await?;
    fight(&arena).await?;
    let during = crowd.latency();
    let seconds = began.elapsed().as_secs_f64();
    let mut failures = arena.surprises();
    failures.extend(cluster.deserter());
    let memory: Vec<_> = cluster.processes().into_iter().zip(memory).map(memory_of).collect();
    failures.extend(overgrown(&memory));
    let crowd = crowd.finish().await;
    if crowd.errors != 0 || crowd.actions_acked == 0 {
        failures.push(format!("the honest had {} errors, {} answers", crowd.errors, crowd.actions_acked));
    }
    cluster.leave().await?;
    let (said, log_bytes) = logs(scratch.path())?;
    failures.extend(said);
    Ok(Report {
        bench: "hostile",
        bots: options.bots,
        seconds,
        sent: arena.total(),
        attacks: arena.tallies(),
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

/// The honest bots.
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

/// Processes that took more memory than the limits add up to, for people.
fn overgrown(memory: &[Memory]) -> impl Iterator<Item = String> {
    let grown = memory.iter().filter(|it| it.before_mib + it.bound_mib < it.after_mib);
    grown.map(|it| format!("{} grew from {:.0} to {:.0} MiB", it.process, it.before_mib, it.after_mib))
}

/// Attacks from a thread of its own, so that the honest bots' clocks measure the servers and not the attackers.
async fn fight(arena: &Arc<Arena>) -> Result<()> {
    let (arena, (sender, ended)) = (arena.clone(), tokio::sync::oneshot::channel());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("attackers".to_owned()).spawn(move || {
        runtime.block_on(arena.fight());
        let _ = sender.send(());
    })?;
    ended.await.context("the attackers broke")
}

/// What the lobby says the world is called.
async fn world_of(lobby: SocketAddr) -> Result<String> {
    let mut stream = tokio::net::TcpStream::connect(lobby).await?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let body = answer.split_once("\r\n\r\n").context("the lobby gave no answer")?.1;
    let json: serde_json::Value = serde_json::from_str(body)?;
    Ok(json["world"].as_str().context("the lobby does not name its world")?.to_owned())
}

fn memory_of(((process, id), before_mib): ((String, u32), f64)) -> Memory {
    let bound_mib = if process.starts_with("host") { host_bound() } else { seat_bound() } as f64 / MIB;
    Memory { process, before_mib, after_mib: peak_memory_mib(id), bound_mib }
}

/// What a host may grow by under attack: all strangers at once, each with all it may make the host keep; connections that
/// the host has not looked at yet; all TCP connections; what the hostile players may make it keep; and the honest play on.
fn host_bound() -> usize {
    use net::{door, endpoint, mailbox};
    let strangers = door::STRANGERS_MAX * endpoint::STRANGER_BYTES;
    let players = attack::INSIDERS * (mailbox::SURE_MAX + endpoint::PLAYER_BYTES);
    strangers + endpoint::INCOMING_BYTES + tcp_bound() + players + PLAY_BYTES
}

/// What the directory's process may grow by: its TCP connections, the passwords that are hashed at once, its own work.
fn seat_bound() -> usize {
    tcp_bound() + server::front::HASHING_BYTES + PLAY_BYTES
}

/// The attackers' TCP connections: they do not reach the doors' own limit.
fn tcp_bound() -> usize {
    attack::SOCKETS_MAX.min(server::web::CONNECTIONS_MAX) * server::web::CONNECTION_BYTES
}

/// What the world's own growth (log, snapshots, new objects) takes while the attack lasts.
const PLAY_BYTES: usize = 16 * 1024 * 1024;

/// What is in the logs that must not be, and how long they are.
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

/// The report for a terminal.
pub fn table(report: &Report) -> String {
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
    let Report { bots, seconds, sent, honest_actions, honest_errors, honest_redials, log_bytes, .. } = report;
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

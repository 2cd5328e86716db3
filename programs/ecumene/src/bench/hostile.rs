//! `ecumene bench hostile`: a world of its own, honest bots in it, and everything that strangers and players can throw at
//! its doors. Nobody may die, nobody honest may lose an action, and memory stays within what the limits add up to.

use super::Format;
use super::attack::{Arena, Tally};
use super::scratch::Scratch;
use crate::play::block_on;
use crate::play::cluster::{Cluster, ClusterOptions};
use crate::play::crowd::{Crowd, CrowdOptions};
use crate::{Failure, print};
use anyhow::Context as _;
use clap::Args;
use client::{Book, Transport};
use comfy_table::{Table, presets};
use machine::Span;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

/// How long the honest are measured before anybody attacks.
const CALM: Duration = Duration::from_secs(5);

/// The hosts of the world.
const HOSTS: [u32; 3] = [1, 2, 3];

const MIB: f64 = 1_048_576.0;

/// What `ecumene bench hostile` takes.
#[derive(Args)]
pub struct HostileArgs {
    /// Honest bots
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    bots: u32,
    /// At least so many hostile datagrams, frames and requests
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    count: u64,
    /// For at least how long
    #[arg(long, default_value_t = 30.0, value_parser = super::seconds)]
    seconds: f64,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Report {
    bench: &'static str,
    bots: u32,
    seconds: f64,
    /// Hostile datagrams, frames and requests.
    sent: u64,
    attacks: BTreeMap<&'static str, Tally>,
    honest_actions: u64,
    honest_errors: u64,
    honest_redials: u64,
    p50_ms_before: f64,
    p99_ms_before: f64,
    p50_ms_during: f64,
    p99_ms_during: f64,
    memory: Vec<Memory>,
    log_bytes: u64,
    /// What must not have happened, and did. Empty is good.
    failures: Vec<String>,
}

/// The most memory that a process ever had, in MiB.
#[derive(Clone, Debug, Serialize)]
struct Memory {
    process: String,
    before_mib: f64,
    after_mib: f64,
    /// What it may grow by.
    bound_mib: f64,
}

/// Runs it.
pub fn run(args: &HostileArgs) -> Result<(), Failure> {
    let scratch = Scratch::new()?;
    let report = block_on(measure(args, &scratch))?;
    print(&match args.format {
        Format::Table => table(&report),
        Format::Json => serde_json::to_string_pretty(&report)? + "\n",
    })?;
    match report.failures.len() {
        0 => Ok(()),
        some => {
            Err(anyhow::anyhow!("{some} things happened that must not: {}", report.failures.join("; "))
                .into())
        }
    }
}

async fn measure(args: &HostileArgs, scratch: &Scratch) -> Result<Report, Failure> {
    // Only the honest come all at once; what one address may do after that is what it may do by default.
    let burst = args.bots + 40;
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
    let mut crowd = Crowd::enter(CrowdOptions {
        lobby: cluster.lobby().to_string(),
        count: args.bots as usize,
        behaviour: "mixed".to_owned(),
        transport: Transport::Quic,
        book: Book::default(),
        seed: 1,
        pace: Some(Span::from_millis(50)),
    })
    .await?;
    crowd.measure().await;
    tokio::time::sleep(CALM.min(Duration::from_secs_f64(args.seconds))).await;
    let before = crowd.latency();
    crowd.measure().await;
    let memory: Vec<_> = cluster.processes().iter().map(|(_, id)| most_memory(*id)).collect();
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(args.seconds);
    let world = world_of(cluster.lobby()).await?;
    let arena = Arena::new(cluster.lobby(), scratch.path().to_owned(), world, until, args.count).await?;
    attack(&arena).await?;
    let during = crowd.latency();
    let seconds = began.elapsed().as_secs_f64();
    let mut failures = arena.surprises();
    failures.extend(cluster.deserter());
    let memory: Vec<_> = cluster.processes().into_iter().zip(memory).map(memory_of).collect();
    failures.extend(
        memory
            .iter()
            .filter(|it| it.before_mib + it.bound_mib < it.after_mib)
            .map(|it| format!("{} grew from {:.0} to {:.0} MiB", it.process, it.before_mib, it.after_mib)),
    );
    let crowd = crowd.finish().await;
    if crowd.errors != 0 || crowd.actions_acked == 0 {
        failures.push(format!("the honest had {} errors, {} answers", crowd.errors, crowd.actions_acked));
    }
    cluster.leave().await?;
    let (said, log_bytes) = logs(scratch.path())?;
    failures.extend(said);
    Ok(Report {
        bench: "hostile",
        bots: args.bots,
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

/// Attacks from a thread of its own, so that the honest bots' clocks measure the servers and not the attackers.
async fn attack(arena: &Arc<Arena>) -> Result<(), Failure> {
    let (arena, (sender, ended)) = (arena.clone(), tokio::sync::oneshot::channel());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("attackers".to_owned()).spawn(move || {
        runtime.block_on(arena.fight());
        let _ = sender.send(());
    })?;
    Ok(ended.await.context("the attackers broke")?)
}

/// What the lobby says the world is called.
async fn world_of(lobby: SocketAddr) -> anyhow::Result<String> {
    let mut stream = tokio::net::TcpStream::connect(lobby).await?;
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let body = answer.split_once("\r\n\r\n").context("the lobby gave no answer")?.1;
    let json: serde_json::Value = serde_json::from_str(body)?;
    Ok(json["world"].as_str().context("the lobby does not name its world")?.to_owned())
}

/// The most memory that a process ever had.
fn most_memory(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib: f64 = line.and_then(|it| it.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(f64::NAN);
    kib / 1_024.0
}

fn memory_of(((process, id), before_mib): ((String, u32), f64)) -> Memory {
    let bound_mib = if process.starts_with("host") { host_bound() } else { seat_bound() } as f64 / MIB;
    Memory { process, before_mib, after_mib: most_memory(id), bound_mib }
}

/// What a host may grow by under attack: all strangers at once, each with all it may make the host keep; connections that
/// nobody has looked at yet; all TCP connections; what the hostile players may make it keep; and the honest play on.
fn host_bound() -> usize {
    use net::{door, endpoint, mailbox};
    let strangers = door::STRANGERS_MAX * endpoint::STRANGER_BYTES;
    let players = super::attack::INSIDERS * (mailbox::SURE_MAX + endpoint::PLAYER_BYTES);
    strangers + endpoint::INCOMING_BYTES + tcp_bound() + players + PLAY_BYTES
}

/// What the directory's process may grow by: its TCP connections, the passwords that are hashed at once, its own work.
fn seat_bound() -> usize {
    tcp_bound() + server::front::HASHING_BYTES + PLAY_BYTES
}

/// The attackers' TCP connections: they do not reach the doors' own limit.
fn tcp_bound() -> usize {
    super::attack::SOCKETS_MAX.min(server::web::CONNECTIONS_MAX) * server::web::CONNECTION_BYTES
}

/// What the world's own growth (log, snapshots, new objects) takes while the attack lasts.
const PLAY_BYTES: usize = 16 * 1024 * 1024;

/// What is in the logs that must not be, and how long they are.
fn logs(data: &Path) -> Result<(Vec<String>, u64), Failure> {
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

fn table(report: &Report) -> String {
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

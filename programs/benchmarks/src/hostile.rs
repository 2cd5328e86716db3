//! A world of its own with honest bots, under attacks from the network and from hostile players. No process may
//! end, no honest bot may lose an action or wait much longer than before, no zone may change its primary, the lobby must let new
//! players log in, logs must stay short, and memory must stay within the sum of the limits.

use crate::claims::{self, MeasuredClaim};
use crate::scratch::Scratch;
use anyhow::{Context as _, Result};
use client::{HistoryWriter, LobbyClient, Transport};
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
use tokio::time::{Instant, MissedTickBehavior};

/// Time for which the honest bots are measured before the attack.
const CALM: Duration = Duration::from_secs(5);

const HOSTS: [u32; 3] = [1, 2, 3];

/// Interval at which a new honest player logs in while the attack lasts: within what the lobby allows one address.
const LOG_IN_EVERY: Duration = Duration::from_secs(1);

/// The most by which an attack may lengthen the slowest in a hundred answers of honest players.
const SLOWER: f64 = 3.0;

/// The 99th percentile, in milliseconds, that no attack is blamed for: attackers, bots and servers share the machine.
const P99_MS_FREE: f64 = 50.0;

/// The most bytes of text log per second and process: some lines, whatever an attacker sends.
const LOG_BYTES_MAX: f64 = 1_024.0;

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
    /// Bytes of text logs per second of the attack, of all processes together.
    pub log_bytes_per_second: f64,
    /// Changes of primary or backup in all zones during the attack.
    pub failovers: u64,
    /// New honest players who logged in during the attack.
    pub log_ins: u64,
    /// New honest players who could not.
    pub log_ins_failed: u64,
    /// The longest time that a log-in took, in milliseconds.
    pub log_in_max_ms: f64,
    /// What must hold under attack, with verdicts.
    pub claims: Vec<MeasuredClaim>,
    /// Everything else that must not happen. Empty is good.
    pub failures: Vec<String>,
}

impl HostileReport {
    /// Texts about everything that happened and must not, claims that do not hold among them.
    pub fn all_failures(&self) -> Vec<String> {
        [self.failures.clone(), claims::failures(&self.claims)].concat()
    }
}

/// The log-ins of new honest players during an attack.
#[derive(Debug, Default)]
struct LogIns {
    done: u64,
    failed: u64,
    longest: Duration,
    /// The reason why the last one failed.
    error: Option<String>,
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
        program: None,
        environment: Vec::new(),
    })
    .await?;
    let mut crowd = BotCrowd::enter(honest(options, game, cluster.lobby())).await?;
    // Starts the counts anew: log-in and entering are not part of the measurement.
    crowd.measure().await;
    tokio::time::sleep(CALM.min(Duration::from_secs_f64(options.seconds))).await;
    let before = crowd.latency();
    crowd.measure().await;
    let memory: Vec<_> = cluster.processes().iter().map(|(_, id)| peak_memory_mib(*id)).collect();
    let (epochs, log_bytes) = (cluster.epochs().await?, logs(scratch.path())?.1);
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(options.seconds);
    let world = world_of(cluster.lobby()).await?;
    let arena =
        AttackRun::new(cluster.lobby(), scratch.path().to_owned(), world, until, options.count).await?;
    let log_ins = fight(&arena, cluster.lobby()).await?;
    let during = crowd.latency();
    let seconds = began.elapsed().as_secs_f64();
    let log_bytes_per_second = (logs(scratch.path())?.1 - log_bytes) as f64 / seconds;
    let mut failures = arena.unexpected_outcomes();
    failures.extend(log_ins.error);
    failures.extend(cluster.ended_process());
    let failovers = cluster.epochs().await?.saturating_sub(epochs);
    let bounds = Bounds::of(options.count);
    let memory: Vec<_> =
        cluster.processes().into_iter().zip(memory).map(|it| memory_of(it, &bounds)).collect();
    failures.extend(overgrown(&memory));
    let crowd = crowd.finish().await;
    if crowd.errors != 0 || crowd.actions_acked == 0 {
        failures.push(format!("the honest had {} errors, {} answers", crowd.errors, crowd.actions_acked));
    }
    cluster.leave().await?;
    let (said, log_bytes) = logs(scratch.path())?;
    failures.extend(said);
    let mut report = HostileReport {
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
        log_bytes_per_second,
        failovers,
        log_ins: log_ins.done,
        log_ins_failed: log_ins.failed,
        log_in_max_ms: log_ins.longest.as_secs_f64() * 1e3,
        claims: Vec::new(),
        failures,
    };
    report.claims = judged(&report);
    Ok(report)
}

/// What must hold, with verdicts.
fn judged(it: &HostileReport) -> Vec<MeasuredClaim> {
    let p99 = (SLOWER * it.p99_ms_before).max(P99_MS_FREE);
    let bytes = LOG_BYTES_MAX * it.memory.len() as f64;
    vec![
        MeasuredClaim::at_most("p99 of honest actions under attack, in ms", it.p99_ms_during, p99),
        MeasuredClaim::at_most("failovers during the attack", it.failovers as f64, 0.0),
        MeasuredClaim::at_most("new players who could not log in", it.log_ins_failed as f64, 0.0),
        MeasuredClaim::at_least("new players who logged in", it.log_ins as f64, 1.0),
        MeasuredClaim::at_most("bytes of text logs per second", it.log_bytes_per_second, bytes),
    ]
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

/// Attacks from a thread of its own, so that the honest bots' clocks measure the servers and not the attackers. Meanwhile new
/// players log in.
async fn fight(arena: &Arc<AttackRun>, lobby: SocketAddr) -> Result<LogIns> {
    let (arena, (sender, ended)) = (arena.clone(), tokio::sync::oneshot::channel());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("attackers".to_owned()).spawn(move || {
        runtime.block_on(arena.attack_all());
        let _ = sender.send(());
    })?;
    let mut log_ins = LogIns::default();
    tokio::select! {
        ended = ended => ended.context("the attackers broke")?,
        () = log_in(lobby, &mut log_ins) => (),
    }
    Ok(log_ins)
}

/// Lets one new player after the other log in, for ever.
async fn log_in(lobby: SocketAddr, log_ins: &mut LogIns) {
    let lobby = LobbyClient::new(&lobby.to_string());
    let mut every = tokio::time::interval(LOG_IN_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let began = Instant::now();
        match lobby.guest("newcomer").await {
            Ok(_) => log_ins.done += 1,
            Err(error) => {
                log_ins.failed += 1;
                log_ins.error = Some(format!("a new player could not log in: {error}"));
            }
        }
        log_ins.longest = log_ins.longest.max(began.elapsed());
    }
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

fn memory_of(((process, id), before_mib): ((String, u32), f64), bounds: &Bounds) -> ProcessMemory {
    let bound = if process.starts_with("host") { bounds.host } else { bounds.control_plane };
    ProcessMemory { process, before_mib, after_mib: peak_memory_mib(id), bound_mib: bound as f64 / MIB }
}

/// The growth in bytes that the limits of each kind of process allow under attack.
struct Bounds {
    host: usize,
    control_plane: usize,
}

impl Bounds {
    /// A host: all unauthenticated connections at once, each with all the memory it may take; connections that the host has
    /// not accepted yet; all TCP connections; the queues of the hostile players; and the world's own growth. The control
    /// plane: its TCP connections, the passwords that are hashed at once, its own work.
    fn of(count: u64) -> Self {
        use net::{connection_limits, endpoint, send_queue};
        let unauthenticated = connection_limits::UNAUTHENTICATED_MAX * endpoint::UNAUTHENTICATED_BYTES;
        let players = attack::INSIDERS * (send_queue::SURE_MAX + endpoint::PLAYER_BYTES);
        let (at_lobby, at_host) = attack::sockets_max(count);
        // The attackers' TCP connections may be fewer than the servers' own limit.
        let tcp = |sockets: usize| sockets.min(server::web::CONNECTIONS_MAX) * server::web::CONNECTION_BYTES;
        Self {
            host: unauthenticated + endpoint::INCOMING_BYTES + tcp(at_host) + players + PLAY_BYTES,
            control_plane: tcp(at_lobby) + server::lobby_http::HASHING_BYTES + PLAY_BYTES,
        }
    }
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
        0 => String::new(),
        _ => format!("MUST NOT HAPPEN:\n- {}\n", report.failures.join("\n- ")),
    };
    let claims = claims::table(&report.claims);
    format!(
        "{attacks}\n\n{memory}\n\n\
         {sent} hostile datagrams, frames and requests in {seconds:.0} s; {bots} honest bots: {honest_actions} actions \
         answered, {honest_errors} errors, {honest_redials} connections dialled again\n\
         latency before p50 {:.1} ms, p99 {:.1} ms; under attack p50 {:.1} ms, p99 {:.1} ms; {log_bytes} bytes of logs\n\
         {} new players logged in, the slowest in {:.0} ms\n\n{claims}\n{failures}",
        report.p50_ms_before,
        report.p99_ms_before,
        report.p50_ms_during,
        report.p99_ms_during,
        report.log_ins,
        report.log_in_max_ms,
    )
}

//! Child processes of benchmarks: crowds of clients, and both ends of the floor.
//!
//! They are this program again, called with `bench walkers` and `bench floor`, so that each can have a core of its own.

use anyhow::{Context as _, Result, ensure};
use machine::stage::Stage;
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;
use testbed::cluster::Cluster;
use testbed::process;
use testbed::walkers::{MeasurePoint, WalkersReport};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::Instant;

/// The floor is measured for at most this long: it does not vary.
const FLOOR_SECONDS: f64 = 5.0;

/// The cores of the server and of the clients; empty if all share all.
#[derive(Default)]
pub struct CoreAssignment {
    pub all: Vec<usize>,
    pub server: Vec<usize>,
    pub clients: Vec<usize>,
}

/// A crowd of clients in a process of its own.
pub struct ChildCrowd {
    /// Number of bots.
    pub bots: u32,
    /// Duration of the measurement, in seconds.
    pub seconds: f64,
    /// The bots connect by WebSocket instead of QUIC.
    pub web_socket: bool,
    /// The bots play as the game's own bots do, instead of walking only.
    pub plays: bool,
}

/// The packets of plain UDP, per client and second, and their bytes.
pub struct FloorPackets {
    pub up: f64,
    pub down: f64,
    pub up_bytes: f64,
    pub down_bytes: f64,
}

/// The cost of a crowd.
pub struct CrowdCost {
    /// Results of the clients.
    pub walked: WalkersReport,
    /// The servers' CPU milliseconds per client and second.
    pub cpu_ms: f64,
    /// Cores that the servers took.
    pub cores: f64,
    /// The hosts' CPU microseconds per client and second, by stage.
    pub stages: BTreeMap<String, f64>,
}

/// Lets clients walk or play.
pub async fn run_crowd(options: &ChildCrowd, cores: &CoreAssignment, cluster: &Cluster) -> Result<CrowdCost> {
    let bots = options.bots;
    let mut command = part("walkers")?;
    command.args(["--lobby", &cluster.lobby().to_string(), "--count", &bots.to_string()]);
    command.args(["--seconds", &options.seconds.to_string()]);
    command.args(options.web_socket.then_some("--web-socket"));
    command.args(options.plays.then_some("--plays"));
    let (mut clients, mut lines) = start(command, &cores.clients, &cores.all)?;
    until(&mut lines, MeasurePoint::Begin.line()).await?;
    let stages_before = cluster.stage_micros().await?;
    let (began, before) = (Instant::now(), cluster.processor_seconds());
    until(&mut lines, MeasurePoint::End.line()).await?;
    let (took, after) = (began.elapsed().as_secs_f64(), cluster.processor_seconds());
    let stages_after = cluster.stage_micros().await?;
    let line = lines.next_line().await?.context("the bots' process ended early")?;
    let walked: WalkersReport = serde_json::from_str(&line)?;
    clients.wait().await?;
    let (spent, client_seconds) = (after - before, f64::from(bots) * took);
    let stages = stages_after.into_iter().map(|(stage, micros)| {
        let micros = micros - stages_before.get(&stage).copied().unwrap_or(0).min(micros);
        (stage, micros as f64 / client_seconds)
    });
    let stages = stages.collect();
    Ok(CrowdCost { walked, cpu_ms: 1e3 * spent / client_seconds, cores: spent / took, stages })
}

/// A row of a table of stages: the crowd, then microseconds per client and second in the order of a message's way.
pub fn stage_row(crowd: String, stages: &BTreeMap<String, f64>) -> Vec<String> {
    let micros = |name: &str| format!("{:.0}", stages.get(name).copied().unwrap_or(0.0));
    std::iter::once(crowd).chain(stage_names().map(micros)).collect()
}

/// The names of all stages.
pub fn stage_names() -> impl Iterator<Item = &'static str> {
    Stage::ALL.into_iter().map(Stage::name).chain(["disk"])
}

/// The cost of plain UDP for these packets, in CPU milliseconds per client and second.
pub async fn floor(cores: &CoreAssignment, bots: u32, packets: &FloorPackets, seconds: f64) -> Result<f64> {
    let size = |bytes: f64, packets: f64| (bytes / packets.max(1e-9)).round().clamp(4.0, 1_452.0).to_string();
    let down = size(packets.down_bytes, packets.down);
    let up = size(packets.up_bytes, packets.up);
    let answers = packets.down / packets.up.max(1e-9);
    let bots_text = bots.to_string();
    let time = seconds.min(FLOOR_SECONDS);
    let mut command = part("floor")?;
    command.args(["--end", "server", "--clients", &bots_text, "--down-bytes", &down]);
    command.args(["--answers", &answers.to_string()]);
    let (mut server, mut lines) = start(command, &cores.server, &cores.all)?;
    let address = lines.next_line().await?.context("the floor's server ended early")?;
    let mut command = part("floor")?;
    command.args(["--end", "clients", "--clients", &bots_text, "--server", &address, "--up-bytes", &up]);
    command.args(["--up", &packets.up.to_string()]);
    command.args(["--seconds", &(time + 1.0).to_string()]);
    let (mut clients, _lines) = start(command, &cores.clients, &cores.all)?;
    let process = server.id().context("the floor's server ended early")?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (began, before) = (Instant::now(), process::processor_seconds(process));
    tokio::time::sleep(Duration::from_secs_f64(time)).await;
    let (took, after) = (began.elapsed().as_secs_f64(), process::processor_seconds(process));
    clients.wait().await?;
    server.wait().await?;
    let spent = after.zip(before).map(|(after, before)| after - before);
    Ok(1e3 * spent.context("the floor's server ended early")? / (f64::from(bots) * took))
}

/// The command of a child process of this benchmark.
fn part(name: &str) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["bench", name]).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

/// Starts a process on `cores`; this process goes back to `all` cores.
fn start(
    mut command: Command,
    cores: &[usize],
    all: &[usize],
) -> Result<(Child, Lines<BufReader<ChildStdout>>)> {
    // A child inherits the cores of the thread that starts it.
    process::stay_on(cores);
    let child = command.spawn().context("cannot start a process");
    process::stay_on(all);
    let mut child = child?;
    let out = child.stdout.take().context("it has an output")?;
    Ok((child, BufReader::new(out).lines()))
}

async fn until(lines: &mut Lines<BufReader<ChildStdout>>, expected: &str) -> Result<()> {
    let line = lines.next_line().await?.context("the bots' process ended early")?;
    ensure!(line == expected, "the bots' process said {line:?}");
    Ok(())
}

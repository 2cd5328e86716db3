//! `ecumene bench server`: what a client costs the server, at constant density, beside plain UDP.
//!
//! Server and clients are processes of their own, each on a core of its own, so neither's work is the other's.

use super::scratch::Scratch;
use super::walkers::{self, Walked};
use super::{Format, core};
use crate::play::block_on;
use crate::play::cluster::{Cluster, ClusterOptions};
use crate::{Failure, print, progress};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use comfy_table::{Table, presets};
use serde::Serialize;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::Instant;

/// How many others everybody should see, on average.
const VISIBLE: f64 = 22.0;

/// How far everybody sees, in metres: Kosmos's range and the policies' default.
const VIEW: f64 = 60.0;

/// The floor is measured for at most this long: it does not vary.
const FLOOR_SECONDS: f64 = 5.0;

/// What `ecumene bench server` takes.
#[derive(Args)]
pub struct ServerArgs {
    /// How many clients
    #[arg(long, value_delimiter = ',', default_values_t = [100, 400, 1000],
          value_parser = clap::value_parser!(u32).range(2..=5_000))]
    bots: Vec<u32>,
    /// Who hears of whom
    #[arg(long, value_delimiter = ',', value_enum,
          default_values_t = [PolicyName::Everything, PolicyName::Circle, PolicyName::A3])]
    policies: Vec<PolicyName>,
    /// For how long each is measured
    #[arg(long, default_value_t = 10.0, value_parser = super::seconds)]
    seconds: f64,
    /// How many hosts the world has; a second one is the backup
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=3))]
    hosts: u32,
    /// How many zones the world is cut into; several, to see side by side what borders cost
    #[arg(long, value_delimiter = ',', default_values_t = [1], value_parser = clap::value_parser!(u32).range(1..=64))]
    zones: Vec<u32>,
    /// Clients connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A policy, as configurations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum PolicyName {
    Everything,
    Circle,
    CircleAttenuated,
    FieldOfView,
    A3,
}

impl PolicyName {
    fn name(self) -> String {
        self.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    /// The least updates a client must get per second if nothing falls behind; `None` where the policy grades.
    fn due(self, bots: u32, visible: f64) -> Option<f64> {
        match self {
            Self::Everything => Some(10.0 * f64::from(bots - 1)),
            Self::Circle => Some(10.0 * visible),
            Self::CircleAttenuated | Self::FieldOfView | Self::A3 => None,
        }
    }
}

#[derive(Serialize)]
struct Report {
    bench: &'static str,
    hosts: u32,
    transport: &'static str,
    /// Whether server and clients had a core each.
    pinned: bool,
    seconds: f64,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    bots: u32,
    zones: u32,
    policy: PolicyName,
    visible: f64,
    moves_per_client_second: f64,
    updates_per_client_second: f64,
    /// UDP bytes and packets to a client, and from it.
    bytes_per_client_second: f64,
    packets_per_client_second: f64,
    bytes_up_per_client_second: f64,
    packets_up_per_client_second: f64,
    cpu_ms_per_client_second: f64,
    udp_floor_cpu_ms_per_client_second: f64,
    ratio: f64,
    ping_p50_ms: f64,
    ping_p99_ms: f64,
    errors: u64,
    saturated: bool,
    /// What fell behind, for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    because: Vec<String>,
}

/// The cores of the server and of the clients; empty if there is only one.
struct Places {
    all: Vec<usize>,
    server: Vec<usize>,
    clients: Vec<usize>,
}

/// Runs the benchmark.
pub fn run(args: &ServerArgs) -> Result<(), Failure> {
    let all = core::cores();
    let places = match all[..] {
        [server, clients, ..] => Places { server: vec![server], clients: vec![clients], all },
        _ => Places { server: Vec::new(), clients: Vec::new(), all },
    };
    let bar =
        progress::bar("bench server", (args.bots.len() * args.policies.len() * args.zones.len()) as u64);
    bar.enable_steady_tick(Duration::from_millis(200));
    let rows = block_on(async {
        let mut rows = Vec::new();
        for &bots in &args.bots {
            for &policy in &args.policies {
                for &zones in &args.zones {
                    rows.push(measure(args, &places, (bots, zones), policy).await?);
                    bar.inc(1);
                }
            }
        }
        Ok(rows)
    })?;
    bar.finish_and_clear();
    let report = Report {
        bench: "server",
        hosts: args.hosts,
        transport: if args.web_socket { "web-socket" } else { "quic" },
        pinned: !places.server.is_empty(),
        seconds: args.seconds,
        rows,
    };
    print(&match args.format {
        Format::Table => table(&report),
        Format::Json => serde_json::to_string_pretty(&report)? + "\n",
    })
}

async fn measure(
    args: &ServerArgs,
    places: &Places,
    (bots, zones): (u32, u32),
    policy: PolicyName,
) -> Result<Row, Failure> {
    let scratch = Scratch::new()?;
    let hosts: Vec<u32> = (1..=args.hosts).collect();
    let (half, room) = (half(bots), bots + 100);
    // No limit: what a policy costs is to be seen, not what is left of it.
    let config = scratch.configure(&format!(
        "world = {{ half = {half}, hosts = {hosts:?}, zones = {zones} }}\n\
         carrier = {{ policy = {:?}, bytes_per_second = 0 }}\n\
         host = {{ players_max = {room} }}\n\
         lobby = {{ per_address = 1000.0, burst = 100000 }}\n",
        policy.name(),
    ))?;
    core::stay_on(&places.server);
    let cluster = Cluster::start(ClusterOptions {
        data: scratch.path().to_owned(),
        config: Some(config),
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts,
    })
    .await?;
    let (walked, spent, share) = walk(args, places, bots, &cluster).await?;
    cluster.leave().await?;
    let floor = if args.web_socket { f64::NAN } else { floor(places, bots, &walked, args.seconds).await? };
    Ok(row((bots, zones), policy, walked, spent, share, floor))
}

/// Half the side of a square in which everybody sees [`VISIBLE`] others, in metres. Whoever stands at an edge sees fewer:
/// the mean part of a square of side L that is within R of a point in it is πR²/L² - 8R³/3L³ + R⁴/2L⁴, for R < L.
fn half(bots: u32) -> u32 {
    let visible = |half: u32| {
        let part = VIEW / (2.0 * f64::from(half));
        let near = std::f64::consts::PI * part.powi(2) - 8.0 / 3.0 * part.powi(3) + part.powi(4) / 2.0;
        f64::from(bots - 1) * near
    };
    (VIEW as u32 / 2..).find(|&it| visible(it) <= VISIBLE).unwrap_or(u32::MAX)
}

/// Lets clients walk. What they experienced, what the servers spent meanwhile, and which part of a core.
async fn walk(
    args: &ServerArgs,
    places: &Places,
    bots: u32,
    cluster: &Cluster,
) -> Result<(Walked, f64, f64), Failure> {
    let mut command = part("walkers")?;
    command.args(["--lobby", &cluster.lobby().to_string(), "--count", &bots.to_string()]);
    command.args(["--seconds", &args.seconds.to_string()]);
    if args.web_socket {
        command.arg("--web-socket");
    }
    let (mut clients, mut lines) = start(command, &places.clients, &places.all)?;
    until(&mut lines, walkers::BEGIN).await?;
    let (began, before) = (Instant::now(), cluster.processor_seconds());
    until(&mut lines, walkers::END).await?;
    let (took, after) = (began.elapsed().as_secs_f64(), cluster.processor_seconds());
    let line = lines.next_line().await?.context("the bots' process ended early")?;
    let walked: Walked = serde_json::from_str(&line)?;
    clients.wait().await?;
    let spent = after - before;
    Ok((walked, 1e3 * spent / (f64::from(bots) * took), spent / took))
}

/// What plain UDP costs for the same packets, in milliseconds per client and second.
async fn floor(places: &Places, bots: u32, walked: &Walked, seconds: f64) -> Result<f64, Failure> {
    let crowd = &walked.crowd;
    let size = |bytes: f64, packets: f64| (bytes / packets.max(1e-9)).round().clamp(4.0, 1_452.0).to_string();
    let down = size(crowd.udp_bytes_per_client_second, crowd.packets_per_client_second);
    let up = size(crowd.udp_bytes_out_per_client_second, crowd.packets_out_per_client_second);
    let answers = crowd.packets_per_client_second / crowd.packets_out_per_client_second.max(1e-9);
    let bots_text = bots.to_string();
    let time = seconds.min(FLOOR_SECONDS);
    let mut command = part("floor")?;
    command.args(["--end", "server", "--clients", &bots_text, "--down-bytes", &down]);
    command.args(["--answers", &answers.to_string()]);
    let (mut server, mut lines) = start(command, &places.server, &places.all)?;
    let address = lines.next_line().await?.context("the floor's server ended early")?;
    let mut command = part("floor")?;
    command.args(["--end", "clients", "--clients", &bots_text, "--server", &address, "--up-bytes", &up]);
    command.args(["--up", &crowd.packets_out_per_client_second.to_string()]);
    command.args(["--seconds", &(time + 1.0).to_string()]);
    let (mut clients, _lines) = start(command, &places.clients, &places.all)?;
    let process = server.id().context("the floor's server ended early")?;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (began, before) = (Instant::now(), core::processor_seconds(process));
    tokio::time::sleep(Duration::from_secs_f64(time)).await;
    let (took, after) = (began.elapsed().as_secs_f64(), core::processor_seconds(process));
    clients.wait().await?;
    server.wait().await?;
    let spent = after.zip(before).map(|(after, before)| after - before);
    Ok(1e3 * spent.context("the floor's server ended early")? / (f64::from(bots) * took))
}

/// A process of this benchmark.
fn part(name: &str) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args(["bench", name]).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

/// Starts a process on some cores; this one goes on where it may.
fn start(
    mut command: Command,
    cores: &[usize],
    all: &[usize],
) -> Result<(Child, Lines<BufReader<ChildStdout>>), Failure> {
    core::stay_on(cores);
    let child = command.spawn().context("cannot start a process");
    core::stay_on(all);
    let mut child = child?;
    let out = child.stdout.take().context("it has an output")?;
    Ok((child, BufReader::new(out).lines()))
}

async fn until(lines: &mut Lines<BufReader<ChildStdout>>, said: &str) -> Result<(), Failure> {
    let line = lines.next_line().await?.context("the bots' process ended early")?;
    if line == said { Ok(()) } else { Err(anyhow::anyhow!("the bots' process said {line:?}").into()) }
}

fn row(
    (bots, zones): (u32, u32),
    policy: PolicyName,
    walked: Walked,
    cpu: f64,
    share: f64,
    floor: f64,
) -> Row {
    let because = behind(bots, policy, &walked, share);
    let crowd = walked.crowd;
    Row {
        bots,
        zones,
        policy,
        visible: walked.visible,
        moves_per_client_second: walked.moves_per_client_second,
        updates_per_client_second: crowd.updates_per_client_second,
        bytes_per_client_second: crowd.udp_bytes_per_client_second,
        packets_per_client_second: crowd.packets_per_client_second,
        bytes_up_per_client_second: crowd.udp_bytes_out_per_client_second,
        packets_up_per_client_second: crowd.packets_out_per_client_second,
        cpu_ms_per_client_second: cpu,
        udp_floor_cpu_ms_per_client_second: floor,
        ratio: cpu / floor,
        ping_p50_ms: walked.ping_p50_ms,
        ping_p99_ms: walked.ping_p99_ms,
        errors: crowd.errors,
        saturated: !because.is_empty(),
        because,
    }
}

/// What fell behind: then the costs are those of a server (or of clients) that does not keep up.
fn behind(bots: u32, policy: PolicyName, walked: &Walked, share: f64) -> Vec<String> {
    let mut because = Vec::new();
    let updates = walked.crowd.updates_per_client_second;
    if let Some(due) = policy.due(bots, walked.visible).filter(|due| updates < 0.9 * due) {
        because.push(format!("{updates:.0} updates instead of {due:.0}"));
    }
    if walked.inside < bots as usize {
        because.push(format!("only {} bots got in", walked.inside));
    }
    if walked.moves_per_client_second < 9.0 {
        because.push(format!("bots moved {:.1} times a second", walked.moves_per_client_second));
    }
    if 100.0 < walked.ping_p50_ms {
        because.push(format!("round trips took {:.0} ms", walked.ping_p50_ms));
    }
    if 0 < walked.lost {
        because.push(format!("{} datagrams of poses found no room", walked.lost));
    }
    if 0.9 < share {
        because.push(format!("the server's core was busy for {:.0} %", 100.0 * share));
    }
    because
}

fn table(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "bots",
        "zones",
        "policy",
        "visible",
        "moves",
        "updates",
        "packets down",
        "up",
        "bytes down",
        "up",
        "CPU ms",
        "UDP floor",
        "ratio",
        "round trip p50, p99 ms",
        "",
    ]);
    for it in &report.rows {
        let up = it.packets_up_per_client_second;
        let note = if it.saturated { format!("saturated: {}", it.because.join(", ")) } else { String::new() };
        table.add_row([
            it.bots.to_string(),
            it.zones.to_string(),
            it.policy.name(),
            format!("{:.1}", it.visible),
            format!("{:.1}", it.moves_per_client_second),
            format!("{:.0}", it.updates_per_client_second),
            format!("{:.1}", it.packets_per_client_second),
            format!("{up:.1}"),
            format!("{:.0}", it.bytes_per_client_second),
            format!("{:.0}", it.bytes_up_per_client_second),
            format!("{:.3}", it.cpu_ms_per_client_second),
            format!("{:.3}", it.udp_floor_cpu_ms_per_client_second),
            format!("{:.1}", it.ratio),
            format!("{:.1}, {:.1}", it.ping_p50_ms, it.ping_p99_ms),
            note,
        ]);
    }
    let cores = if report.pinned { "a core each" } else { "the same core: there is only one" };
    format!(
        "{table}\nAll per client and second; {} s each; {} host(s); server and clients on {cores}.\n",
        report.seconds, report.hosts
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_grows_with_the_crowd_and_the_density_stays() {
        let density = |bots: u32| f64::from(bots) / (4.0 * f64::from(half(bots)).powi(2));
        assert_eq!([100, 400, 1_000].map(half), [99, 213, 346]);
        assert!((density(1_000) / density(4_000) - 1.0).abs() < 0.1);
    }
}

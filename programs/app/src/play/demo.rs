//! `ecumene demo`: a whole world in one command: control plane with web page, hosts, and bots that play.

use super::bots::{check_behaviour, table};
use super::{ConfigArgs, block_on, logging, stop_signal, transport};
use crate::command::{CommandError, OutputFormat, print, print_to_stderr};
use crate::program::Program;
use clap::Args;
use client::{Header, HistoryWriter, HostHealth};
use serde::Serialize;
use server::ServerConfig;
use server::config::ZONES_MAX;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testbed::cluster::{self, ClusterOptions};
use testbed::crowd::{BotCrowd, CrowdCounts, CrowdOptions, CrowdReport};
use testbed::running_world::RunningWorld;
use testbed::watch::{CrossZoneTotals, WatchOptions, watch};

/// Folder of the demo's world, unless `--data` or a configuration names another.
const DATA: &str = "out/world";

/// Starts a whole world on this computer and prints the address of the web page. Ctrl-C ends it; the next start
/// continues the same world.
#[derive(Args)]
pub struct DemoArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Number of bots that play
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=20_000))]
    bots: u32,
    /// Behaviour of the bots
    #[arg(long, default_value = "mixed", value_name = "NAME")]
    behaviour: String,
    /// Bots connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// Port of the web page; any free port if this one is taken
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Number of hosts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    hosts: u32,
    /// Number of zones of a new world
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(ZONES_MAX)))]
    zones: Option<u32>,
    /// End after so many seconds and report the bots' measurements
    #[arg(long)]
    seconds: Option<u32>,
    /// Kill the host with the most primaries after so many seconds (kill -9); it comes back two seconds later
    #[arg(long, value_name = "SECONDS")]
    kill_host_after: Option<u32>,
    /// Delete the existing world first
    #[arg(long)]
    fresh: bool,
    /// Run all hosts in one process instead of one process per host
    #[arg(long)]
    in_process: bool,
    /// Output format of the report
    #[arg(long, value_enum, default_value = "table")]
    format: OutputFormat,
}

/// The report of a demo that ended.
#[derive(Debug, Serialize)]
struct DemoReport {
    #[serde(flatten)]
    crowd: CrowdReport,
    server_cpu_seconds: f64,
    transfers: u64,
    cross_zone_events: u64,
    splits: u64,
    failovers: u64,
}

pub fn run(program: &Program, args: &DemoArgs) -> Result<(), CommandError> {
    if args.kill_host_after.is_some() && (args.in_process || args.hosts < 2) {
        return Err(CommandError::Usage(
            "--kill-host-after needs at least two hosts that are processes".to_owned(),
        ));
    }
    if let (Some(kill), Some(end)) = (args.kill_host_after, args.seconds)
        && end <= kill
    {
        return Err(CommandError::Usage(format!("--kill-host-after {kill} is not before --seconds {end}")));
    }
    check_behaviour(program, &args.behaviour)?;
    let mut config = args.config.load(program)?;
    if args.config.data.is_none() && args.config.config.is_none() {
        config.data = PathBuf::from(DATA);
    }
    if args.fresh {
        cluster::remove_world(&config.data)?;
    }
    config.world.hosts = (1..=args.hosts).collect();
    if let Some(zones) = args.zones.or(args.config.config.is_none().then_some(program.demo_zones())) {
        config.world.zones = zones;
    }
    // All bots log in from one address, so the limits per address must not slow them down.
    config.lobby.per_address = 1_000.0;
    config.lobby.burst = 100_000;
    config.lobby.listen = free_or_any(args.port);
    if args.in_process {
        logging::start(&config.log)?;
    }
    block_on(async {
        let world = if args.in_process {
            RunningWorld::start_in_process(&config, program.rules(config.world.half)?, program.load_page())
                .await?
        } else {
            RunningWorld::start_processes(cluster_options(args, &config)?).await?
        };
        let lobby = world.lobby();
        if args.format == OutputFormat::Table {
            let name = program.world_name();
            print_to_stderr(&format!(
                "{name} is at http://{lobby}/ (Ctrl-C ends it; the world is kept in {})",
                config.data.display()
            ));
            warn_if_zones_differ(args, &config, lobby).await;
        }
        play(program, args, &config, world, lobby).await
    })
}

impl DemoArgs {
    fn watch_options(&self) -> WatchOptions {
        let after = |seconds: Option<u32>| seconds.map(|it| Duration::from_secs(it.into()));
        WatchOptions { end_after: after(self.seconds), kill_after: after(self.kill_host_after) }
    }
}

fn free_or_any(port: u16) -> SocketAddr {
    let preferred = SocketAddr::from(([127, 0, 0, 1], port));
    // The listener is dropped at once, so the lobby can bind the port; another process may take it in between, and then
    // the start fails.
    let is_free = std::net::TcpListener::bind(preferred).is_ok();
    if is_free { preferred } else { SocketAddr::from(([127, 0, 0, 1], 0)) }
}

/// The options of a demo's processes. Writes their configuration into the world's folder.
fn cluster_options(args: &DemoArgs, config: &ServerConfig) -> Result<ClusterOptions, CommandError> {
    std::fs::create_dir_all(&config.data)?;
    let path = config.data.join("demo.toml");
    std::fs::write(&path, demo_config(args, config)?)?;
    Ok(ClusterOptions {
        data: config.data.clone(),
        config: Some(path),
        history: config.history().map(Path::to_owned),
        lobby: config.lobby.listen,
        hosts: config.world.hosts.clone(),
        program: None,
        environment: Vec::new(),
    })
}

/// The configuration that a demo's processes share: the given file with the demo's own values set.
fn demo_config(args: &DemoArgs, config: &ServerConfig) -> Result<String, CommandError> {
    let given = match &args.config.config {
        Some(path) => std::fs::read_to_string(path)?,
        None => String::new(),
    };
    let mut table: server::config::ConfigTable = given.parse().map_err(anyhow::Error::from)?;
    server::config::set(&mut table, "lobby", "per_address", config.lobby.per_address);
    server::config::set(&mut table, "lobby", "burst", i64::from(config.lobby.burst));
    let hosts: Vec<i64> = config.world.hosts.iter().map(|&it| i64::from(it)).collect();
    server::config::set(&mut table, "world", "hosts", hosts);
    server::config::set(&mut table, "world", "zones", i64::from(config.world.zones));
    Ok(table.to_string())
}

async fn play(
    program: &Program,
    args: &DemoArgs,
    config: &ServerConfig,
    mut world: RunningWorld,
    lobby: SocketAddr,
) -> Result<(), CommandError> {
    let header = Header::of(format!("bots-{}", std::process::id()));
    let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
    let options = CrowdOptions {
        game: program.game(),
        lobby: lobby.to_string(),
        count: args.bots as usize,
        behaviour: args.behaviour.clone(),
        transport: transport(args.web_socket),
        history,
        seed: config.world.seed,
        pace: None,
    };
    let mut crowd = tokio::select! {
        crowd = BotCrowd::enter(options) => crowd?,
        () = stop_signal() => return Ok(world.leave().await?),
    };
    if args.format == OutputFormat::Table && 0 < args.bots {
        print_to_stderr(&entered_line(crowd.counts()));
    }
    crowd.measure().await;
    let spent_before = world.processor_seconds();
    let mut counts = CrossZoneTotals::begin(lobby).await;
    let tell = |line: &str| tell(args, line);
    let failovers = watch(&mut world, &mut counts, args.watch_options(), stop_signal(), &tell).await?;
    let HostHealth { transfers, cross_zone_events } = counts.end().await;
    let server_cpu_seconds = world.processor_seconds() - spent_before;
    let crowd = crowd.finish().await;
    world.leave().await?;
    if args.seconds.is_none() && args.format == OutputFormat::Table {
        print_to_stderr("The world is kept; start again to go on.");
        return Ok(());
    }
    let report = DemoReport { crowd, server_cpu_seconds, transfers, cross_zone_events, splits: 0, failovers };
    print_report(&report, args.format)
}

/// A line about the bots that are in, and those that wait.
fn entered_line(it: CrowdCounts) -> String {
    match it.queued {
        0 => format!("{} bots are in", it.in_world),
        queued => format!("{} bots are in, {queued} wait in the queue", it.in_world),
    }
}

fn print_report(report: &DemoReport, format: OutputFormat) -> Result<(), CommandError> {
    match format {
        OutputFormat::Json => print(&format!("{}\n", serde_json::to_string(report)?)),
        OutputFormat::Table => print(&format!(
            "{}servers   {:.1} processor seconds, {} failovers\n\
             zones     {} transfers, {} events across borders\n",
            table(&report.crowd),
            report.server_cpu_seconds,
            report.failovers,
            report.transfers,
            report.cross_zone_events,
        )),
    }
}

/// Warns if `--zones` differs from the existing world, which keeps its number of zones.
async fn warn_if_zones_differ(args: &DemoArgs, config: &ServerConfig, lobby: SocketAddr) {
    let Ok(health) = client::LobbyClient::new(&lobby.to_string()).health().await else { return };
    let zones = health.zones.len();
    if args.zones.is_some_and(|it| it as usize != zones) {
        let asked = config.world.zones;
        print_to_stderr(&format!(
            "This world was founded with {zones} zones, not {asked}; --fresh makes a new one"
        ));
    }
}

fn tell(args: &DemoArgs, line: &str) {
    if args.format == OutputFormat::Table {
        print_to_stderr(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_program::test_program;
    use clap::Parser;

    #[derive(Parser)]
    struct DemoCommandLine {
        #[command(flatten)]
        demo: DemoArgs,
    }

    #[test]
    fn a_world_has_1_to_256_zones() {
        let zones =
            |text: &str| DemoCommandLine::try_parse_from(["demo", "--zones", text]).map(|it| it.demo.zones);
        assert!(matches!(zones("256"), Ok(Some(256))));
        for bad in ["0", "257", "many"] {
            let why = zones(bad).expect_err("it is refused").to_string();
            assert!(why.contains("--zones"), "{why}");
        }
    }

    #[test]
    fn an_unknown_behaviour_is_refused() {
        let program = test_program();
        let check_behaviour = |name| check_behaviour(&program, name);
        assert!(check_behaviour("border").is_ok() && check_behaviour("mixed").is_ok());
        let Err(CommandError::Usage(why)) = check_behaviour("sulk") else {
            panic!("it is refused with exit code 2")
        };
        assert!(why.contains("border, cross"), "{why}");
    }
}

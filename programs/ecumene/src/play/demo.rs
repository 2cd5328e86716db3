//! `ecumene demo`: everything in one command. Directory and lobby, three hosts, the Kosmos world with its backup, bots,
//! and the page.

use super::bots::{Format, check_behaviour, table};
use super::{ConfigArgs, block_on, logging, rules, told_to_stop, transport};
use crate::kosmos_game::kosmos_game;
use crate::{Failure, print, say};
use clap::Args;
use client::{Header, HistoryWriter, HostHealth};
use serde::Serialize;
use server::Config;
use server::config::ZONES_MAX;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testbed::cluster::{self, ClusterOptions};
use testbed::crowd::{Crowd, CrowdOptions, CrowdReport};
use testbed::watch::{BorderCounts, WatchOptions, watch};
use testbed::world::RunningWorld;

/// Where the world of the demo is kept by default.
const DATA: &str = "out/world";

/// How many zones a demo has by default.
const ZONES: u32 = 6;

/// Starts a whole world on this machine and says where to play. Ctrl-C ends it; started again, it is as it was.
#[derive(Args)]
pub struct DemoArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// How many bots play along
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=20_000))]
    bots: u32,
    /// What the bots do: wander, hunt, gather, trade, talk, or these in turn; border or cross
    #[arg(long, default_value = "mixed", value_name = "NAME")]
    behaviour: String,
    /// Bots connect by WebSocket instead of QUIC
    #[arg(long)]
    web_socket: bool,
    /// The port of the page; any free one if it is taken
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// How many hosts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    hosts: u32,
    /// How many zones a new world is cut into
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(ZONES_MAX)))]
    zones: Option<u32>,
    /// End after so many seconds and report what the bots experienced
    #[arg(long)]
    seconds: Option<u32>,
    /// Kill the host that decides in the most zones after so many seconds (kill -9); it comes back two seconds later
    #[arg(long, value_name = "SECONDS")]
    kill_host_after: Option<u32>,
    /// Forget the world of the last time
    #[arg(long)]
    fresh: bool,
    /// All in one process instead of one per host
    #[arg(long)]
    in_process: bool,
    /// How to print the report
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// What a demo reports when it ends.
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

/// Runs `ecumene demo`.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    if args.kill_host_after.is_some() && (args.in_process || args.hosts < 2) {
        return Err(Failure::Asked(
            "--kill-host-after needs at least two hosts that are processes".to_owned(),
        ));
    }
    if let (Some(kill), Some(end)) = (args.kill_host_after, args.seconds)
        && end <= kill
    {
        return Err(Failure::Asked(format!("--kill-host-after {kill} is not before --seconds {end}")));
    }
    check_behaviour(&args.behaviour)?;
    let mut config = args.config.load()?;
    if args.config.data.is_none() && args.config.config.is_none() {
        config.data = PathBuf::from(DATA);
    }
    if args.fresh {
        cluster::forget(&config.data)?;
    }
    config.world.hosts = (1..=args.hosts).collect();
    if let Some(zones) = args.zones.or(args.config.config.is_none().then_some(ZONES)) {
        config.world.zones = zones;
    }
    // Bots all come from one address.
    config.lobby.per_address = 1_000.0;
    config.lobby.burst = 100_000;
    config.lobby.listen = free_or_any(args.port);
    if args.in_process {
        logging::start(&config.log)?;
    }
    block_on(async {
        let world = if args.in_process {
            RunningWorld::inside(&config, rules(config.world.half)?).await?
        } else {
            RunningWorld::outside(cluster_options(args, &config)?).await?
        };
        let lobby = world.lobby();
        if args.format == Format::Table {
            say(&format!(
                "Kosmos is at http://{lobby}/ (Ctrl-C ends it; the world is kept in {})",
                config.data.display()
            ));
            told_zones(args, &config, lobby).await;
        }
        play(args, &config, world, lobby).await
    })
}

impl DemoArgs {
    fn watch_options(&self) -> WatchOptions {
        let after = |seconds: Option<u32>| seconds.map(|it| Duration::from_secs(it.into()));
        WatchOptions { end_after: after(self.seconds), kill_after: after(self.kill_host_after) }
    }
}

fn free_or_any(port: u16) -> SocketAddr {
    let wanted = SocketAddr::from(([127, 0, 0, 1], port));
    let is_free = std::net::TcpListener::bind(wanted).is_ok();
    if is_free { wanted } else { SocketAddr::from(([127, 0, 0, 1], 0)) }
}

/// The processes of a demo; their configuration is written into the world's folder.
fn cluster_options(args: &DemoArgs, config: &Config) -> Result<ClusterOptions, Failure> {
    std::fs::create_dir_all(&config.data)?;
    let path = config.data.join("demo.toml");
    std::fs::write(&path, demo_config(args, config)?)?;
    Ok(ClusterOptions {
        data: config.data.clone(),
        config: Some(path),
        history: config.history().map(Path::to_owned),
        lobby: config.lobby.listen,
        hosts: config.world.hosts.clone(),
    })
}

/// The configuration that the processes of a demo share.
fn demo_config(args: &DemoArgs, config: &Config) -> Result<String, Failure> {
    let given = match &args.config.config {
        Some(path) => std::fs::read_to_string(path)?,
        None => String::new(),
    };
    let mut table: server::config::Table = given.parse().map_err(anyhow::Error::from)?;
    server::config::set(&mut table, "lobby", "per_address", config.lobby.per_address);
    server::config::set(&mut table, "lobby", "burst", i64::from(config.lobby.burst));
    let hosts: Vec<i64> = config.world.hosts.iter().map(|&it| i64::from(it)).collect();
    server::config::set(&mut table, "world", "hosts", hosts);
    server::config::set(&mut table, "world", "zones", i64::from(config.world.zones));
    Ok(table.to_string())
}

async fn play(
    args: &DemoArgs,
    config: &Config,
    mut world: RunningWorld,
    lobby: SocketAddr,
) -> Result<(), Failure> {
    let header = Header::of(format!("bots-{}", std::process::id()));
    let history = HistoryWriter::begin(config.history(), &header, net::clock::now)?;
    let options = CrowdOptions {
        game: kosmos_game(),
        lobby: lobby.to_string(),
        count: args.bots as usize,
        behaviour: args.behaviour.clone(),
        transport: transport(args.web_socket),
        history,
        seed: config.world.seed,
        pace: None,
    };
    let mut crowd = tokio::select! {
        crowd = Crowd::enter(options) => crowd?,
        () = told_to_stop() => return Ok(world.leave().await?),
    };
    if args.format == Format::Table && 0 < crowd.bots() {
        say(&format!("{} bots are in", crowd.bots()));
    }
    crowd.measure().await;
    let spent_before = world.processor_seconds();
    let mut counts = BorderCounts::begin(lobby).await;
    let tell = |line: &str| tell(args, line);
    let failovers = watch(&mut world, &mut counts, args.watch_options(), told_to_stop(), &tell).await?;
    let HostHealth { transfers, cross_zone_events } = counts.end().await;
    let server_cpu_seconds = world.processor_seconds() - spent_before;
    let crowd = crowd.finish().await;
    world.leave().await?;
    if args.seconds.is_none() && args.format == Format::Table {
        say("The world is kept; start again to go on.");
        return Ok(());
    }
    let report = DemoReport { crowd, server_cpu_seconds, transfers, cross_zone_events, splits: 0, failovers };
    print_report(&report, args.format)
}

fn print_report(report: &DemoReport, format: Format) -> Result<(), Failure> {
    match format {
        Format::Json => print(&format!("{}\n", serde_json::to_string(report)?)),
        Format::Table => print(&format!(
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

/// Says so if the world is not cut as was asked for: it keeps what it was founded with.
async fn told_zones(args: &DemoArgs, config: &Config, lobby: SocketAddr) {
    let Ok(health) = client::Lobby::new(&lobby.to_string()).health().await else { return };
    let zones = health.zones.len();
    if args.zones.is_some_and(|it| it as usize != zones) {
        let asked = config.world.zones;
        say(&format!("This world was founded with {zones} zones, not {asked}; --fresh makes a new one"));
    }
}

fn tell(args: &DemoArgs, line: &str) {
    if args.format == Format::Table {
        say(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        demo: DemoArgs,
    }

    #[test]
    fn a_world_has_1_to_256_zones() {
        let zones = |text: &str| Line::try_parse_from(["demo", "--zones", text]).map(|it| it.demo.zones);
        assert!(matches!(zones("256"), Ok(Some(256))));
        for bad in ["0", "257", "many"] {
            let why = zones(bad).expect_err("it is refused").to_string();
            assert!(why.contains("--zones"), "{why}");
        }
    }

    #[test]
    fn nobody_is_called_so() {
        assert!(check_behaviour("border").is_ok() && check_behaviour("mixed").is_ok());
        let Err(Failure::Asked(why)) = check_behaviour("sulk") else {
            panic!("it is refused with exit code 2")
        };
        assert!(why.contains("border, cross"), "{why}");
    }
}

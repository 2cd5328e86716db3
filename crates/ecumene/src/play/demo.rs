//! `ecumene demo`: everything in one command. Directory and lobby, three hosts, the Kosmos world with its backup, bots,
//! and the page.

use super::bots::{Format, table};
use super::cluster::{Cluster, ClusterOptions};
use super::crowd::{Crowd, CrowdOptions, CrowdReport};
use super::{ConfigArgs, block_on, logging, rules, told_to_stop};
use crate::{Failure, print, say};
use anyhow::Context as _;
use clap::Args;
use client::{Book, Transport};
use serde::Serialize;
use server::{Config, Host, Seat};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Where the world of the demo is kept, unless somebody says otherwise.
const DATA: &str = "out/world";

/// Hosts that end by themselves more often than this have a reason that starting them again does not mend.
const FALLS_MAX: u32 = 100;

/// A host that was killed comes back after this long.
const BACK_AFTER: Duration = Duration::from_secs(2);

/// How often the world is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Starts a whole world on this machine and says where to play. Ctrl-C ends it; started again, it is as it was.
#[derive(Args)]
pub struct DemoArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// How many bots play along
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=20_000))]
    bots: u32,
    /// What the bots do: wander, hunt, gather, trade, talk, or all of them in turn
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
    /// End after so many seconds and report what the bots experienced
    #[arg(long)]
    seconds: Option<u32>,
    /// Kill the host that decides after so many seconds (kill -9); it comes back two seconds later
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
    let mut config = args.config.load()?;
    if args.config.data.is_none() && args.config.config.is_none() {
        config.data = PathBuf::from(DATA);
    }
    if args.fresh {
        forget(&config.data)?;
    }
    config.world.hosts = (1..=args.hosts).collect();
    // Bots all come from one address.
    config.lobby.per_address = 1_000.0;
    config.lobby.burst = 100_000;
    config.lobby.listen = free_or_any(args.port);
    if args.in_process {
        logging::start(&config.log)?;
    }
    block_on(async {
        let world = if args.in_process {
            Running::inside(&config).await?
        } else {
            Running::outside(args, &config).await?
        };
        let lobby = world.lobby();
        if args.format == Format::Table {
            say(&format!(
                "Kosmos is at http://{lobby}/ (Ctrl-C ends it; the world is kept in {})",
                config.data.display()
            ));
        }
        play(args, &config, world, lobby).await
    })
}

/// Removes a world, and nothing that is not one.
pub fn forget(data: &Path) -> Result<(), Failure> {
    if !data.exists() {
        return Ok(());
    }
    let is_world = data.join("keys").is_dir() || data.join("seat.json").exists();
    let is_empty = std::fs::read_dir(data)?.next().is_none();
    if !is_world && !is_empty {
        return Err(Failure::Asked(format!(
            "{} is not a world: --fresh would remove it all",
            data.display()
        )));
    }
    std::fs::remove_dir_all(data).with_context(|| format!("cannot remove {}", data.display()))?;
    Ok(())
}

fn free_or_any(port: u16) -> SocketAddr {
    let wanted = SocketAddr::from(([127, 0, 0, 1], port));
    let is_free = std::net::TcpListener::bind(wanted).is_ok();
    if is_free { wanted } else { SocketAddr::from(([127, 0, 0, 1], 0)) }
}

/// A world that runs.
enum Running {
    /// As processes.
    Outside(Box<Cluster>),
    /// In this one.
    Inside(Box<Inside>),
}

struct Inside {
    seat: Seat,
    leave: watch::Sender<bool>,
    hosts: tokio::task::JoinSet<anyhow::Result<()>>,
}

impl Running {
    async fn outside(args: &DemoArgs, config: &Config) -> Result<Self, Failure> {
        std::fs::create_dir_all(&config.data)?;
        let path = config.data.join("demo.toml");
        std::fs::write(&path, demo_config(args, config)?)?;
        let options = ClusterOptions {
            data: config.data.clone(),
            config: Some(path),
            history: config.history().map(Path::to_owned),
            lobby: config.lobby.listen,
            hosts: config.world.hosts.clone(),
        };
        Ok(Self::Outside(Box::new(Cluster::start(options).await?)))
    }

    async fn inside(config: &Config) -> Result<Self, Failure> {
        server::web::count();
        let rules = rules(config.world.half)?;
        let mut config = config.clone();
        config.directory.listen.set_port(0);
        let seat = Seat::start(&config, &*rules).await?;
        let (leave, left) = watch::channel(false);
        let mut hosts = tokio::task::JoinSet::new();
        for &id in &config.world.hosts {
            let mut config = config.clone();
            config.host.id = id;
            let host = Host::start(&config, seat.directory, rules.clone()).await?;
            let mut left = left.clone();
            hosts.spawn(host.run(async move { drop(left.wait_for(|it| *it).await.map(|it| *it)) }));
        }
        let lobby = client::Lobby::new(&seat.lobby.to_string());
        while !lobby.health().await.is_ok_and(|it| it.zones.iter().all(|it| it.primary.is_some())) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(Self::Inside(Box::new(Inside { seat, leave, hosts })))
    }

    fn lobby(&self) -> SocketAddr {
        match self {
            Self::Outside(cluster) => cluster.lobby(),
            Self::Inside(inside) => inside.seat.lobby,
        }
    }

    fn processor_seconds(&self) -> f64 {
        match self {
            Self::Outside(cluster) => cluster.processor_seconds(),
            Self::Inside(_) => cpu_time::ProcessTime::now().as_duration().as_secs_f64(),
        }
    }

    async fn leave(self) -> Result<(), Failure> {
        match self {
            Self::Outside(cluster) => cluster.leave().await,
            Self::Inside(mut inside) => {
                let _ = inside.leave.send(true);
                while let Some(host) = inside.hosts.join_next().await {
                    host.map_err(anyhow::Error::from)??;
                }
                Ok(())
            }
        }
    }
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
    Ok(table.to_string())
}

async fn play(
    args: &DemoArgs,
    config: &Config,
    mut world: Running,
    lobby: SocketAddr,
) -> Result<(), Failure> {
    let book = match config.history() {
        Some(folder) => Book::begin(folder, &format!("bots-{}", std::process::id()))?,
        None => Book::default(),
    };
    let options = CrowdOptions {
        lobby: lobby.to_string(),
        count: args.bots as usize,
        behaviour: args.behaviour.clone(),
        transport: if args.web_socket { Transport::WebSocket } else { Transport::Quic },
        book,
        seed: config.world.seed,
        pace: None,
    };
    let mut crowd = tokio::select! {
        crowd = Crowd::enter(options) => crowd?,
        () = told_to_stop() => return world.leave().await,
    };
    if args.format == Format::Table && 0 < crowd.len() {
        say(&format!("{} bots are in", crowd.len()));
    }
    crowd.measure().await;
    let spent_before = world.processor_seconds();
    let failovers = watch_over(args, &mut world).await?;
    let server_cpu_seconds = world.processor_seconds() - spent_before;
    let crowd = crowd.finish().await;
    world.leave().await?;
    if args.seconds.is_none() && args.format == Format::Table {
        say("The world is kept; start again to go on.");
        return Ok(());
    }
    let report =
        DemoReport { crowd, server_cpu_seconds, transfers: 0, cross_zone_events: 0, splits: 0, failovers };
    match args.format {
        Format::Json => print(&format!("{}\n", serde_json::to_string(&report)?)),
        Format::Table => {
            let spent = report.server_cpu_seconds;
            print(&format!(
                "{}servers   {spent:.1} processor seconds, {failovers} failovers\n",
                table(&report.crowd)
            ))
        }
    }
}

/// Watches the world until it should end, killing a host if that was asked for. How often another host took over.
async fn watch_over(args: &DemoArgs, world: &mut Running) -> Result<u64, Failure> {
    let began = Instant::now();
    let after = |seconds: Option<u32>| seconds.map(|it| began + Duration::from_secs(it.into()));
    let (end, mut kill) = (after(args.seconds), after(args.kill_host_after));
    let mut back: Vec<(u32, Instant)> = Vec::new();
    let (mut last, mut failovers, mut falls) = (None, 0, 0);
    let stop = told_to_stop();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => (),
            () = &mut stop => return Ok(failovers),
        }
        let now = Instant::now();
        if end.is_some_and(|it| it <= now) {
            return Ok(failovers);
        }
        let Running::Outside(cluster) = world else { continue };
        if let Some(primary) = cluster.primary().await {
            failovers += u64::from(last.is_some_and(|it| it != primary));
            last = Some(primary);
            if kill.is_some_and(|it| it <= now) {
                kill = None;
                cluster.kill(primary).await?;
                back.push((primary, now + BACK_AFTER));
                tell(args, &format!("host {primary} was killed; it comes back in {BACK_AFTER:?}"));
            }
        }
        for host in cluster.fallen() {
            falls += 1;
            if FALLS_MAX < falls {
                return Err(anyhow::anyhow!("hosts keep ending, host {host} last; its log says why").into());
            }
            tell(args, &format!("host {host} has ended; it comes back in {BACK_AFTER:?}"));
            back.push((host, now + BACK_AFTER));
        }
        if cluster.seat_has_fallen() {
            tell(args, "the directory has ended; it is started again, and meanwhile everybody plays on");
            cluster.start_seat_again().await?;
        }
        for (host, _) in back.extract_if(.., |it| it.1 <= now) {
            cluster.start_host(host)?;
        }
    }
}

fn tell(args: &DemoArgs, line: &str) {
    if args.format == Format::Table {
        say(line);
    }
}

//! `ecumene demo`: everything in one command. Directory and lobby, three hosts, the Kosmos world with its backup, bots,
//! and the page.

use super::bots::{Format, check_behaviour, table};
use super::cluster::{Cluster, ClusterOptions};
use super::crowd::{Crowd, CrowdOptions, CrowdReport};
use super::{ConfigArgs, block_on, logging, rules, told_to_stop};
use crate::{Failure, print, say};
use anyhow::Context as _;
use clap::Args;
use client::{Book, HostHealth, Transport};
use serde::Serialize;
use server::config::ZONES_MAX;
use server::{Config, Host, Seat};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Where the world of the demo is kept, unless somebody says otherwise.
const DATA: &str = "out/world";

/// How many zones a demo has, unless somebody says otherwise.
const ZONES: u32 = 6;

/// How often hosts are asked what happened between zones.
const COUNT_EVERY: Duration = Duration::from_secs(1);

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
        forget(&config.data)?;
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
            told_zones(args, &config, lobby).await;
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
    server::config::set(&mut table, "world", "zones", i64::from(config.world.zones));
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
    let mut between = Between::new(lobby);
    between.look().await;
    between.forget();
    let failovers = watch_over(args, &mut world, &mut between).await?;
    between.look().await;
    let server_cpu_seconds = world.processor_seconds() - spent_before;
    let crowd = crowd.finish().await;
    world.leave().await?;
    if args.seconds.is_none() && args.format == Format::Table {
        say("The world is kept; start again to go on.");
        return Ok(());
    }
    let (transfers, cross_zone_events) = (between.sum.transfers, between.sum.cross_zone_events);
    let report = DemoReport { crowd, server_cpu_seconds, transfers, cross_zone_events, splits: 0, failovers };
    match args.format {
        Format::Json => print(&format!("{}\n", serde_json::to_string(&report)?)),
        Format::Table => {
            let spent = report.server_cpu_seconds;
            print(&format!(
                "{}servers   {spent:.1} processor seconds, {failovers} failovers\n\
                 zones     {transfers} transfers, {cross_zone_events} events across borders\n",
                table(&report.crowd)
            ))
        }
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

/// What happened between zones, added up over the lives of all hosts.
struct Between {
    lobby: client::Lobby,
    seen: BTreeMap<u32, HostHealth>,
    sum: HostHealth,
    looked: Instant,
}

impl Between {
    fn new(lobby: SocketAddr) -> Self {
        let sum = HostHealth { transfers: 0, cross_zone_events: 0 };
        let lobby = client::Lobby::new(&lobby.to_string());
        Self { lobby, seen: BTreeMap::new(), sum, looked: Instant::now() }
    }

    /// Nothing has happened so far.
    const fn forget(&mut self) {
        self.sum = HostHealth { transfers: 0, cross_zone_events: 0 };
    }

    async fn look_now_and_then(&mut self) {
        if COUNT_EVERY <= self.looked.elapsed() {
            self.look().await;
        }
    }

    /// Asks all hosts. One that was killed is not there; one that came back counts from zero.
    async fn look(&mut self) {
        self.looked = Instant::now();
        let Ok(health) = self.lobby.health().await else { return };
        for (host, address) in health.web.iter().filter(|_| 1 < health.zones.len()) {
            let Ok(now) = client::Lobby::host_health(address).await else { continue };
            let before = self.seen.insert(*host, now);
            let news = |of: fn(&HostHealth) -> u64| match before.as_ref().map(of) {
                Some(before) if before <= of(&now) => of(&now) - before,
                _ => of(&now),
            };
            self.sum.transfers += news(|it| it.transfers);
            self.sum.cross_zone_events += news(|it| it.cross_zone_events);
        }
    }
}

/// Watches the world until it should end, killing a host if that was asked for. How often another host took over a zone.
async fn watch_over(args: &DemoArgs, world: &mut Running, between: &mut Between) -> Result<u64, Failure> {
    let began = Instant::now();
    let after = |seconds: Option<u32>| seconds.map(|it| began + Duration::from_secs(it.into()));
    let (end, mut kill) = (after(args.seconds), after(args.kill_host_after));
    let mut back: Vec<(u32, Instant)> = Vec::new();
    let (mut last, mut failovers, mut falls) = (BTreeMap::new(), 0, 0);
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
        between.look_now_and_then().await;
        let Running::Outside(cluster) = world else { continue };
        let health = cluster.health().await;
        for (zone, primary) in
            health.iter().flat_map(|it| &it.zones).filter_map(|it| Some((it.zone, it.primary?)))
        {
            failovers += u64::from(last.insert(zone, primary).is_some_and(|it| it != primary));
        }
        let first = health.and_then(|it| it.first());
        if let (Some(primary), true) = (first, kill.is_some_and(|it| it <= now)) {
            kill = None;
            cluster.kill(primary).await?;
            back.push((primary, now + BACK_AFTER));
            tell(args, &format!("host {primary} was killed; it comes back in {BACK_AFTER:?}"));
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

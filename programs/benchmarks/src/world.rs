//! The default world as it ships, with the game's own bots in it, and with none at all.

use crate::children::{ChildCrowd, CoreAssignment, CrowdCost, run_crowd, stage_names, stage_row};
use crate::scratch::Scratch;
use anyhow::Result;
use comfy_table::{Table, presets};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use testbed::cluster::{Cluster, ClusterOptions};
use testbed::process;

/// Time before a world counts as idle.
const SETTLE: Duration = Duration::from_secs(3);

/// Numbers of the hosts.
pub(crate) const HOSTS: [u32; 3] = [1, 2, 3];

/// Metres of the world per zone, so that also many zones are wider than what a player sees.
const METRES_PER_ZONE: f64 = 200.0;

/// The crowds to measure.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// Numbers of bots, each measured in turn.
    pub bots: Vec<u32>,
    /// Number of zones.
    pub zones: u32,
    /// Duration of each measurement, in seconds.
    pub seconds: f64,
}

/// The result of `ecumene bench world`.
#[derive(Debug, Serialize)]
pub struct WorldReport {
    /// Name of the benchmark: always `world`.
    pub bench: &'static str,
    /// Number of hosts.
    pub hosts: usize,
    /// Number of zones.
    pub zones: u32,
    /// Duration of each measurement, in seconds.
    pub seconds: f64,
    /// One row per crowd.
    pub rows: Vec<WorldRow>,
}

/// The measurement of one crowd.
#[derive(Debug, Serialize)]
pub struct WorldRow {
    /// Number of bots.
    pub bots: u32,
    /// Number of bots in the world when measuring began.
    pub inside: usize,
    /// CPU milliseconds of all servers per bot and second.
    pub cpu_ms_per_client_second: f64,
    /// Cores that all servers together took.
    pub cores: f64,
    /// CPU microseconds of all hosts per bot and second, by stage.
    pub stage_us_per_client_second: BTreeMap<String, f64>,
    /// Actions answered per second.
    pub actions_per_second: f64,
    /// Median time until an action is answered, in milliseconds.
    pub action_p50_ms: f64,
    /// The same for the slowest in a hundred.
    pub action_p99_ms: f64,
    /// UDP packets to a bot per second.
    pub packets_per_client_second: f64,
    /// UDP packets from a bot per second.
    pub packets_up_per_client_second: f64,
    /// UDP bytes to a bot per second.
    pub bytes_per_client_second: f64,
    /// Bots that entered again.
    pub reconnects: u64,
    /// Actions without answer, and sessions lost.
    pub errors: u64,
}

/// Measures the default world with each crowd; `done` is called after each row.
pub async fn measure(options: &WorldOptions, done: &dyn Fn()) -> Result<WorldReport> {
    let mut rows = Vec::new();
    for &bots in &options.bots {
        let scratch = Scratch::new()?;
        // All bots come from one address; players do not.
        let settings = format!(
            "world = {{ zones = {}, hosts = {HOSTS:?} }}\nlobby = {{ per_address = 1000.0, burst = 100000, admission = false }}\n\
             host = {{ players_max = {} }}\n",
            options.zones,
            bots + 100
        );
        let cluster = start(&scratch, &settings).await?;
        let child = ChildCrowd { bots, seconds: options.seconds, web_socket: false, plays: true };
        // Servers and bots share all cores, as on one machine.
        let cores = CoreAssignment { all: process::cores(), ..CoreAssignment::default() };
        let CrowdCost { walked, cpu_ms, cores, stages } = run_crowd(&child, &cores, &cluster).await?;
        cluster.leave().await?;
        let crowd = walked.crowd;
        rows.push(WorldRow {
            bots,
            inside: walked.inside,
            cpu_ms_per_client_second: cpu_ms,
            cores,
            stage_us_per_client_second: stages,
            actions_per_second: crowd.actions_per_second,
            action_p50_ms: crowd.action_latency_p50_ms,
            action_p99_ms: crowd.action_latency_p99_ms,
            packets_per_client_second: crowd.packets_per_client_second,
            packets_up_per_client_second: crowd.packets_out_per_client_second,
            bytes_per_client_second: crowd.udp_bytes_per_client_second,
            reconnects: crowd.reconnects,
            errors: crowd.errors,
        });
        done();
    }
    let (zones, seconds) = (options.zones, options.seconds);
    Ok(WorldReport { bench: "world", hosts: HOSTS.len(), zones, seconds, rows })
}

/// Starts a world on three hosts; returns when every zone has a backup.
pub(crate) async fn start(scratch: &Scratch, settings: &str) -> Result<Cluster> {
    let config = scratch.configure(settings)?;
    let cluster = Cluster::start(ClusterOptions {
        data: scratch.path().to_owned(),
        config: Some(config),
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts: HOSTS.to_vec(),
        program: None,
        environment: Vec::new(),
    })
    .await?;
    cluster.until_backed_up().await?;
    Ok(cluster)
}

/// The report as a table for a terminal.
pub fn table(report: &WorldReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header([
        "bots",
        "CPU ms",
        "cores",
        "actions",
        "p50, p99 ms",
        "packets down",
        "up",
        "bytes down",
        "reconnects",
        "errors",
    ]);
    for it in &report.rows {
        table.add_row([
            it.bots.to_string(),
            format!("{:.3}", it.cpu_ms_per_client_second),
            format!("{:.2}", it.cores),
            format!("{:.0}", it.actions_per_second),
            format!("{:.1}, {:.1}", it.action_p50_ms, it.action_p99_ms),
            format!("{:.1}", it.packets_per_client_second),
            format!("{:.1}", it.packets_up_per_client_second),
            format!("{:.0}", it.bytes_per_client_second),
            it.reconnects.to_string(),
            it.errors.to_string(),
        ]);
    }
    let WorldReport { hosts, zones, seconds, .. } = report;
    let mut stages = Table::new();
    stages.load_style(presets::UTF8_HORIZONTAL_ONLY);
    stages.set_header(std::iter::once("bots").chain(stage_names()));
    for it in &report.rows {
        stages.add_row(stage_row(it.bots.to_string(), &it.stage_us_per_client_second));
    }
    format!(
        "{table}\nWhere the hosts' microseconds go, per client and second:\n{stages}\nCPU, packets and bytes per client and second, actions per second; {zones} zones with backups on {hosts} hosts, \
         {seconds} s each.\n"
    )
}

/// The worlds without players to measure.
#[derive(Clone, Debug)]
pub struct IdleOptions {
    /// Numbers of zones, each measured in turn.
    pub zones: Vec<u32>,
    /// Duration of each measurement, in seconds.
    pub seconds: f64,
}

/// The result of `ecumene bench idle`.
#[derive(Debug, Serialize)]
pub struct IdleReport {
    /// Name of the benchmark: always `idle`.
    pub bench: &'static str,
    /// Number of hosts.
    pub hosts: usize,
    /// Duration of each measurement, in seconds.
    pub seconds: f64,
    /// One row per world.
    pub rows: Vec<IdleRow>,
}

/// The measurement of one world without players.
#[derive(Debug, Serialize)]
pub struct IdleRow {
    /// Number of zones, each with a backup.
    pub zones: u32,
    /// Cores that all servers together took.
    pub cores: f64,
    /// Part of a core per zone, in percent.
    pub core_percent_per_zone: f64,
}

/// Measures worlds in which nothing but the game's own objects move; `done` is called after each row.
pub async fn measure_idle(options: &IdleOptions, done: &dyn Fn()) -> Result<IdleReport> {
    let mut rows = Vec::new();
    for &zones in &options.zones {
        let scratch = Scratch::new()?;
        let half = (METRES_PER_ZONE * f64::from(zones).sqrt() / 2.0).max(300.0) as u32;
        let settings = format!("world = {{ half = {half}, zones = {zones}, hosts = {HOSTS:?} }}\n");
        let cluster = start(&scratch, &settings).await?;
        tokio::time::sleep(SETTLE).await;
        let (began, before) = (Instant::now(), cluster.processor_seconds());
        tokio::time::sleep(Duration::from_secs_f64(options.seconds)).await;
        let cores = (cluster.processor_seconds() - before) / began.elapsed().as_secs_f64();
        cluster.leave().await?;
        rows.push(IdleRow { zones, cores, core_percent_per_zone: 100.0 * cores / f64::from(zones) });
        done();
    }
    Ok(IdleReport { bench: "idle", hosts: HOSTS.len(), seconds: options.seconds, rows })
}

/// The report as a table for a terminal.
pub fn idle_table(report: &IdleReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["zones", "cores", "% of a core per zone"]);
    for it in &report.rows {
        table.add_row([
            it.zones.to_string(),
            format!("{:.3}", it.cores),
            format!("{:.2}", it.core_percent_per_zone),
        ]);
    }
    format!(
        "{table}\nNo players; each zone with a backup, on {} hosts; {} s each.\n",
        report.hosts, report.seconds
    )
}

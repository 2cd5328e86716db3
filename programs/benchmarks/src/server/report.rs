//! The report of `ecumene bench server`, and its table for a terminal.

use super::MeasuredPolicy;
use crate::children::{stage_names, stage_row};
use comfy_table::{Table, presets};
use serde::Serialize;
use std::collections::BTreeMap;

/// The result of `ecumene bench server`.
#[derive(Debug, Serialize)]
pub struct ServerReport {
    /// Name of the benchmark: always `server`.
    pub bench: &'static str,
    /// Number of hosts of the world.
    pub hosts: u32,
    /// Transport of the clients: `quic` or `web-socket`.
    pub transport: &'static str,
    /// True if server and clients had a core each.
    pub pinned: bool,
    /// Duration of the measurement of each row, in seconds.
    pub seconds: f64,
    /// One row per crowd, policy and number of zones.
    pub rows: Vec<ServerRow>,
}

/// The measurement of one crowd.
#[derive(Debug, Serialize)]
pub struct ServerRow {
    /// Number of clients in the world.
    pub bots: u32,
    /// Number of zones of the world.
    pub zones: u32,
    /// The interest policy of the servers.
    pub policy: MeasuredPolicy,
    /// Mean number of other avatars in view.
    pub visible: f64,
    /// Moves sent, per client and second.
    pub moves_per_client_second: f64,
    /// Poses that arrived, per client and second.
    pub updates_per_client_second: f64,
    /// UDP bytes to a client per second.
    pub bytes_per_client_second: f64,
    /// UDP packets to a client per second.
    pub packets_per_client_second: f64,
    /// UDP bytes from a client per second.
    pub bytes_up_per_client_second: f64,
    /// UDP packets from a client per second.
    pub packets_up_per_client_second: f64,
    /// CPU milliseconds of the servers per client and second.
    pub cpu_ms_per_client_second: f64,
    /// CPU microseconds of the hosts per client and second, by stage.
    pub stage_us_per_client_second: BTreeMap<String, f64>,
    /// CPU milliseconds of plain UDP for the same packets.
    pub udp_floor_cpu_ms_per_client_second: f64,
    /// CPU time of the servers divided by that of plain UDP.
    pub ratio: f64,
    /// CPU milliseconds of plain UDP for the same bytes in ten packets each way.
    pub udp_floor_10_cpu_ms_per_client_second: f64,
    /// CPU time of the servers divided by that.
    pub ratio_10: f64,
    /// Median round trip in milliseconds.
    pub ping_p50_ms: f64,
    /// Round trip that 99 of 100 do not exceed, in milliseconds.
    pub ping_p99_ms: f64,
    /// Actions without answer, and sessions lost.
    pub errors: u64,
    /// True if server or clients fell behind.
    pub saturated: bool,
    /// Texts about what fell behind; empty if nothing did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// The report as a table for a terminal.
pub fn table(report: &ServerReport) -> String {
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
        "10 + 10 floor",
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
            it.policy.name().to_owned(),
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
            format!("{:.3}", it.udp_floor_10_cpu_ms_per_client_second),
            format!("{:.1}", it.ratio_10),
            format!("{:.1}, {:.1}", it.ping_p50_ms, it.ping_p99_ms),
            note,
        ]);
    }
    let mut stages = Table::new();
    stages.load_style(presets::UTF8_HORIZONTAL_ONLY);
    stages.set_header(std::iter::once("bots, policy").chain(stage_names()));
    for it in &report.rows {
        let crowd = format!("{}, {}", it.bots, it.policy.name());
        stages.add_row(stage_row(crowd, &it.stage_us_per_client_second));
    }
    let cores = if report.pinned { "a core each" } else { "the same core: there is only one" };
    format!(
        "{table}\nWhere the hosts' microseconds go, per client and second:\n{stages}\nAll per client and second; {} s each; {} host(s); server and clients on {cores}.\n",
        report.seconds, report.hosts
    )
}

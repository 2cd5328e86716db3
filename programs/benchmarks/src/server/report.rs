//! What `server` reports, and what it looks like in a terminal.

use super::PolicyName;
use comfy_table::{Table, presets};
use serde::Serialize;

/// The result.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Always `server`.
    pub bench: &'static str,
    /// How many hosts the world had.
    pub hosts: u32,
    /// How clients connected.
    pub transport: &'static str,
    /// Whether server and clients had a core each.
    pub pinned: bool,
    /// For how long each row was measured.
    pub seconds: f64,
    /// One row per crowd, policy and number of zones.
    pub rows: Vec<Row>,
}

/// One crowd.
#[derive(Debug, Serialize)]
pub struct Row {
    /// How many clients.
    pub bots: u32,
    /// How many zones.
    pub zones: u32,
    /// The interest policy.
    pub policy: PolicyName,
    /// The avatars of others in sight, on average.
    pub visible: f64,
    /// Courses taken, per client and second.
    pub moves_per_client_second: f64,
    /// Poses that arrived, per client and second.
    pub updates_per_client_second: f64,
    /// UDP bytes to a client.
    pub bytes_per_client_second: f64,
    /// UDP packets to a client.
    pub packets_per_client_second: f64,
    /// UDP bytes from a client.
    pub bytes_up_per_client_second: f64,
    /// UDP packets from a client.
    pub packets_up_per_client_second: f64,
    /// Processor time of the servers.
    pub cpu_ms_per_client_second: f64,
    /// Processor time that plain UDP takes for the same packets.
    pub udp_floor_cpu_ms_per_client_second: f64,
    /// The one divided by the other.
    pub ratio: f64,
    /// Half of the round trips took less.
    pub ping_p50_ms: f64,
    /// One in a hundred took longer.
    pub ping_p99_ms: f64,
    /// Actions without answer, and sessions lost.
    pub errors: u64,
    /// Whether something fell behind.
    pub saturated: bool,
    /// What fell behind, for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// The report for a terminal.
pub fn table(report: &Report) -> String {
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

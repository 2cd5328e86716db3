//! Measures Ecumene by `ecumene bench server`, which starts its own servers and clients on the same two cores.

use crate::row::{Figures, Row, UDP_HEADERS};
use crate::system::System;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the runner reads of the report of `ecumene bench server --format json`.
#[derive(Deserialize)]
struct ServerReport {
    pinned: bool,
    rows: Vec<ServerRow>,
}

#[derive(Deserialize)]
struct ServerRow {
    visible: f64,
    moves_per_client_second: f64,
    updates_per_client_second: f64,
    bytes_per_client_second: f64,
    packets_per_client_second: f64,
    bytes_up_per_client_second: f64,
    packets_up_per_client_second: f64,
    cpu_ms_per_client_second: f64,
    ping_p50_ms: f64,
    ping_p99_ms: f64,
    #[serde(default)]
    because: Vec<String>,
}

/// Measures one row.
pub fn measure(program: &Path, system: System, policy: &str, clients: u16, seconds: f64) -> Result<Row> {
    let output = Command::new(program)
        .args(["bench", "server", "--format", "json", "--policies", policy])
        .args(["--bots", &clients.to_string(), "--seconds", &seconds.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(output.status.success(), "`ecumene bench server` failed");
    row(system, clients, &serde_json::from_slice(&output.stdout)?)
}

fn row(system: System, clients: u16, report: &ServerReport) -> Result<Row> {
    ensure!(report.pinned, "`ecumene bench server` had no two cores");
    let it = report.rows.first().context("`ecumene bench server` reports no row")?;
    let (packets_down, packets_up) = (it.packets_per_client_second, it.packets_up_per_client_second);
    let figures = Figures {
        visible: it.visible,
        moves: it.moves_per_client_second,
        updates: it.updates_per_client_second,
        cpu_us: 1e3 * it.cpu_ms_per_client_second,
        packets_down,
        packets_up,
        bytes_down: it.bytes_per_client_second + UDP_HEADERS * packets_down,
        bytes_up: it.bytes_up_per_client_second + UDP_HEADERS * packets_up,
        ping_p50_ms: it.ping_p50_ms,
        ping_p99_ms: it.ping_p99_ms,
        age_p50_ms: f64::NAN,
        age_p99_ms: f64::NAN,
    };
    Ok(Row { system, clients, figures, notes: it.because.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_bench_server_becomes_a_row() {
        let report = r#"{
            "bench": "server", "hosts": 1, "transport": "quic", "pinned": true, "seconds": 8.0,
            "rows": [{
                "bots": 400, "zones": 1, "policy": "circle", "visible": 24.0, "moves_per_client_second": 9.9,
                "updates_per_client_second": 240.0, "bytes_per_client_second": 4000.0,
                "packets_per_client_second": 10.0, "bytes_up_per_client_second": 600.0,
                "packets_up_per_client_second": 10.5, "cpu_ms_per_client_second": 0.24,
                "stage_us_per_client_second": {"wait": 1.0}, "udp_floor_cpu_ms_per_client_second": 0.1,
                "ratio": 2.4, "udp_floor_10_cpu_ms_per_client_second": 0.1, "ratio_10": 2.4,
                "ping_p50_ms": 5.1, "ping_p99_ms": 15.3, "errors": 0, "saturated": false
            }]
        }"#;
        let row = row(System::EcumeneCircle, 400, &serde_json::from_str(report).unwrap()).unwrap();
        let it = row.figures;
        assert_eq!((it.cpu_us, it.cpu_us_per_update(), it.bytes_down), (240.0, 1.0, 4_280.0));
        assert!(row.notes.is_empty());
    }
}

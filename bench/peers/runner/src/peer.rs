//! Measures a system whose server and clients are programs of this folder.

use crate::Options;
use crate::process::{ChildProcess, Cores};
use crate::row::{Figures, Row, TCP_HEADERS, UDP_HEADERS};
use crate::system::{End, System};
use crate::tcp::{TcpMeter, TcpTotals};
use anyhow::{Context as _, Result};
use std::net::SocketAddr;
use std::time::Instant;
use workload::ClientsReport;

/// Share of a core above which a process has no time left: what it did then is not what it would have to do.
const BUSY: f64 = 0.9;

/// What the runner itself counted in the measured time.
struct Counted {
    seconds: f64,
    server_seconds: f64,
    clients_seconds: f64,
    tcp: TcpTotals,
}

/// Measures one row.
pub fn measure(options: &Options, cores: &Cores, system: System, clients: u16) -> Result<Row> {
    let count = clients.to_string();
    let mut command = system.command(End::Server, &options.node)?;
    command.args(["--clients", &count, "--hz", &options.hz.to_string()]);
    let mut server = ChildProcess::start(command, cores.server, cores)?;
    let line = server.line().context("the server does not start")?;
    let address: SocketAddr =
        line.strip_prefix("listening ").context("the server prints no address")?.parse()?;
    let mut command = system.command(End::Clients, &options.node)?;
    command.args(["--server", &address.to_string(), "--clients", &count]);
    command.args(["--seconds", &options.seconds.to_string()]);
    let mut crowd = ChildProcess::start(command, cores.clients, cores)?;
    let counted = counted(system, address, &server, &mut crowd)?;
    let report: ClientsReport = serde_json::from_str(&crowd.line()?)?;
    Ok(row(system, clients, &report, &counted))
}

fn counted(
    system: System,
    address: SocketAddr,
    server: &ChildProcess,
    crowd: &mut ChildProcess,
) -> Result<Counted> {
    let meter = system.uses_tcp().then(|| TcpMeter::new(address.port())).transpose()?;
    let tcp = || meter.as_ref().map(TcpMeter::totals).transpose().map(Option::unwrap_or_default);
    crowd.until("measuring").context("the clients could not begin")?;
    let (began, server_before) = (Instant::now(), server.processor_seconds()?);
    let (clients_before, tcp_before) = (crowd.processor_seconds()?, tcp()?);
    crowd.until("measured").context("the clients could not finish")?;
    let (seconds, server_after) = (began.elapsed().as_secs_f64(), server.processor_seconds()?);
    Ok(Counted {
        seconds,
        server_seconds: server_after - server_before,
        clients_seconds: crowd.processor_seconds()? - clients_before,
        tcp: tcp()?.since(tcp_before),
    })
}

fn row(system: System, clients: u16, report: &ClientsReport, counted: &Counted) -> Row {
    let per_client = |sum: f64, seconds: f64| sum / (f64::from(clients) * seconds);
    let sum = |it: u64| per_client(it as f64, report.seconds);
    let tcp = |it: u64| per_client(it as f64, counted.seconds);
    let udp = report.udp.unwrap_or_default();
    let (packets, bytes, headers) = if system.uses_tcp() {
        let it = counted.tcp;
        ([tcp(it.packets_down), tcp(it.packets_up)], [tcp(it.bytes_down), tcp(it.bytes_up)], TCP_HEADERS)
    } else {
        let it = udp;
        ([sum(it.packets_down), sum(it.packets_up)], [sum(it.bytes_down), sum(it.bytes_up)], UDP_HEADERS)
    };
    let figures = Figures {
        visible: report.visible,
        moves: sum(report.moves),
        updates: sum(report.updates),
        cpu_us: 1e6 * per_client(counted.server_seconds, counted.seconds),
        packets_down: packets[0],
        packets_up: packets[1],
        bytes_down: bytes[0] + headers * packets[0],
        bytes_up: bytes[1] + headers * packets[1],
        ping_p50_ms: report.ping_p50_ms,
        ping_p99_ms: report.ping_p99_ms,
        age_p50_ms: report.age_p50_ms,
        age_p99_ms: report.age_p99_ms,
    };
    let mut notes = figures.behind(system);
    let (server, crowd) = (counted.server_seconds, counted.clients_seconds);
    for (end, share) in [("server", server / counted.seconds), ("clients", crowd / counted.seconds)] {
        if BUSY < share {
            notes.push(format!("the core of the {end} was busy for {:.0} %", 100.0 * share));
        }
    }
    Row { system, clients, figures, notes }
}

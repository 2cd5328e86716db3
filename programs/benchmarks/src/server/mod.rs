//! The cost of a client to the server, at constant density, beside plain UDP.
//!
//! Server and clients are processes of their own, each on a core of its own, so neither's work is the other's.

mod report;

pub use report::{ServerReport, ServerRow, table};

use crate::children::{ChildCrowd, CoreAssignment, CrowdCost, FloorPackets, floor, run_crowd};
use crate::scratch::Scratch;
use anyhow::Result;
use serde::Serialize;
use std::net::SocketAddr;
use testbed::cluster::{Cluster, ClusterOptions};
use testbed::process;
use testbed::walkers::WalkersReport;

/// Mean number of others that each client should see.
const VISIBLE: f64 = 22.0;

/// View distance of each client, in metres: the policies' default.
const VIEW: f64 = 60.0;

/// The crowds and worlds to measure.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Numbers of clients, each measured in turn.
    pub bots: Vec<u32>,
    /// Interest policies, each measured in turn.
    pub policies: Vec<MeasuredPolicy>,
    /// Duration of each measurement, in seconds.
    pub seconds: f64,
    /// Number of hosts of the world; a second one is the backup.
    pub hosts: u32,
    /// Numbers of zones, each measured in turn.
    pub zones: Vec<u32>,
    /// Clients connect by WebSocket instead of QUIC.
    pub web_socket: bool,
}

impl ServerOptions {
    /// Number of rows that will be measured.
    pub fn rows(&self) -> usize {
        self.bots.len() * self.policies.len() * self.zones.len()
    }
}

/// An interest policy of the server's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredPolicy {
    /// All poses to all clients.
    Everything,
    /// All poses within a circle around the client's avatar.
    Circle,
    /// Poses within a circle, graded by distance.
    CircleAttenuated,
    /// All poses within a sector before the client's avatar.
    FieldOfView,
    /// Poses graded by distance and direction (A³).
    A3,
    /// Poses graded by the policy that the game brings along.
    Game,
}

impl MeasuredPolicy {
    /// The name of the policy in configurations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Circle => "circle",
            Self::CircleAttenuated => "circle-attenuated",
            Self::FieldOfView => "field-of-view",
            Self::A3 => "a3",
            Self::Game => "game",
        }
    }

    /// The least updates a client must get per second if nothing falls behind; `None` where the policy grades, or
    /// shows a part of those who are visible.
    fn due(self, bots: u32, visible: f64) -> Option<f64> {
        match self {
            Self::Everything => Some(10.0 * f64::from(bots - 1)),
            Self::Circle => Some(10.0 * visible),
            Self::CircleAttenuated | Self::FieldOfView | Self::A3 | Self::Game => None,
        }
    }
}

/// Measures every crowd; `done` is called after each row. It must be called from the thread that blocks on it: the
/// processes that it starts run on the cores of their starting thread.
pub async fn measure(options: &ServerOptions, done: &dyn Fn()) -> Result<ServerReport> {
    let all = process::cores();
    let cores = match all[..] {
        [server, clients, ..] => CoreAssignment { server: vec![server], clients: vec![clients], all },
        _ => CoreAssignment { server: Vec::new(), clients: Vec::new(), all },
    };
    let mut rows = Vec::new();
    for &bots in &options.bots {
        for &policy in &options.policies {
            for &zones in &options.zones {
                rows.push(measured(options, &cores, (bots, zones), policy).await?);
                done();
            }
        }
    }
    Ok(ServerReport {
        bench: "server",
        hosts: options.hosts,
        transport: if options.web_socket { "web-socket" } else { "quic" },
        pinned: !cores.server.is_empty(),
        seconds: options.seconds,
        rows,
    })
}

async fn measured(
    options: &ServerOptions,
    cores: &CoreAssignment,
    (bots, zones): (u32, u32),
    policy: MeasuredPolicy,
) -> Result<ServerRow> {
    let scratch = Scratch::new()?;
    let hosts: Vec<u32> = (1..=options.hosts).collect();
    let (half, room) = (half(bots), bots + 100);
    // No budget: the whole cost of a policy is measured, not what a budget leaves of it.
    let config = scratch.configure(&format!(
        "world = {{ half = {half}, hosts = {hosts:?}, zones = {zones} }}\n\
         carrier = {{ policy = {:?}, bytes_per_second = 0 }}\n\
         host = {{ players_max = {room} }}\n\
         lobby = {{ per_address = 1000.0, burst = 100000, admission = false }}\n",
        policy.name(),
    ))?;
    process::stay_on(&cores.server);
    let cluster = Cluster::start(ClusterOptions {
        data: scratch.path().to_owned(),
        config: Some(config),
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts,
        program: None,
        environment: Vec::new(),
    })
    .await?;
    let child = ChildCrowd { bots, seconds: options.seconds, web_socket: options.web_socket, plays: false };
    let cost = run_crowd(&child, cores, &cluster).await?;
    cluster.leave().await?;
    let floors = if options.web_socket {
        Floors::default()
    } else {
        floors(cores, bots, &cost.walked, options.seconds).await?
    };
    Ok(row((bots, zones), policy, cost, &floors))
}

/// Costs of plain UDP, in CPU milliseconds per client and second.
struct Floors {
    /// For as many packets as were exchanged.
    same_packets: f64,
    /// For ten packets each way with all the bytes: what ten moves and ten packets of poses take at least.
    ten_packets: f64,
}

impl Default for Floors {
    fn default() -> Self {
        Self { same_packets: f64::NAN, ten_packets: f64::NAN }
    }
}

async fn floors(cores: &CoreAssignment, bots: u32, walked: &WalkersReport, seconds: f64) -> Result<Floors> {
    let crowd = &walked.crowd;
    let same = FloorPackets {
        up: crowd.packets_out_per_client_second,
        down: crowd.packets_per_client_second,
        up_bytes: crowd.udp_bytes_out_per_client_second,
        down_bytes: crowd.udp_bytes_per_client_second,
    };
    let ten = FloorPackets { up: 10.0, down: 10.0, ..same };
    Ok(Floors {
        same_packets: floor(cores, bots, &same, seconds).await?,
        ten_packets: floor(cores, bots, &ten, seconds).await?,
    })
}

/// Half the side of a square in which each client sees [`VISIBLE`] others, in metres. A client at an edge sees fewer:
/// the mean part of a square of side L that is within R of a point in it is πR²/L² - 8R³/3L³ + R⁴/2L⁴, for R < L.
fn half(bots: u32) -> u32 {
    let visible = |half: u32| {
        let part = VIEW / (2.0 * f64::from(half));
        let near = std::f64::consts::PI * part.powi(2) - 8.0 / 3.0 * part.powi(3) + part.powi(4) / 2.0;
        f64::from(bots - 1) * near
    };
    (VIEW as u32 / 2..).find(|&it| visible(it) <= VISIBLE).unwrap_or(u32::MAX)
}

fn row((bots, zones): (u32, u32), policy: MeasuredPolicy, cost: CrowdCost, floors: &Floors) -> ServerRow {
    let CrowdCost { walked, cpu_ms: cpu, cores, stages } = cost;
    let because = behind(bots, policy, &walked, cores);
    let crowd = walked.crowd;
    ServerRow {
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
        stage_us_per_client_second: stages,
        udp_floor_cpu_ms_per_client_second: floors.same_packets,
        ratio: cpu / floors.same_packets,
        udp_floor_10_cpu_ms_per_client_second: floors.ten_packets,
        ratio_10: cpu / floors.ten_packets,
        ping_p50_ms: walked.ping_p50_ms,
        ping_p99_ms: walked.ping_p99_ms,
        errors: crowd.errors,
        saturated: !because.is_empty(),
        because,
    }
}

/// Texts about what fell behind. If there are any, the costs are those of a server (or clients) that does not keep up.
fn behind(bots: u32, policy: MeasuredPolicy, walked: &WalkersReport, share: f64) -> Vec<String> {
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

//! What a client costs the server, at constant density, beside plain UDP.
//!
//! Server and clients are processes of their own, each on a core of its own, so neither's work is the other's.

mod children;
mod report;

pub use report::{Report, Row, table};

use crate::scratch::Scratch;
use anyhow::Result;
use children::{floor, walk};
use serde::Serialize;
use std::net::SocketAddr;
use testbed::cluster::{Cluster, ClusterOptions};
use testbed::process;
use testbed::walkers::Walked;

/// How many others each client should see, on average.
const VISIBLE: f64 = 22.0;

/// How far each client sees, in metres: Kosmos's range and the policies' default.
const VIEW: f64 = 60.0;

/// Which crowds on which worlds.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Numbers of clients.
    pub bots: Vec<u32>,
    /// Interest policies.
    pub policies: Vec<PolicyName>,
    /// For how long each is measured.
    pub seconds: f64,
    /// How many hosts the world has; a second one is the backup.
    pub hosts: u32,
    /// Numbers of zones.
    pub zones: Vec<u32>,
    /// Clients connect by WebSocket instead of QUIC.
    pub web_socket: bool,
}

impl ServerOptions {
    /// How many rows will be measured.
    pub fn rows(&self) -> usize {
        self.bots.len() * self.policies.len() * self.zones.len()
    }
}

/// A policy, as configurations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// All poses to all clients.
    Everything,
    /// All within a circle.
    Circle,
    /// Graded by distance.
    CircleAttenuated,
    /// All within a sector.
    FieldOfView,
    /// Graded by distance and direction.
    A3,
}

impl PolicyName {
    /// As configurations name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Circle => "circle",
            Self::CircleAttenuated => "circle-attenuated",
            Self::FieldOfView => "field-of-view",
            Self::A3 => "a3",
        }
    }

    /// The least updates a client must get per second if nothing falls behind; `None` where the policy grades.
    fn due(self, bots: u32, visible: f64) -> Option<f64> {
        match self {
            Self::Everything => Some(10.0 * f64::from(bots - 1)),
            Self::Circle => Some(10.0 * visible),
            Self::CircleAttenuated | Self::FieldOfView | Self::A3 => None,
        }
    }
}

/// The cores of the server and of the clients; empty if there is only one.
struct Places {
    all: Vec<usize>,
    server: Vec<usize>,
    clients: Vec<usize>,
}

/// Measures every crowd; `done` is called after each row. It must be called from the thread that blocks on it: the
/// processes that it starts run on the cores of their starting thread.
pub async fn measure(options: &ServerOptions, done: &dyn Fn()) -> Result<Report> {
    let all = process::cores();
    let places = match all[..] {
        [server, clients, ..] => Places { server: vec![server], clients: vec![clients], all },
        _ => Places { server: Vec::new(), clients: Vec::new(), all },
    };
    let mut rows = Vec::new();
    for &bots in &options.bots {
        for &policy in &options.policies {
            for &zones in &options.zones {
                rows.push(measured(options, &places, (bots, zones), policy).await?);
                done();
            }
        }
    }
    Ok(Report {
        bench: "server",
        hosts: options.hosts,
        transport: if options.web_socket { "web-socket" } else { "quic" },
        pinned: !places.server.is_empty(),
        seconds: options.seconds,
        rows,
    })
}

async fn measured(
    options: &ServerOptions,
    places: &Places,
    (bots, zones): (u32, u32),
    policy: PolicyName,
) -> Result<Row> {
    let scratch = Scratch::new()?;
    let hosts: Vec<u32> = (1..=options.hosts).collect();
    let (half, room) = (half(bots), bots + 100);
    // No limit: what a policy costs is to be seen, not what is left of it.
    let config = scratch.configure(&format!(
        "world = {{ half = {half}, hosts = {hosts:?}, zones = {zones} }}\n\
         carrier = {{ policy = {:?}, bytes_per_second = 0 }}\n\
         host = {{ players_max = {room} }}\n\
         lobby = {{ per_address = 1000.0, burst = 100000 }}\n",
        policy.name(),
    ))?;
    process::stay_on(&places.server);
    let cluster = Cluster::start(ClusterOptions {
        data: scratch.path().to_owned(),
        config: Some(config),
        history: None,
        lobby: SocketAddr::from(([127, 0, 0, 1], 0)),
        hosts,
    })
    .await?;
    let (walked, spent, share) = walk(options, places, bots, &cluster).await?;
    cluster.leave().await?;
    let floor =
        if options.web_socket { f64::NAN } else { floor(places, bots, &walked, options.seconds).await? };
    Ok(row((bots, zones), policy, walked, spent, share, floor))
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

fn row(
    (bots, zones): (u32, u32),
    policy: PolicyName,
    walked: Walked,
    cpu: f64,
    share: f64,
    floor: f64,
) -> Row {
    let because = behind(bots, policy, &walked, share);
    let crowd = walked.crowd;
    Row {
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
        udp_floor_cpu_ms_per_client_second: floor,
        ratio: cpu / floor,
        ping_p50_ms: walked.ping_p50_ms,
        ping_p99_ms: walked.ping_p99_ms,
        errors: crowd.errors,
        saturated: !because.is_empty(),
        because,
    }
}

/// What fell behind: then the costs are those of a server (or of clients) that does not keep up.
fn behind(bots: u32, policy: PolicyName, walked: &Walked, share: f64) -> Vec<String> {
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

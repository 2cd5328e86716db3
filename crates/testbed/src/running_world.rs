//! A running world: processes of this computer, or everything in this process.

use crate::cluster::{Cluster, ClusterOptions};
use anyhow::Result;
use client::LobbyClient;
use game::HostedGame;
use server::{ControlPlane, HostProcess, Page, ServerConfig};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Interval at which a starting world is asked whether it is ready.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A running world, wherever its servers are.
pub enum RunningWorld {
    /// As processes of this computer.
    Processes(Box<Cluster>),
    /// All servers within this process.
    InProcess(Box<InProcessWorld>),
}

/// A world within this process.
pub struct InProcessWorld {
    control_plane: ControlPlane,
    leave: watch::Sender<bool>,
    hosts: JoinSet<Result<()>>,
}

impl RunningWorld {
    /// Starts a world as processes, and returns when players can enter it.
    pub async fn start_processes(options: ClusterOptions) -> Result<Self> {
        Ok(Self::Processes(Box::new(Cluster::start(options).await?)))
    }

    /// Starts a world of this game in this process, with its page, and returns when players can enter it.
    pub async fn start_in_process(
        config: &ServerConfig,
        rules: Arc<dyn HostedGame>,
        page: Page,
    ) -> Result<Self> {
        // Before the servers start: metrics counted without a recorder are lost.
        server::web::count();
        let mut config = config.clone();
        // Only hosts of this process need it, and they are told the port.
        config.directory.listen.set_port(0);
        let control_plane = ControlPlane::start(&config, &*rules, page).await?;
        let (leave, leaving) = watch::channel(false);
        let mut hosts = JoinSet::new();
        for &id in &config.world.hosts {
            let mut config = config.clone();
            config.host.id = id;
            let host = HostProcess::start(&config, control_plane.directory, rules.clone()).await?;
            let mut leaving = leaving.clone();
            hosts.spawn(host.run(async move { drop(leaving.wait_for(|it| *it).await.map(|it| *it)) }));
        }
        let lobby = LobbyClient::new(&control_plane.lobby.to_string());
        while !lobby.health().await.is_ok_and(|it| it.zones.iter().all(|it| it.primary.is_some())) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(Self::InProcess(Box::new(InProcessWorld { control_plane, leave, hosts })))
    }

    /// TCP address of the lobby.
    pub fn lobby(&self) -> SocketAddr {
        match self {
            Self::Processes(cluster) => cluster.lobby(),
            Self::InProcess(world) => world.control_plane.lobby,
        }
    }

    /// Processor seconds that the servers have used; in this process, together with everything else in it.
    pub fn processor_seconds(&self) -> f64 {
        match self {
            Self::Processes(cluster) => cluster.processor_seconds(),
            Self::InProcess(_) => cpu_time::ProcessTime::now().as_duration().as_secs_f64(),
        }
    }

    /// Stops all hosts in good order.
    pub async fn leave(self) -> Result<()> {
        match self {
            Self::Processes(cluster) => cluster.leave().await,
            Self::InProcess(mut world) => {
                let _ = world.leave.send(true);
                while let Some(host) = world.hosts.join_next().await {
                    host??;
                }
                Ok(())
            }
        }
    }
}

//! A running world: processes of this machine, or everything in this process.

use crate::cluster::{Cluster, ClusterOptions};
use anyhow::Result;
use client::Lobby;
use game::Rules;
use server::{Config, Host, Seat};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How often a world that starts is asked whether it is ready.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A world that runs.
pub enum RunningWorld {
    /// As processes.
    Outside(Box<Cluster>),
    /// In this one.
    Inside(Box<InsideWorld>),
}

/// A world in this process.
pub struct InsideWorld {
    seat: Seat,
    leave: watch::Sender<bool>,
    hosts: JoinSet<Result<()>>,
}

impl RunningWorld {
    /// Starts a world as processes, and returns when it can be entered.
    pub async fn outside(options: ClusterOptions) -> Result<Self> {
        Ok(Self::Outside(Box::new(Cluster::start(options).await?)))
    }

    /// Starts a world of this game in this process, and returns when it can be entered.
    pub async fn inside(config: &Config, rules: Arc<dyn Rules>) -> Result<Self> {
        server::web::count();
        let mut config = config.clone();
        config.directory.listen.set_port(0);
        let seat = Seat::start(&config, &*rules).await?;
        let (leave, left) = watch::channel(false);
        let mut hosts = JoinSet::new();
        for &id in &config.world.hosts {
            let mut config = config.clone();
            config.host.id = id;
            let host = Host::start(&config, seat.directory, rules.clone()).await?;
            let mut left = left.clone();
            hosts.spawn(host.run(async move { drop(left.wait_for(|it| *it).await.map(|it| *it)) }));
        }
        let lobby = Lobby::new(&seat.lobby.to_string());
        while !lobby.health().await.is_ok_and(|it| it.zones.iter().all(|it| it.primary.is_some())) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(Self::Inside(Box::new(InsideWorld { seat, leave, hosts })))
    }

    /// Where people come in.
    pub fn lobby(&self) -> SocketAddr {
        match self {
            Self::Outside(cluster) => cluster.lobby(),
            Self::Inside(inside) => inside.seat.lobby,
        }
    }

    /// Processor seconds that the servers have used; in this process, together with everything else in it.
    pub fn processor_seconds(&self) -> f64 {
        match self {
            Self::Outside(cluster) => cluster.processor_seconds(),
            Self::Inside(_) => cpu_time::ProcessTime::now().as_duration().as_secs_f64(),
        }
    }

    /// Lets everything leave in good order.
    pub async fn leave(self) -> Result<()> {
        match self {
            Self::Outside(cluster) => cluster.leave().await,
            Self::Inside(mut inside) => {
                let _ = inside.leave.send(true);
                while let Some(host) = inside.hosts.join_next().await {
                    host??;
                }
                Ok(())
            }
        }
    }
}

//! A host process: replicas of zones, the doors to them, and the way to the other hosts.

use crate::config::Config;
use crate::directory::Remote;
use crate::keeper::{TokenKeeper, wall_clock};
use crate::keys::KeyFolder;
use crate::web;
use crate::world::{self, HostEntry, Hosts, World};
use crate::zone_cell::{self, Supervised};
use anyhow::Context as _;
use game::Rules;
use lobby::{Gate, PublicKey, Verifier};
use machine::directory::Revision;
use net::Close;
use net::mesh::{self, Others};
use net::session::House;
use net::switchboard::Switchboard;
use net::tls::{Identity, host_name};
use net::{door, endpoint};
use node::Host as Node;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

/// How often a host looks who else there is.
const REFRESH_EVERY: Duration = Duration::from_millis(500);

/// How long the directory is waited for before a host says so.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long a leaving host may take to bring its disks up to date.
const FAREWELL: Duration = Duration::from_secs(5);

/// A new certificate is shown this often; browsers take one for 14 days.
const CERTIFICATE_EVERY: Duration = Duration::from_secs(7 * 24 * 3600);

/// A running host.
pub struct Host {
    house: Arc<House<Node>>,
    zones: Supervised,
    failures: mpsc::Receiver<String>,
    endpoint: quinn::Endpoint,
    others: watch::Sender<Others>,
    directory: Remote,
    id: u32,
    entry: HostEntry,
}

impl Host {
    /// Starts a host: waits for the directory, opens its doors, and says where it is.
    pub async fn start(
        config: &Config,
        directory: SocketAddr,
        rules: Arc<dyn Rules>,
    ) -> anyhow::Result<Self> {
        let id = config.host.id;
        let membership = KeyFolder::of(&config.data).membership(&host_name(id))?;
        let directory = Remote::new(directory, &membership)?;
        let world = await_world(&directory).await;
        check_world(&world, &*rules, id)?;
        let verifier = Verifier::new(PublicKey::from_bytes(&world.lobby), &world.id, id)?;
        let house = Arc::new(House {
            host: id,
            switchboard: Switchboard::new(id),
            keeper: Box::new(TokenKeeper::new(Gate::new(verifier, wall_clock()))),
            players_max: config.host.players_max,
        });
        let (zones, failures) = zone_cell::start_all(config, &world, &rules, &directory, &house)?;

        let identity = Identity::pinned()?;
        let endpoint = endpoint::for_players_at(config.host.players, &identity)?;
        tokio::spawn(door::accept(endpoint.clone(), house.clone()));
        let (others, known) = watch::channel(Others::new());
        let mesh = mesh::spawn(house.clone(), config.host.mesh, membership, known)?;
        let listener = TcpListener::bind(config.host.web)
            .await
            .with_context(|| format!("cannot listen at {}", config.host.web))?;
        let web = listener.local_addr()?;
        let proxies = config.host.proxies.clone();
        let routes = web::host_routes(house.clone(), zones.tally(), proxies.clone().into());
        web::serve(listener, routes, proxies);

        let told = |at: SocketAddr| config.host.announce.map_or(at, |it| SocketAddr::new(it, at.port()));
        let web = told(web);
        let entry = HostEntry {
            mesh: told(mesh),
            players: told(endpoint.local_addr()?),
            web,
            socket: config.host.websocket.clone().unwrap_or_else(|| format!("ws://{web}/play")),
            certificate: identity.hash(),
            zones: house.switchboard.zones(),
        };
        let host = Self { house, zones, failures, endpoint, others, directory, id, entry };
        tracing::info!(host = id, players = %host.entry.players, %web, %mesh, "ready");
        Ok(host)
    }

    /// Runs until `leave` is done or a zone cannot go on, then hands over and ends.
    pub async fn run(mut self, leave: impl Future<Output = ()>) -> anyhow::Result<()> {
        tokio::pin!(leave);
        let (_, closed) = mpsc::channel(1);
        let mut failures = std::mem::replace(&mut self.failures, closed);
        let mut renewed = tokio::time::Instant::now();
        let failure = loop {
            if CERTIFICATE_EVERY < renewed.elapsed() {
                let identity = Identity::pinned()?;
                self.endpoint.set_server_config(Some(endpoint::players_config(&identity)?));
                self.entry.certificate = identity.hash();
                renewed = tokio::time::Instant::now();
            }
            tokio::select! {
                () = self.refresh() => (),
                () = &mut leave => break None,
                Some(why) = failures.recv() => break Some(why),
            }
        };
        self.leave().await;
        failure.map_or(Ok(()), |why| Err(anyhow::anyhow!("a zone cannot go on: {why}")))
    }

    /// Says where this host is, if the directory does not know, and learns where the others are.
    async fn refresh(&self) {
        if let Some(entries) = self.directory.read(vec![world::hosts_key()]).await {
            let entry = entries.first();
            let mut hosts: Hosts = entry.and_then(|it| world::read(&it.value)).unwrap_or_default();
            if hosts.get(&self.id) != Some(&self.entry) {
                hosts.insert(self.id, self.entry.clone());
                let revision = entry.map_or(Revision(0), |it| it.revision);
                self.directory.swap(world::hosts_key(), revision, world::write(&hosts)).await;
            }
            let others: Others =
                hosts.iter().filter(|it| *it.0 != self.id).map(|(&id, it)| (id, it.mesh)).collect();
            self.others.send_if_modified(|known| {
                let news = *known != others;
                *known = others;
                news
            });
        }
        self.zones.report(&self.house.switchboard).await;
        tokio::time::sleep(REFRESH_EVERY).await;
    }

    async fn leave(self) {
        tracing::info!(host = self.id, "leaving: handing over");
        if tokio::time::timeout(FAREWELL, self.zones.leave()).await.is_err() {
            tracing::warn!(host = self.id, "the disk is slow; leaving without it");
        }
        self.house.switchboard.dismiss(Close::Leaving);
        self.endpoint.close(Close::Leaving.code().into(), Close::Leaving.reason().as_bytes());
        drop(tokio::time::timeout(Duration::from_millis(500), self.endpoint.wait_idle()).await);
        tracing::info!(host = self.id, "gone");
    }
}

async fn await_world(directory: &Remote) -> World {
    let began = tokio::time::Instant::now();
    let mut said = false;
    loop {
        let entries = directory.read(vec![world::world_key()]).await;
        if let Some(world) = entries.and_then(|it| world::read(&it.first()?.value)) {
            return world;
        }
        if PATIENCE < began.elapsed() && !said {
            tracing::warn!("waiting for the directory; is `ecumene directory` running, with the same keys?");
            said = true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn check_world(world: &World, rules: &dyn Rules, host: u32) -> anyhow::Result<()> {
    let (name, schema) = (rules.name(), rules.schema());
    anyhow::ensure!(world.game == name, "this world plays {}, this host {name}", world.game);
    anyhow::ensure!(
        world.schema == schema,
        "the world's types are {:016x}, this program's {schema:016x}: run the version that founded the world, or \
         migrate it",
        world.schema
    );
    let known = world.zones.values().any(|hosts| hosts.contains(&host));
    let hosts = world.zones.values().next();
    anyhow::ensure!(known, "host {host} is none of the world's hosts: {:?}", hosts.unwrap_or(&Vec::new()));
    Ok(())
}

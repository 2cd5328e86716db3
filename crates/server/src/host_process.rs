//! A host process: replicas of zones, the endpoints for players, and the connections to other hosts.

#[cfg(test)]
mod bad_zone_tests;

use crate::config::ServerConfig;
use crate::directory::RemoteDirectory;
use crate::host_registration::HostRegistration;
use crate::host_reporter::HostReporter;
use crate::keys::KeyFolder;
use crate::restart::HostStuck;
use crate::token_authenticator::{TokenAuthenticator, wall_clock};
use crate::watchdog::{HangingCall, Watchdog};
use crate::web;
use crate::world_entry::{self, HostEntry, WorldEntry};
use crate::zone_worker::{self, ZoneSupervisor};
use anyhow::Context as _;
use game::HostedGame;
use lobby::{HostReport, PublicKey, TokenGate, Verifier};
use machine::directory::Revision;
use net::Close;
use net::endpoint;
use net::host_context::HostContext;
use net::link_router::LinkRouter;
use net::mesh::HostAddresses;
use net::reactor::socket::{PacketSocket as _, UdpPacketSocket};
use net::reactor::{self, Reactor, ReactorHandle};
use net::tls::{Identity, MeshIdentity, host_name};
use node::ReplicaNode;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Interval at which a host reads the addresses of the others.
const REFRESH_EVERY: Duration = Duration::from_millis(500);

/// Time after which a host logs that it waits for the directory.
const LOG_WAIT_AFTER: Duration = Duration::from_secs(2);

/// Time that a leaving host may take to write everything to disk.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The same for a host of which a part has failed: the zones on its other reactors leave within it.
const FAILED_LEAVE_TIMEOUT: Duration = Duration::from_millis(500);

/// Time that a reactor may take to close its connections.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Age at which a certificate is replaced; browsers accept one for 14 days.
const CERTIFICATE_EVERY: Duration = Duration::from_secs(7 * 24 * 3600);

/// A running host with its zones and endpoints.
pub struct HostProcess {
    context: Arc<HostContext<ReplicaNode>>,
    zones: ZoneSupervisor,
    failures: mpsc::Receiver<String>,
    stuck: mpsc::Receiver<HangingCall>,
    /// Ends with the host.
    _watchdog: Watchdog,
    reactors: Vec<ReactorHandle<ReplicaNode>>,
    others: HostAddresses,
    id: u32,
    registration: HostRegistration,
    directory: RemoteDirectory,
    /// Dropped with the host, so that a host that has ended does not report.
    reporter: JoinSet<()>,
}

impl HostProcess {
    /// Starts a host: waits for the directory, starts its zones, opens its endpoints, and prepares its entry.
    pub async fn start(
        config: &ServerConfig,
        directory: SocketAddr,
        rules: Arc<dyn HostedGame>,
    ) -> anyhow::Result<Self> {
        let id = config.host.id;
        let mesh_identity = KeyFolder::of(&config.data).mesh_identity(&host_name(id))?;
        let directory = RemoteDirectory::new(directory, &mesh_identity)?;
        let world = await_world(&directory).await;
        check_world(&world, &*rules, id)?;
        let verifier = Verifier::new(PublicKey::from_bytes(&world.lobby), &world.id, id)?;
        let context = Arc::new(HostContext {
            host: id,
            router: LinkRouter::new(id),
            authenticator: Box::new(TokenAuthenticator::new(TokenGate::new(verifier, wall_clock()))),
            players_max: config.host.players_max,
        });
        let identity = Identity::pinned()?;
        let (failed, failures) = mpsc::channel(1);
        let Reactors { reactors, players, mesh } =
            start_reactors(config, &identity, &mesh_identity, &context, &failed)?;
        let zones = zone_worker::start_all(config, &world, &rules, &directory, &context, &reactors, &failed)?;
        let (tell_stuck, stuck) = mpsc::channel(1);
        let watchdog = Watchdog::start(zones.clone(), directory.clone(), tell_stuck)?;
        let listener = TcpListener::bind(config.host.web)
            .await
            .with_context(|| format!("cannot listen at {}", config.host.web))?;
        let web = listener.local_addr()?;
        let proxies = config.host.proxies.clone();
        let routes = web::host_routes(context.clone(), zones.counters(), proxies.clone().into());
        web::serve(listener, routes, proxies);

        // Behind address translation only the IP address differs; ports are the same.
        let announced = |at: SocketAddr| config.host.announce.map_or(at, |it| SocketAddr::new(it, at.port()));
        let web = announced(web);
        let entry = HostEntry {
            mesh: announced(mesh),
            players: announced(players),
            web,
            socket: config.host.websocket.clone().unwrap_or_else(|| format!("ws://{web}/play")),
            certificate: identity.hash(),
            zones: context.router.zones(),
        };
        let others = HostAddresses::new(); // The first refresh fills it.
        tracing::info!(host = id, players = %entry.players, %web, %mesh, "ready");
        let mut reporter = JoinSet::new();
        reporter.spawn(HostReporter::new(id, directory.clone(), zones.clone(), &reactors).run());
        let registration = HostRegistration::new(directory.clone(), &world, id, entry);
        Ok(Self {
            context,
            zones,
            failures,
            stuck,
            _watchdog: watchdog,
            reactors,
            others,
            id,
            registration,
            directory,
            reporter,
        })
    }

    /// Runs until `leave` is done, then hands over its zones and ends. It also ends, with an error, if the disk's thread or a
    /// reactor panicked, or if a call of the game holds a reactor for ever: then the error is [`HostStuck`].
    pub async fn run(mut self, leave: impl Future<Output = ()>) -> anyhow::Result<()> {
        tokio::pin!(leave);
        // These move out, because `refresh` borrows `self` in the same select.
        let mut failures = std::mem::replace(&mut self.failures, mpsc::channel(1).1);
        let mut stuck = std::mem::replace(&mut self.stuck, mpsc::channel(1).1);
        let mut renewed = tokio::time::Instant::now();
        let failure = loop {
            if CERTIFICATE_EVERY < renewed.elapsed() {
                let identity = Identity::pinned()?;
                let config = Arc::new(endpoint::players_config(&identity)?);
                self.reactors.iter().for_each(|it| it.set_players_config(config.clone()));
                self.registration.entry.certificate = identity.hash();
                renewed = tokio::time::Instant::now();
            }
            tokio::select! {
                () = self.refresh() => (),
                () = &mut leave => break None,
                Some(why) = failures.recv() => break Some(anyhow::anyhow!("this host cannot go on: {why}")),
                Some(call) = stuck.recv() => {
                    let call = call.to_string();
                    tracing::error!(call, "a call of the game does not come back: this host must start again");
                    break Some(HostStuck { call }.into());
                }
            }
        };
        self.leave(failure.is_some()).await;
        failure.map_or(Ok(()), Err)
    }

    /// Registers this host, if the directory's entry differs, and reads the addresses of the others.
    async fn refresh(&mut self) {
        // Without those in quarantine.
        self.registration.entry.zones = self.context.router.zones();
        if let Some(hosts) = self.registration.refresh().await {
            let others: HostAddresses = hosts.iter().map(|(&id, it)| (id, it.mesh)).collect();
            if self.others != others {
                // The first reactor holds the connections to other hosts.
                self.reactors[0].set_hosts(others.clone());
                self.others = others;
            }
        }
        self.zones.report(&self.context.router).await;
        tokio::time::sleep(REFRESH_EVERY).await;
    }

    /// Hands over all zones and closes all connections. A host that failed takes less time: a part of it does not answer.
    async fn leave(mut self, failed: bool) {
        self.reporter.shutdown().await;
        self.directory.report(&HostReport { host: self.id, is_leaving: true, ..HostReport::default() }).await;
        tracing::info!(host = self.id, "leaving: handing over");
        let limit = if failed { FAILED_LEAVE_TIMEOUT } else { LEAVE_TIMEOUT };
        let leave = async {
            self.zones.leave().await;
            if !failed {
                self.zones.checkpoint().await;
            }
        };
        if timeout(limit, leave).await.is_err() {
            tracing::warn!(
                host = self.id,
                "a zone or the disk is slow or stuck; leaving before everything is written"
            );
        }
        self.context.router.close_players(Close::Leaving);
        let mut closing = JoinSet::new();
        for reactor in std::mem::take(&mut self.reactors) {
            // Half a second at most; lost close messages do no harm. A reactor that is stuck does not answer.
            closing.spawn(timeout(CLOSE_TIMEOUT, async move { reactor.close(Close::Leaving).await }));
        }
        closing.join_all().await;
        tracing::info!(host = self.id, "gone");
    }
}

/// The reactors of a host, and the addresses at which they listen.
struct Reactors {
    reactors: Vec<ReactorHandle<ReplicaNode>>,
    players: SocketAddr,
    mesh: SocketAddr,
}

/// Starts the reactors of a host. All listen to players, at one address; the first one also to other hosts.
fn start_reactors(
    config: &ServerConfig,
    identity: &Identity,
    mesh_identity: &MeshIdentity,
    context: &Arc<HostContext<ReplicaNode>>,
    failed: &mpsc::Sender<String>,
) -> anyhow::Result<Reactors> {
    let players_config = Arc::new(endpoint::players_config(identity)?);
    let sockets = reactor::open_sockets(config.host.players, config.host.reactors)?;
    let players = sockets[0].local_address()?;
    let mesh_socket = UdpPacketSocket::open(config.host.mesh, false)?;
    let mesh = mesh_socket.local_address()?;
    let mut mesh_socket = Some(mesh_socket);
    let mut reactors = Vec::new();
    for (number, socket) in sockets.into_iter().enumerate() {
        let (mut reactor, handle) = Reactor::new(net::clock::now())?;
        reactor.listen_to_players(Box::new(socket), players_config.clone(), context.clone(), number as u8);
        if let Some(socket) = mesh_socket.take() {
            reactor.listen_to_hosts(Box::new(socket), mesh_identity, context.clone())?;
        }
        let failed = failed.clone();
        reactor.spawn(&format!("reactor-{number}"), move |why| {
            // The channel is full if another failure came first: the host ends either way.
            drop(failed.try_send(format!("a reactor panicked: {why}")));
        })?;
        reactors.push(handle);
    }
    reactor::share_port(&reactors);
    Ok(Reactors { reactors, players, mesh })
}

async fn await_world(directory: &RemoteDirectory) -> WorldEntry {
    let began = tokio::time::Instant::now();
    let mut logged = false;
    loop {
        let entries = directory.read(vec![world_entry::world_key()]).await.unwrap_or_default();
        let entry = entries.first().filter(|it| it.revision != Revision(0));
        if let Some(world) = entry.and_then(|it| world_entry::read(&it.value)) {
            return world;
        }
        if LOG_WAIT_AFTER < began.elapsed() && !logged {
            match entry {
                Some(_) => tracing::warn!("waiting: {}", world_entry::OTHER_VERSION),
                None => tracing::warn!(
                    "waiting for the directory; is `ecumene directory` running, with the same keys?"
                ),
            }
            logged = true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn check_world(world: &WorldEntry, rules: &dyn HostedGame, host: u32) -> anyhow::Result<()> {
    let (name, schema) = (rules.name(), rules.schema());
    anyhow::ensure!(world.game == name, "this world plays {}, this host {name}", world.game);
    anyhow::ensure!(
        world.schema == schema,
        "the world's types are {:016x}, this program's {schema:016x}: run the version that founded the world, or \
         migrate it",
        world.schema
    );
    let hosts = world.hosts();
    anyhow::ensure!(hosts.contains(&host), "host {host} is none of the world's hosts: {hosts:?}");
    Ok(())
}

//! A session in the world: the player's machine in a worker, and connections to hosts that are renewed when they break.

use crate::lobby::{HostInfo, LobbyClient, LobbyClientError, Pass, SessionInfo};
use crate::queue::{WaitingCallback, wait_for_session};
use crate::tokens::{RetryPauses, TokenSet, Tokens};
use history::{EntryKind, HistoryWriter};
use machine::{Address, Rng, Time};
use net::dial::{Dialer, PlayerEnd, Target, TrafficCounters};
use net::worker::{EventSink, Inbound, WorkerHandle};
use net::{Close, address};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use zone::{PlayerConfig, PlayerEvent};

/// Connections in a world of one zone while any host may have the avatar: to the most useful hosts, those of the primary
/// and the backup, and one more.
const CONNECTIONS: usize = 3;

/// The same in a world of several zones.
const CONNECTIONS_MESHED: usize = 16;

/// Time without a primary after which the lobby is asked for other hosts, and asked again.
const ASK_LOBBY_AFTER: Duration = Duration::from_millis(500);

/// Time without a request to the lobby after which a session asks for new tokens although it needs none. The lobby forgets
/// after ten minutes that the player is in, and a player whose connection breaks then would have to wait.
const TELL_LOBBY_EVERY: Duration = Duration::from_secs(240);

/// Name of the random stream for requests to the lobby; a connection's is named by its host.
const LOBBY: u64 = u64::MAX;

/// Name of the random stream for the wait in the lobby's queue.
const QUEUE: u64 = u64::MAX - 1;

/// The transport by which a player connects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// QUIC over UDP, the default.
    #[default]
    Quic,
    /// WebSocket over TCP, where UDP is blocked.
    WebSocket,
}

/// The options of a session.
#[derive(Clone)]
pub struct SessionOptions {
    /// Transport of all its connections.
    pub transport: Transport,
    /// Dialer for its connections, which also runs the player's machine. Many sessions may share one.
    pub dialer: Dialer<node::ClientNode>,
    /// Writer of its history. Many sessions may share one.
    pub history: HistoryWriter,
    /// Random seed of the player's machine and of pauses.
    pub seed: u64,
    /// Told the place in the lobby's queue, if the player has to wait.
    pub on_waiting: Option<WaitingCallback>,
}

/// Counters of a session, updated while it runs.
#[derive(Debug, Default)]
pub struct SessionCounters {
    /// Bytes and packets over all its connections.
    pub traffic: Arc<TrafficCounters>,
    /// Connections that were made again after they broke.
    pub redials: AtomicU64,
    /// Set when the session is over although the player did not end it: a newer session took over, or the lobby no
    /// longer accepts the pass or the session. Then its machine has stopped and raises no more events.
    pub ended: AtomicBool,
}

/// A session in the world. Dropped without [`Session::end`], it disconnects without leaving the world.
pub struct Session {
    /// Worker of the player's machine.
    pub player: WorkerHandle<node::ClientNode>,
    /// Counters of all its connections.
    pub counters: Arc<SessionCounters>,
    /// World and hosts, as the lobby described them at the start.
    pub info: SessionInfo,
    connections: JoinSet<()>,
    address: Address,
    history: HistoryWriter,
}

impl Session {
    /// Begins a session, once the lobby lets the player in. `make` builds the player's machine, with or without a bot; `on_event`
    /// gets its events, on the dialer's reactor, and must not wait.
    pub async fn begin(
        lobby: &LobbyClient,
        pass: &Pass,
        options: SessionOptions,
        make: impl FnOnce(PlayerConfig, &SessionInfo) -> node::ClientNode,
        on_event: impl FnMut(PlayerEvent) + Send + 'static,
    ) -> Result<Self, LobbyClientError> {
        let spread = Rng::seeded(options.seed).fork_named(QUEUE);
        let on_waiting = options.on_waiting.clone();
        let tell = |place| {
            if let Some(on_waiting) = &on_waiting {
                on_waiting(place);
            }
        };
        let info = wait_for_session(|| lobby.ask_session(pass), spread, tell).await?;
        Ok(Self::start(lobby, pass, info, options, make, on_event))
    }

    /// Starts a session that the lobby has begun. Its tokens are valid for half a minute; later the session fetches others.
    pub fn start(
        lobby: &LobbyClient,
        pass: &Pass,
        info: SessionInfo,
        options: SessionOptions,
        make: impl FnOnce(PlayerConfig, &SessionInfo) -> node::ClientNode,
        on_event: impl FnMut(PlayerEvent) + Send + 'static,
    ) -> Self {
        let config = PlayerConfig {
            player: game::PlayerId(info.player),
            session: info.session,
            name: info.name.clone(),
            seed: options.seed,
            notes: options.history.is_on(),
            broken_rules: zone::BrokenRules::NONE,
        };
        let address = address::player(info.player);
        options.history.note(address, EntryKind::Started);
        let (silences, silence) = watch::channel(0);
        let (contacts_in, contacts) = watch::channel(None);
        let sink = PlayerEventSink {
            on_event: Box::new(on_event),
            history: options.history.clone(),
            address,
            silences,
            contacts: contacts_in,
        };
        let player = options.dialer.run(make(config, &info), sink);
        let counters = Arc::new(SessionCounters::default());
        let history = options.history.clone();
        // Forked by name: another order of the draws would not change them.
        let tokens = Tokens::new(info.clone(), Rng::seeded(options.seed).fork_named(LOBBY));
        let keeper = ConnectionKeeper {
            lobby: lobby.clone(),
            pass: pass.clone(),
            options,
            player: player.clone(),
            counters: counters.clone(),
            tokens: Arc::new(tokens),
            silence,
            contacts,
        };
        let mut connections = JoinSet::new();
        connections.spawn(keeper.run());
        Self { player, counters, info, connections, address, history }
    }

    /// Ends the session: leaves the world, then disconnects.
    pub async fn end(mut self) {
        self.player.command(zone::PlayerCommand::Leave);
        self.player.flushed().await;
        tokio::time::sleep(Duration::from_millis(50)).await; // For the packets to leave the socket.
        self.player.send(Inbound::Stop);
        self.connections.shutdown().await;
        self.history.note(self.address, EntryKind::Stopped);
        self.history.flush();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.player.send(Inbound::Stop);
    }
}

struct PlayerEventSink {
    on_event: Box<dyn FnMut(PlayerEvent) + Send>,
    history: HistoryWriter,
    address: Address,
    /// Number of times that the primary was silent: all connections are probed then.
    silences: watch::Sender<u64>,
    contacts: watch::Sender<WantedHosts>,
}

/// The hosts that the player's machine wants to reach; `None`: all hosts.
type WantedHosts = Option<BTreeSet<u32>>;

impl EventSink<node::ClientNode> for PlayerEventSink {
    fn on_event(&mut self, _: Time, event: PlayerEvent) {
        // The primary is silent: is it the host, or only the connection? The probes tell.
        if matches!(event, PlayerEvent::Searching(_)) {
            self.silences.send_modify(|it| *it += 1);
        }
        match event {
            PlayerEvent::Contacts(replicas) => {
                let hosts = replicas.map(|it| it.into_iter().filter_map(address::host_of).collect());
                self.contacts.send_if_modified(|it| std::mem::replace(it, hosts.clone()) != hosts);
            }
            PlayerEvent::Note(note) => self.history.note(self.address, EntryKind::Said(note)),
            it => (self.on_event)(it),
        }
    }

    fn flush(&mut self, _: &node::ClientNode) {
        self.history.flush();
    }
}

/// Keeps a connection to each host that matters, also to those that register later.
#[derive(Clone)]
struct ConnectionKeeper {
    lobby: LobbyClient,
    pass: Pass,
    options: SessionOptions,
    player: WorkerHandle<node::ClientNode>,
    counters: Arc<SessionCounters>,
    /// Tokens, shared by all connections.
    tokens: Arc<Tokens>,
    silence: watch::Receiver<u64>,
    contacts: watch::Receiver<WantedHosts>,
}

/// The hosts to connect to.
fn hosts_to_connect(info: &SessionInfo, contacts: &WantedHosts) -> BTreeSet<u32> {
    if let Some(contacts) = contacts {
        return contacts.clone();
    }
    let most = if 1 < info.world.zones.len() { CONNECTIONS_MESHED } else { CONNECTIONS };
    info.hosts.iter().map(|it| it.host).take(most).collect()
}

impl ConnectionKeeper {
    /// Keeps connections until the session is over; then all of them end, and no more events are raised.
    async fn run(self) {
        let mut connections = JoinSet::new();
        let mut kept: BTreeMap<u32, AbortHandle> = BTreeMap::new();
        let (mut fresh, mut contacts) = (self.tokens.subscribe(), self.contacts.clone());
        let mut has_fresh_tokens = true;
        let telling = self.tell_lobby();
        tokio::pin!(telling);
        loop {
            let hosts = hosts_to_connect(&fresh.borrow_and_update().1, &contacts.borrow_and_update());
            // Dropping a task ends its connection.
            kept.extract_if(.., |host, _| !hosts.contains(host)).for_each(|(_, it)| it.abort());
            for host in hosts {
                kept.entry(host)
                    .or_insert_with(|| connections.spawn(self.clone().keep(host, has_fresh_tokens)));
            }
            // A token is valid for half a minute: for a host that becomes a contact later, a new one is needed.
            has_fresh_tokens = false;
            let continues = tokio::select! {
                _ = fresh.changed() => true,
                changed = contacts.changed() => changed.is_ok(),
                // A connection task ends by itself only if the session is over.
                Some(ended) = connections.join_next() => ended.is_err_and(|it| it.is_cancelled()),
                continues = self.clone().ask_for_other_hosts() => continues,
                () = &mut telling => false,
            };
            if !continues {
                break;
            }
        }
        self.counters.ended.store(true, Ordering::Relaxed);
        self.player.send(Inbound::Stop);
    }

    /// Lets the lobby know now and then that the player is still in, until the session is over.
    async fn tell_lobby(&self) {
        // All clients that came in together would ask together.
        let spread =
            Rng::seeded(self.options.seed).fork_named(LOBBY).below(TELL_LOBBY_EVERY.as_millis() as u64 / 4);
        let every = TELL_LOBBY_EVERY - Duration::from_millis(spread);
        self.tokens.keep_recent(every, |session| self.lobby.renew(&self.pass, session)).await;
    }

    /// Asks the lobby again once no primary is found: a host may lead now that the lobby did not list last time.
    /// Returns whether the session goes on.
    async fn ask_for_other_hosts(mut self) -> bool {
        self.until_searching_long().await;
        self.newer(self.tokens.newest().0).await.is_some()
    }

    /// Waits until the player's machine has been without a primary for a while.
    async fn until_searching_long(&mut self) {
        loop {
            while !self.is_searching().await {
                if self.silence.changed().await.is_err() {
                    return std::future::pending().await;
                }
            }
            tokio::time::sleep(ASK_LOBBY_AFTER).await;
            if self.is_searching().await {
                return;
            }
        }
    }

    async fn is_searching(&self) -> bool {
        self.player.inspect(|it| it.player().is_searching()).await == Some(true)
    }

    /// Keeps the connection to one host until the session is over.
    async fn keep(self, host: u32, has_fresh_token: bool) {
        let mut pauses = RetryPauses::new(Rng::seeded(self.options.seed).fork_named(u64::from(host)));
        let (mut used, mut info) = self.tokens.newest();
        if !has_fresh_token {
            let Some(newer) = self.newer(used).await else { return };
            (used, info) = newer;
        }
        let mut first = true;
        loop {
            let found =
                info.hosts.iter().find(|it| it.host == host).and_then(|it| Some((it, self.target(it)?)));
            let ended = match found {
                Some((host, target)) => {
                    match self.options.dialer.connect(&target, &host.token, self.end()).await {
                        Ok(connection) => {
                            if !first {
                                self.counters.redials.fetch_add(1, Ordering::Relaxed);
                            }
                            pauses.reset();
                            connection.over().await
                        }
                        Err(why) => why,
                    }
                }
                None => Close::Gone,
            };
            first = false;
            // A newer session of the same player is connected there: this one must not fight it.
            if ended == Close::Superseded {
                return;
            }
            tokio::time::sleep(pauses.next()).await;
            let Some(newer) = self.newer(used).await else { return };
            (used, info) = newer;
        }
    }

    /// The player's end of a connection.
    fn end(&self) -> PlayerEnd<node::ClientNode> {
        let mut probe = self.silence.clone();
        probe.mark_unchanged(); // Silences before the connection say nothing about it.
        PlayerEnd { player: self.player.clone(), traffic: self.counters.traffic.clone(), probe }
    }

    /// Tokens newer than those of this number; `None` if the session is over.
    async fn newer(&self, than: u64) -> Option<TokenSet> {
        self.tokens.newer(than, |session| self.lobby.renew(&self.pass, session)).await
    }

    fn target(&self, host: &HostInfo) -> Option<Target> {
        Some(match self.options.transport {
            Transport::Quic => Target::Quic { address: host.address, certificate: host.certificate()? },
            Transport::WebSocket => Target::Socket { url: host.websocket.clone() },
        })
    }
}

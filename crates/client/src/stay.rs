//! A stay in the world: the player's machine in a cell, and lines to its hosts that are dialled again when they break.

use crate::lobby::{HostInfo, Lobby, LobbyError, Pass, SessionInfo};
use crate::tokens::{Numbered, Pauses, Tokens};
use history::{HistoryWriter, What};
use machine::{Address, Rng, Time};
use net::cell::{self, Handle, Inbound, Owner};
use net::dial::{Dialer, Target, Traffic};
use net::{Close, address};
use node::Client as Node;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use zone::{Happening, PlayerConfig};

/// How many hosts are called in a world of one zone, the most useful first: the one that decides, the one that would
/// take over, one more.
const LINES: usize = 3;

/// Where there are several, whoever walks over a border must know who decides there: all hosts, up to so many.
const LINES_MESHED: usize = 16;

/// The lobby is asked who else there is when nobody on the line has decided for this long, and again after as long.
const ASK_AROUND_AFTER: Duration = Duration::from_millis(500);

/// Names the chance of asking the lobby; a line's is named by its host.
const LOBBY: u64 = u64::MAX;

/// How a player connects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// QUIC.
    #[default]
    Quic,
    /// WebSocket.
    WebSocket,
}

/// What a stay is told when it begins.
#[derive(Clone)]
pub struct StayOptions {
    /// How to connect.
    pub transport: Transport,
    /// What connects. Many stays may share one.
    pub dialer: Dialer,
    /// Where to write a history. Many stays may share one.
    pub history: HistoryWriter,
    /// Where chance starts.
    pub seed: u64,
}

/// What is counted about a stay.
#[derive(Debug, Default)]
pub struct Counts {
    /// What passed over its lines.
    pub traffic: Arc<Traffic>,
    /// Lines that were made anew after they broke.
    pub redials: AtomicU64,
    /// Whether the stay is over although nobody ended it: a newer session took over, or the lobby no longer knows the
    /// pass or the session. Then its machine has stopped, and nothing more is heard.
    pub ended: AtomicBool,
}

/// A stay in the world. Dropped without [`Stay::end`], it hangs up without a goodbye.
pub struct Stay {
    /// The player's machine.
    pub player: Handle<Node>,
    /// What is counted.
    pub counts: Arc<Counts>,
    /// What the lobby said.
    pub info: SessionInfo,
    lines: JoinSet<()>,
    address: Address,
    history: HistoryWriter,
}

impl Stay {
    /// Begins a stay: `make` puts a will into the machine or not; what happens arrives at `heard`.
    pub async fn begin(
        lobby: &Lobby,
        pass: &Pass,
        options: StayOptions,
        make: impl FnOnce(PlayerConfig, &SessionInfo) -> Node,
        heard: mpsc::UnboundedSender<Happening>,
    ) -> Result<Self, LobbyError> {
        let info = lobby.session(pass).await?;
        let config = PlayerConfig {
            player: game::PlayerId(info.player),
            session: info.session,
            name: info.name.clone(),
            seed: options.seed,
            notes: options.history.is_on(),
            broken_rules: zone::BrokenRules::NONE,
        };
        let address = address::player(info.player);
        let (player, inbox) = Handle::new();
        options.history.note(address, What::Started);
        let (doubts, doubt) = watch::channel(0);
        let owner = Listener { heard, history: options.history.clone(), address, doubts };
        cell::spawn_task(make(config, &info), owner, inbox);
        let counts = Arc::new(Counts::default());
        let history = options.history.clone();
        let tokens = Tokens::new(info.clone(), Rng::seeded(options.seed).fork_named(LOBBY));
        let operator = Operator {
            lobby: lobby.clone(),
            pass: pass.clone(),
            options,
            player: player.clone(),
            counts: counts.clone(),
            tokens: Arc::new(tokens),
            doubt,
        };
        let mut lines = JoinSet::new();
        lines.spawn(operator.operate());
        Ok(Self { player, counts, info, lines, address, history })
    }

    /// Ends the stay: says goodbye, hangs up.
    pub async fn end(mut self) {
        self.player.command(zone::Want::Leave);
        // The goodbye leaves with the cell's next turn; once somebody can look, it has.
        let _ = self.player.look(|_| ()).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.player.say(Inbound::Stop);
        self.lines.shutdown().await;
        self.history.note(self.address, What::Stopped);
        self.history.flush();
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.player.say(Inbound::Stop);
    }
}

struct Listener {
    heard: mpsc::UnboundedSender<Happening>,
    history: HistoryWriter,
    address: Address,
    /// Counts how often the home was silent: all lines are doubted then.
    doubts: watch::Sender<u64>,
}

impl Owner<Node> for Listener {
    fn hear(&mut self, _: Time, happening: Happening) {
        if happening == Happening::Searching {
            self.doubts.send_modify(|it| *it += 1);
        }
        match happening {
            Happening::Note(note) => self.history.note(self.address, What::Said(note)),
            it => drop(self.heard.send(it)),
        }
    }

    fn flush(&mut self, _: &Node) {
        self.history.flush();
    }
}

/// Keeps a line to each host that matters, also to those that come later.
#[derive(Clone)]
struct Operator {
    lobby: Lobby,
    pass: Pass,
    options: StayOptions,
    player: Handle<Node>,
    counts: Arc<Counts>,
    /// All lines share them.
    tokens: Arc<Tokens>,
    doubt: watch::Receiver<u64>,
}

/// The hosts to call.
fn lines_to(info: &SessionInfo) -> Vec<u32> {
    let most = if 1 < info.world.zones.len() { LINES_MESHED } else { LINES };
    info.hosts.iter().map(|it| it.host).take(most).collect()
}

impl Operator {
    /// Keeps lines until the stay is over; then all of them end, and the owner hears nothing more.
    async fn operate(mut self) {
        let mut lines = JoinSet::new();
        let mut called: Vec<u32> = Vec::new();
        let mut fresh = self.tokens.subscribe();
        loop {
            let hosts: Vec<u32> = lines_to(&fresh.borrow_and_update().1);
            for host in hosts {
                if called.contains(&host) {
                    continue;
                }
                called.push(host);
                lines.spawn(self.clone().keep(host));
            }
            let goes_on = tokio::select! {
                _ = fresh.changed() => true,
                Some(_) = lines.join_next() => false,
                goes_on = self.ask_around() => goes_on,
            };
            if !goes_on {
                break;
            }
        }
        self.counts.ended.store(true, Ordering::Relaxed);
        self.player.say(Inbound::Stop);
    }

    /// Asks the lobby again once nobody is found: somebody may decide now whom it did not know of when it was asked
    /// last. Whether the stay goes on.
    async fn ask_around(&mut self) -> bool {
        self.searches().await;
        self.newer(self.tokens.newest().0).await.is_some()
    }

    /// Waits until nobody has been found for a while who decides.
    async fn searches(&mut self) {
        loop {
            while !self.is_searching().await {
                if self.doubt.changed().await.is_err() {
                    return std::future::pending().await;
                }
            }
            tokio::time::sleep(ASK_AROUND_AFTER).await;
            if self.is_searching().await {
                return;
            }
        }
    }

    async fn is_searching(&self) -> bool {
        self.player.look(|it| it.player().is_searching()).await == Some(true)
    }

    /// Keeps the line to one host until the stay is over.
    async fn keep(mut self, host: u32) {
        let mut pauses = Pauses::new(Rng::seeded(self.options.seed).fork_named(u64::from(host)));
        let (mut used, mut info) = self.tokens.newest();
        let mut first = true;
        loop {
            let found =
                info.hosts.iter().find(|it| it.host == host).and_then(|it| Some((it, self.target(it)?)));
            let ended = match found {
                Some((host, target)) => match self.options.dialer.dial(&target, &host.token).await {
                    Ok(line) => {
                        if !first {
                            self.counts.redials.fetch_add(1, Ordering::Relaxed);
                        }
                        pauses.reset();
                        line.serve(&self.player, &self.counts.traffic, &mut self.doubt).await
                    }
                    Err(why) => why,
                },
                None => Close::Gone,
            };
            first = false;
            if ended == Close::Superseded {
                return;
            }
            tokio::time::sleep(pauses.next()).await;
            let Some(newer) = self.newer(used).await else { return };
            (used, info) = newer;
        }
    }

    /// Tokens newer than those of this number; `None` if the stay is over.
    async fn newer(&self, than: u64) -> Option<Numbered> {
        self.tokens.newer(than, |session| self.lobby.renew(&self.pass, session)).await
    }

    fn target(&self, host: &HostInfo) -> Option<Target> {
        Some(match self.options.transport {
            Transport::Quic => Target::Quic { address: host.address, certificate: host.certificate()? },
            Transport::WebSocket => Target::Socket { url: host.websocket.clone() },
        })
    }
}

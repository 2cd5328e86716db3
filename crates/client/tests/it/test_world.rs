//! A host whose zone never answers, and a lobby whose answers the test chooses.

use axum::extract::{Json, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use kosmos::Kosmos;
use machine::{Input, Machine, Outbox, Time};
use net::host_context::{AuthenticatedClient, Authenticator, HostContext};
use net::link_router::LinkRouter;
use net::reactor::socket::{PacketSocket as _, UdpPacketSocket};
use net::reactor::{Reactor, ReactorHandle};
use net::tls::Identity;
use net::{Close, clock, endpoint};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use wire::{DecodeError, Message};

/// A message whose content is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredMsg;

impl Message for IgnoredMsg {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}

/// A zone that never answers, but counts messages.
pub struct SilentZone(watch::Sender<u64>);

impl Machine for SilentZone {
    type Msg = IgnoredMsg;
    type Command = ();
    type Event = ();

    fn handle(&mut self, _: Time, input: Input<IgnoredMsg, ()>, _: &mut Outbox<IgnoredMsg, ()>) {
        if matches!(input, Input::Recv { .. }) {
            self.0.send_modify(|it| *it += 1);
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// Admits every token, always as the same player.
struct AdmitAsAda;

impl Authenticator<IgnoredMsg> for AdmitAsAda {
    fn admit(&self, _: &str) -> Result<AuthenticatedClient, Close> {
        Ok(AuthenticatedClient { player: PLAYER, session: 1, name: "Ada".to_owned() })
    }

    fn permits(&self, _: &AuthenticatedClient, _: &IgnoredMsg) -> bool {
        true
    }
}

const PLAYER: u64 = 17;
const HOST: u32 = 5;
const ZONE: u32 = 1;

/// The lobby's answer instead of a session: a status (202 is a place in the queue), and the text of its `Retry-After` header.
pub type LobbyRefusal = (StatusCode, Option<&'static str>);

/// A world of one host and a lobby.
pub struct TestWorld {
    pub context: Arc<HostContext<SilentZone>>,
    /// Address of the lobby, as host and port.
    pub lobby: String,
    received: watch::Receiver<u64>,
    fake_lobby: Arc<FakeLobby>,
    _reactor: ReactorHandle<SilentZone>,
}

#[derive(Default)]
struct FakeLobby {
    session: Mutex<Value>,
    refusals: Mutex<VecDeque<LobbyRefusal>>,
}

impl TestWorld {
    pub async fn start() -> Self {
        let context = Arc::new(HostContext {
            host: HOST,
            router: LinkRouter::new(HOST),
            authenticator: Box::new(AdmitAsAda),
            players_max: 10,
        });
        let identity = Identity::pinned().expect("the loopback works");
        let socket = UdpPacketSocket::open(any_local_port(), false).expect("the loopback works");
        let address = socket.local_address().expect("the loopback works");
        let (mut it, reactor) = Reactor::new(clock::now()).expect("the system has event files");
        let config = Arc::new(endpoint::players_config(&identity).expect("the identity is sound"));
        it.listen_to_players(Box::new(socket), config, context.clone(), 0);
        it.spawn("host", |why| panic!("{why}")).expect("the system has threads");
        let (handle, inbox) = reactor.inbox();
        let (counters, received) = watch::channel(0);
        reactor.run(SilentZone(counters), |_, ()| (), inbox, |_| ());
        context.router.add_zone(ZONE, handle);
        let fake_lobby = Arc::new(FakeLobby::default());
        *fake_lobby.session.lock().expect("no thread panics while it holds the lock") =
            session(address, identity.hash());
        let listener = TcpListener::bind(any_local_port()).await.expect("the loopback works");
        let lobby = listener.local_addr().expect("the loopback works").to_string();
        let routes = axum::Router::new()
            .route("/api/guest", post(async || Json(pass())))
            .route("/api/session", post(answer))
            .with_state(fake_lobby.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.expect("the loopback works") });
        Self { context, lobby, received, fake_lobby, _reactor: reactor }
    }

    /// Makes the lobby refuse the next requests for sessions in these ways.
    pub fn refuse(&self, refusals: impl IntoIterator<Item = LobbyRefusal>) {
        self.fake_lobby.refusals.lock().expect("no thread panics while it holds the lock").extend(refusals);
    }

    /// Waits until the zone has received a message: then the player's end of the connection is served, too.
    pub async fn receives_a_message(&mut self) {
        self.received.wait_for(|&it| 0 < it).await.expect("the zone runs");
    }

    /// Waits until so many players are connected.
    pub async fn connected(&self, count: usize) {
        while self.context.router.count().0 != count {
            tokio::task::yield_now().await;
        }
    }
}

fn any_local_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn pass() -> Value {
    json!({ "pass": "let me in", "player": PLAYER.to_string(), "name": "Ada" })
}

/// A session whose host accepts QUIC; at its WebSocket address nothing listens.
fn session(address: SocketAddr, certificate: [u8; 32]) -> Value {
    let certificate: String = certificate.iter().map(|byte| format!("{byte:02x}")).collect();
    let corners = json!([[-10_000, -10_000], [10_000, -10_000], [10_000, 10_000], [-10_000, 10_000]]);
    let schema = format!("{:016x}", game::schema_hash::<Kosmos>());
    let websocket = "ws://127.0.0.1:1/play";
    json!({
        "session": "1", "player": PLAYER.to_string(), "name": "Ada",
        "world": {
            "game": <Kosmos as game::Game>::NAME, "schema": schema, "range": 60_000,
            "region": corners, "zones": [{ "zone": ZONE, "corners": corners }],
        },
        "hosts": [{
            "host": HOST, "zones": [ZONE], "address": address, "websocket": websocket,
            "certificate": certificate, "token": "a token",
        }],
    })
}

async fn answer(State(fake_lobby): State<Arc<FakeLobby>>) -> (StatusCode, HeaderMap, Json<Value>) {
    let mut headers = HeaderMap::new();
    let Some((status, after)) =
        fake_lobby.refusals.lock().expect("no thread panics while it holds the lock").pop_front()
    else {
        return (
            StatusCode::OK,
            headers,
            Json(fake_lobby.session.lock().expect("no thread panics while it holds the lock").clone()),
        );
    };
    if let Some(after) = after {
        headers.insert("retry-after", after.parse().expect("a header of plain letters"));
    }
    let body = match status {
        StatusCode::ACCEPTED => json!({ "queued": { "place": 2, "waiting": 3, "again_after": 0.5 } }),
        _ => json!({ "error": "not now" }),
    };
    (status, headers, Json(body))
}

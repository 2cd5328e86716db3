//! A host that only listens, and a lobby that says what it is told to.

use axum::extract::{Json, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use kosmos::Kosmos;
use machine::{Input, Machine, Outbox, Time};
use net::cell::{self, Handle};
use net::session::{Guest, House, Keeper};
use net::switchboard::Switchboard;
use net::tls::Identity;
use net::{Close, door, endpoint};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use wire::{DecodeError, Message};

/// Any message; nobody reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anything;

impl Message for Anything {
    fn encode(&self, _: &mut Vec<u8>) {}

    fn decode(_: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}

/// A zone that never answers, but counts what it hears.
pub struct Silence(watch::Sender<u64>);

impl Machine for Silence {
    type Msg = Anything;
    type Command = ();
    type Event = ();

    fn handle(&mut self, _: Time, input: Input<Anything, ()>, _: &mut Outbox<Anything, ()>) {
        if matches!(input, Input::Recv { .. }) {
            self.0.send_modify(|it| *it += 1);
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// Lets everybody in, as the same player.
struct Open;

impl Keeper<Anything> for Open {
    fn admit(&self, _: &str) -> Result<Guest, Close> {
        Ok(Guest { player: PLAYER, session: 1, name: "Ada".to_owned() })
    }

    fn permits(&self, _: &Guest, _: &Anything) -> bool {
        true
    }
}

const PLAYER: u64 = 17;
const HOST: u32 = 5;
const ZONE: u32 = 1;

/// What the lobby says instead of a session: a status, and after how long to ask again.
pub type Refusal = (StatusCode, Option<&'static str>);

/// A world of one host.
pub struct TestWorld {
    pub house: Arc<House<Silence>>,
    /// Where the lobby is.
    pub lobby: String,
    heard: watch::Receiver<u64>,
    desk: Arc<Desk>,
}

#[derive(Default)]
struct Desk {
    session: Mutex<Value>,
    refusals: Mutex<VecDeque<Refusal>>,
}

impl TestWorld {
    pub async fn start() -> Self {
        let house = Arc::new(House {
            host: HOST,
            switchboard: Switchboard::new(HOST),
            keeper: Box::new(Open),
            players_max: 10,
        });
        let (handle, inbox) = Handle::new();
        let (counts, heard) = watch::channel(0);
        cell::spawn_task(Silence(counts), |_, ()| (), inbox);
        house.switchboard.add_zone(ZONE, handle);
        let identity = Identity::pinned().expect("the loopback works");
        let endpoint = endpoint::for_players_at(anywhere(), &identity).expect("the loopback works");
        let address = endpoint.local_addr().expect("the loopback works");
        tokio::spawn(door::accept(endpoint, house.clone()));
        let desk = Arc::new(Desk::default());
        *desk.session.lock().expect("nobody panics with it") = session(address, identity.hash());
        let listener = TcpListener::bind(anywhere()).await.expect("the loopback works");
        let lobby = listener.local_addr().expect("the loopback works").to_string();
        let routes = axum::Router::new()
            .route("/api/guest", post(async || Json(pass())))
            .route("/api/session", post(answer))
            .with_state(desk.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.expect("the loopback works") });
        Self { house, lobby, heard, desk }
    }

    /// The lobby says no so many times, then yes again.
    pub fn refuse(&self, refusals: impl IntoIterator<Item = Refusal>) {
        self.desk.refusals.lock().expect("nobody panics with it").extend(refusals);
    }

    /// Waits until a player has said something: then their end of the line is served, too.
    pub async fn hears(&mut self) {
        self.heard.wait_for(|&it| 0 < it).await.expect("the zone goes on");
    }

    /// Waits until so many players are connected.
    pub async fn connected(&self, count: usize) {
        while self.house.switchboard.count().0 != count {
            tokio::task::yield_now().await;
        }
    }
}

fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn pass() -> Value {
    json!({ "pass": "let me in", "player": PLAYER.to_string(), "name": "Ada" })
}

/// A session whose host speaks QUIC; nobody is where it says that WebSocket is spoken.
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

async fn answer(State(desk): State<Arc<Desk>>) -> (StatusCode, HeaderMap, Json<Value>) {
    let mut headers = HeaderMap::new();
    let Some((status, after)) = desk.refusals.lock().expect("nobody panics with it").pop_front() else {
        return (StatusCode::OK, headers, Json(desk.session.lock().expect("nobody panics with it").clone()));
    };
    if let Some(after) = after {
        headers.insert("retry-after", after.parse().expect("a header of plain letters"));
    }
    (status, headers, Json(json!({ "error": "not now" })))
}

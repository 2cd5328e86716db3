//! A host that echoes, and players to talk to it.

use axum::extract::{ConnectInfo, WebSocketUpgrade};
use machine::{Address, Input, Lane, Machine, Outbox, Time};
use net::cell::{self, End, Handle};
use net::dial::{Dialer, Target};
use net::session::{Guest, House, Keeper};
use net::switchboard::Switchboard;
use net::tls::Identity;
use net::{Close, door, endpoint};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc;
use wire::{DecodeError, Message};

/// Any bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub Vec<u8>);

impl Text {
    pub fn of(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl Message for Text {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes == b"?" { Err(DecodeError::Malformed) } else { Ok(Self(bytes.to_vec())) }
    }
}

/// Says back what it hears. `panic` makes it panic, `flood` makes it send 100 kilobytes to everybody.
#[derive(Default)]
pub struct Echo {
    peers: Vec<Address>,
}

impl Machine for Echo {
    type Msg = Text;
    type Command = (Address, Text);
    type Event = (Address, Text);

    fn handle(
        &mut self,
        _: Time,
        input: Input<Text, (Address, Text)>,
        out: &mut Outbox<Text, (Address, Text)>,
    ) {
        match input {
            Input::Recv { from, msg, .. } if msg.0 == b"flood" => {
                out.raise((from, msg));
                for _ in 0..100 {
                    out.send_many(self.peers.iter().copied(), Lane::Sure, Text(vec![7; 1_000]));
                }
                out.send_many(self.peers.iter().copied(), Lane::Sure, Text::of("over"));
            }
            Input::Recv { msg, .. } if msg.0 == b"panic" => panic!("as you wish"),
            Input::Recv { from, msg, .. } => {
                out.raise((from, msg.clone()));
                out.send(from, Lane::Sure, msg);
            }
            Input::Command((to, msg)) => out.send(to, Lane::Sure, msg),
            Input::LinkUp { peer, .. } => self.peers.push(peer),
            Input::LinkDown { peer, .. } => self.peers.retain(|it| *it != peer),
            Input::Wake => (),
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// A player: what is commanded is sent, what arrives is raised.
#[derive(Default)]
pub struct Ear;

impl Machine for Ear {
    type Msg = Text;
    type Command = (Address, Text);
    type Event = (Address, Text);

    fn handle(
        &mut self,
        _: Time,
        input: Input<Text, (Address, Text)>,
        out: &mut Outbox<Text, (Address, Text)>,
    ) {
        match input {
            Input::Recv { from, msg, .. } => out.raise((from, msg)),
            Input::Command((to, msg)) => out.send(to, Lane::Sure, msg),
            Input::LinkUp { peer, .. } => out.raise((peer, Text::of("up"))),
            Input::LinkDown { peer, .. } => out.raise((peer, Text::of("down"))),
            Input::Wake => (),
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }
}

/// Tokens are `player session`; nothing may be said that begins with `!`.
struct Open;

impl Keeper<Text> for Open {
    fn admit(&self, token: &str) -> Result<Guest, Close> {
        let (player, session) = token.split_once(' ').ok_or(Close::Refused)?;
        let number = |it: &str| it.parse().map_err(|_| Close::Refused);
        Ok(Guest { player: number(player)?, session: number(session)?, name: "guest".to_owned() })
    }

    fn permits(&self, _: &Guest, msg: &Text) -> bool {
        !msg.0.starts_with(b"!")
    }
}

/// A host with one zone.
pub struct TestHost {
    pub house: Arc<House<Echo>>,
    pub quic: Target,
    pub socket: Target,
    pub address: SocketAddr,
    pub ended: mpsc::UnboundedReceiver<End>,
}

pub const ZONE: u32 = 1;

impl TestHost {
    pub async fn start() -> Self {
        let house = Arc::new(House {
            host: 5,
            switchboard: Switchboard::new(5),
            keeper: Box::new(Open),
            players_max: 10,
        });
        let (sender, ended) = mpsc::unbounded_channel();
        let (handle, inbox) = Handle::new();
        cell::spawn_thread("echo", Echo::default(), |_, _| (), inbox, move |end| drop(sender.send(end)))
            .expect("the loopback works");
        house.switchboard.add_zone(ZONE, handle);
        let identity = Identity::pinned().expect("the loopback works");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let endpoint = endpoint::for_players_at(any, &identity).expect("the loopback works");
        let address = endpoint.local_addr().expect("the loopback works");
        tokio::spawn(door::accept(endpoint, house.clone()));
        let listener = tokio::net::TcpListener::bind(any).await.expect("the loopback works");
        let url = format!("ws://{}/play", listener.local_addr().expect("the loopback works"));
        let shared = house.clone();
        let upgrade = move |ConnectInfo(from): ConnectInfo<SocketAddr>, upgrade: WebSocketUpgrade| {
            let serve = move |socket| door::serve_socket(socket, from.ip(), shared);
            std::future::ready(upgrade.on_upgrade(serve))
        };
        let routes = axum::Router::new().route("/play", axum::routing::get(upgrade));
        let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, routes).await.expect("the loopback works") });
        let quic = Target::Quic { address, certificate: identity.hash() };
        Self { house, quic, socket: Target::Socket { url }, address, ended }
    }
}

/// A player with a line to a host.
pub struct TestPlayer {
    pub handle: Handle<Ear>,
    pub heard: mpsc::UnboundedReceiver<(Address, Text)>,
    pub ended: tokio::task::JoinHandle<Close>,
}

impl TestPlayer {
    pub async fn connect(target: &Target, token: &str) -> Result<Self, Close> {
        let line = Dialer::new().expect("the loopback works").dial(target, token).await?;
        let (sender, heard) = mpsc::unbounded_channel();
        let (handle, inbox) = Handle::new();
        cell::spawn_task(Ear, move |_, event| drop(sender.send(event)), inbox);
        let player = handle.clone();
        let ended = tokio::spawn(async move {
            line.serve(&player, &Arc::default(), &mut tokio::sync::watch::channel(0).1).await
        });
        let mut it = Self { handle, heard, ended };
        assert_eq!(it.next().await, "up");
        Ok(it)
    }

    pub fn say(&self, text: &str) {
        self.handle.command((net::address::replica(5, ZONE), Text::of(text)));
    }

    pub async fn next(&mut self) -> String {
        let (_, text) = self.heard.recv().await.expect("the player goes on");
        String::from_utf8_lossy(&text.0).into_owned()
    }
}

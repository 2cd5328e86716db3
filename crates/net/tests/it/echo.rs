//! A host whose zone echoes, and players who connect to it.

use axum::extract::{ConnectInfo, WebSocketUpgrade};
use machine::{Address, Input, Lane, Machine, Outbox, Time};
use net::dial::{Dialer, PlayerEnd, Target};
use net::host_context::{AuthenticatedClient, Authenticator, HostContext};
use net::link_router::LinkRouter;
use net::reactor::socket::{PacketSocket as _, UdpPacketSocket};
use net::reactor::{Reactor, ReactorHandle};
use net::tls::Identity;
use net::worker::{WorkerExit, WorkerHandle};
use net::{Close, clock, endpoint, web_socket};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::mpsc;
use wire::{DecodeError, Message};

/// A message of any bytes but `?`, which fails to decode.
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

/// Echoes every message. `panic` makes it panic, `flood` makes it send 100 kilobytes to every peer.
#[derive(Default)]
pub struct EchoMachine {
    peers: Vec<Address>,
}

impl Machine for EchoMachine {
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

/// A player: sends the messages that it is commanded to, raises those that arrive.
#[derive(Default)]
pub struct ForwardingMachine;

impl Machine for ForwardingMachine {
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

/// Accepts tokens of the form `player session`, and forbids messages that begin with `!`.
struct TokenParser;

impl Authenticator<Text> for TokenParser {
    fn admit(&self, token: &str) -> Result<AuthenticatedClient, Close> {
        let (player, session) = token.split_once(' ').ok_or(Close::Refused)?;
        let number = |it: &str| it.parse().map_err(|_| Close::Refused);
        Ok(AuthenticatedClient {
            player: number(player)?,
            session: number(session)?,
            name: "player".to_owned(),
        })
    }

    fn permits(&self, _: &AuthenticatedClient, msg: &Text) -> bool {
        !msg.0.starts_with(b"!")
    }
}

/// Host 5, without zones.
pub fn test_context<M: Machine<Msg = Text>>() -> Arc<HostContext<M>> {
    context_of(5)
}

/// The host of this number, without zones.
pub fn context_of<M: Machine<Msg = Text>>(host: u32) -> Arc<HostContext<M>> {
    let router = LinkRouter::new(host);
    Arc::new(HostContext { host, router, authenticator: Box::new(TokenParser), players_max: 200 })
}

/// A host with one zone.
pub struct TestHost {
    pub context: Arc<HostContext<EchoMachine>>,
    pub quic: Target,
    pub socket: Target,
    pub address: SocketAddr,
    pub ended: mpsc::UnboundedReceiver<WorkerExit>,
    pub reactor: ReactorHandle<EchoMachine>,
}

pub const ZONE: u32 = 1;

impl TestHost {
    pub async fn start() -> Self {
        let context = test_context::<EchoMachine>();
        let (sender, ended) = mpsc::unbounded_channel();
        let identity = Identity::pinned().expect("the loopback works");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let socket = UdpPacketSocket::open(any, false).expect("the loopback works");
        let address = socket.local_address().expect("the loopback works");
        let (mut it, reactor) = Reactor::new(clock::now()).expect("the system has event files");
        let config = Arc::new(endpoint::players_config(&identity).expect("the identity is sound"));
        it.listen_to_players(Box::new(socket), config, context.clone(), 0);
        it.spawn("host", |why| panic!("{why}")).expect("the system has threads");
        let (handle, inbox) = reactor.inbox();
        reactor.run(EchoMachine::default(), |_, _| (), inbox, move |end| drop(sender.send(end)));
        context.router.add_zone(ZONE, handle);
        let listener = tokio::net::TcpListener::bind(any).await.expect("the loopback works");
        let url = format!("ws://{}/play", listener.local_addr().expect("the loopback works"));
        let shared = context.clone();
        let upgrade = move |ConnectInfo(from): ConnectInfo<SocketAddr>, upgrade: WebSocketUpgrade| {
            let serve = move |socket| web_socket::serve_socket(socket, from.ip(), shared);
            std::future::ready(upgrade.on_upgrade(serve))
        };
        let routes = axum::Router::new().route("/play", axum::routing::get(upgrade));
        let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, routes).await.expect("the loopback works") });
        let quic = Target::Quic { address, certificate: identity.hash() };
        Self { context, quic, socket: Target::Socket { url }, address, ended, reactor }
    }

    /// Starts the zone again, as a supervisor would.
    pub fn start_zone(&self) {
        let (handle, inbox) = self.reactor.inbox();
        self.reactor.run(EchoMachine::default(), |_, _| (), inbox, |_| ());
        self.context.router.add_zone(ZONE, handle);
    }
}

/// A player who is connected to a host.
pub struct TestPlayer {
    pub handle: WorkerHandle<ForwardingMachine>,
    pub heard: mpsc::UnboundedReceiver<(Address, Text)>,
    pub ended: tokio::task::JoinHandle<Close>,
    _dialer: Dialer<ForwardingMachine>,
}

impl TestPlayer {
    pub async fn connect(target: &Target, token: &str) -> Result<Self, Close> {
        let dialer = Dialer::new().expect("the loopback works");
        let (sender, heard) = mpsc::unbounded_channel();
        let handle = dialer.run(ForwardingMachine, move |_, event| drop(sender.send(event)));
        let probe = tokio::sync::watch::channel(0).1;
        let end = PlayerEnd { player: handle.clone(), traffic: Arc::default(), probe };
        let ended = tokio::spawn(dialer.connect(target, token, end).await?.over());
        let mut it = Self { handle, heard, ended, _dialer: dialer };
        assert_eq!(it.next().await, "up");
        Ok(it)
    }

    pub fn say(&self, text: &str) {
        self.handle.command((net::address::replica(5, ZONE), Text::of(text)));
    }

    pub async fn next(&mut self) -> String {
        let (_, text) = self.heard.recv().await.expect("the player runs");
        String::from_utf8_lossy(&text.0).into_owned()
    }
}

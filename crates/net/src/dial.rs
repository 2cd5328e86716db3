//! The player's end of a connection: connects to a host and shows the token.

use crate::close::Close;
use crate::endpoint;
use crate::frame::{self, Assembler, Control, HOST_FRAME_MAX, VERSION};
use crate::pipe::{MessageSink, MessageStream, SocketMessage, write};
use crate::reactor::socket::UdpPacketSocket;
use crate::reactor::{ConnectionKey, DialRequest, Reactor, ReactorHandle};
use crate::send_queue::{SendLimits, SendQueue};
use crate::web_socket::SOCKET_CODES;
use crate::worker::{EventSink, FrameAddressing, Inbound, MachineLink, WorkerHandle};
use crate::{address, clock};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use machine::{Machine, Span};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use wire::Message;

/// The time a host may take to admit a player.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Least time that a probed host has to answer over WebSocket.
const PROBE_TIMEOUT: Duration = Duration::from_millis(250);

/// Age from which on a WebSocket may be probed.
const PROBE_FROM_AGE: Duration = Duration::from_secs(3);

/// Interval between two measurements of the round trip over WebSocket.
const PING_EVERY: Duration = Duration::from_secs(1);
/// Number of pings that may stay unanswered over WebSocket.
const UNANSWERED_MAX: u32 = 3;

/// Address and transport of a host.
#[derive(Clone, Debug)]
pub enum Target {
    /// By QUIC, to a host that shows this certificate.
    Quic {
        /// UDP address of the host.
        address: SocketAddr,
        /// SHA-256 of the certificate that the lobby named.
        certificate: [u8; 32],
    },
    /// By WebSocket, without a pinned certificate.
    Socket {
        /// Address that begins with `ws://`.
        url: String,
    },
}

/// Counters of one player's connections.
#[derive(Debug, Default)]
pub struct TrafficCounters {
    /// Bytes of frames that arrived.
    pub bytes_in: AtomicU64,
    /// UDP bytes that arrived, headers of QUIC included; 0 over WebSocket.
    pub udp_bytes_in: AtomicU64,
    /// UDP packets that arrived; over WebSocket, messages.
    pub packets_in: AtomicU64,
    /// UDP bytes that left; 0 over WebSocket.
    pub udp_bytes_out: AtomicU64,
    /// UDP packets that left; 0 over WebSocket.
    pub packets_out: AtomicU64,
    /// The last round trip, in microseconds.
    pub ping: AtomicU64,
    /// `Latest` messages that the host did not send because we were slow.
    pub lost: AtomicU64,
}

/// Connects players to hosts, and runs their machines, all on one reactor. Cheap to clone; many players may share one.
pub struct Dialer<M: Machine> {
    reactor: ReactorHandle<M>,
}

impl<M: Machine> Clone for Dialer<M> {
    fn clone(&self) -> Self {
        Self { reactor: self.reactor.clone() }
    }
}

impl<M: Machine> std::fmt::Debug for Dialer<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dialer")
    }
}

/// What a player brings to a connection.
pub struct PlayerEnd<M: Machine> {
    /// Worker of the player's machine.
    pub player: WorkerHandle<M>,
    /// Counters of the player's connections.
    pub traffic: Arc<TrafficCounters>,
    /// Whenever this changes, the host is probed and must answer at once.
    pub probe: watch::Receiver<u64>,
}

impl<M: Machine> Clone for PlayerEnd<M> {
    fn clone(&self) -> Self {
        Self { player: self.player.clone(), traffic: self.traffic.clone(), probe: self.probe.clone() }
    }
}

/// A connection on which the host accepted the token: the player's machine is linked to the zones of the host. Dropping it
/// ends the connection.
pub struct PlayerConnection<M: Machine> {
    ended: oneshot::Receiver<Close>,
    probe: watch::Receiver<u64>,
    guard: ConnectionGuard<M>,
}

/// Ends a connection when it is dropped.
enum ConnectionGuard<M: Machine> {
    Quic(ReactorHandle<M>, ConnectionKey),
    Socket(tokio::task::JoinHandle<()>),
}

impl<M: Machine> Drop for ConnectionGuard<M> {
    fn drop(&mut self) {
        match self {
            Self::Quic(reactor, key) => reactor.end(*key),
            Self::Socket(task) => task.abort(),
        }
    }
}

impl<M: Machine + Send + 'static> Dialer<M>
where
    M::Msg: Message + Send,
    M::Command: Send,
    M::Event: Send,
{
    /// A dialer with a socket and a reactor of its own.
    pub fn new() -> Result<Self, endpoint::EndpointError> {
        let any = SocketAddr::from(([0, 0, 0, 0], 0));
        let fail = |error| endpoint::EndpointError::Socket { address: any, error };
        let (mut it, reactor) = Reactor::new(clock::now()).map_err(fail)?;
        it.dial_from(Box::new(UdpPacketSocket::open(any, false)?));
        it.spawn("players", |why| tracing::error!(why, "the players' connections are lost")).map_err(fail)?;
        Ok(Self { reactor })
    }

    /// A dialer on a reactor that has a port for it: see [`Reactor::dial_from`].
    pub const fn on(reactor: ReactorHandle<M>) -> Self {
        Self { reactor }
    }

    /// Runs a player's machine on the dialer's reactor.
    pub fn run(&self, machine: M, sink: impl EventSink<M> + 'static) -> WorkerHandle<M> {
        let (handle, inbox) = self.reactor.inbox();
        self.reactor.run(machine, sink, inbox, |_| ());
        handle
    }

    /// Connects a player to a host, and shows the token.
    pub async fn connect(
        &self,
        target: &Target,
        token: &str,
        end: PlayerEnd<M>,
    ) -> Result<PlayerConnection<M>, Close> {
        match target {
            Target::Quic { address, certificate } => {
                self.connect_quic(*address, *certificate, token, end).await
            }
            Target::Socket { url } => {
                timeout(DIAL_TIMEOUT, connect_socket(url, token, end)).await.unwrap_or(Err(Close::Gone))
            }
        }
    }

    async fn connect_quic(
        &self,
        address: SocketAddr,
        certificate: [u8; 32],
        token: &str,
        end: PlayerEnd<M>,
    ) -> Result<PlayerConnection<M>, Close> {
        let config = endpoint::pinned(certificate).map_err(|_| Close::Refused)?;
        let PlayerEnd { player, traffic, probe } = end;
        let (reply, accepted) = oneshot::channel();
        let (over, ended) = oneshot::channel();
        let request = DialRequest { token: token.to_owned(), player, traffic, reply, ended: over };
        let Some(key) = self.reactor.dial(address, config, request).await else { return Err(Close::Gone) };
        // From here on the connection ends if this future is dropped.
        let guard = ConnectionGuard::Quic(self.reactor.clone(), key);
        accepted.await.unwrap_or(Err(Close::Gone))?;
        Ok(PlayerConnection { ended, probe, guard })
    }

    /// Ends all connections of this dialer; returns when the hosts know.
    pub async fn close(&self) {
        self.reactor.close(Close::Gone).await;
    }
}

impl<M: Machine> PlayerConnection<M> {
    /// Waits until the connection is over.
    pub async fn over(mut self) -> Close {
        loop {
            tokio::select! {
                why = &mut self.ended => return why.unwrap_or(Close::Gone),
                changed = self.probe.changed() => match &self.guard {
                    ConnectionGuard::Quic(reactor, key) if changed.is_ok() => reactor.probe(*key),
                    // The task of a WebSocket watches for itself. And without a sender there are no more probes.
                    _ => return self.ended.await.unwrap_or(Close::Gone),
                },
            }
        }
    }
}

// WebSocket.

async fn connect_socket<M: Machine + 'static>(
    url: &str,
    token: &str,
    end: PlayerEnd<M>,
) -> Result<PlayerConnection<M>, Close>
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let (mut sink, mut stream) = open_socket(url).await?;
    let hello = frame::control(&Control::Hello { version: VERSION, token: token.to_owned() });
    sink.send(SocketMessage::Frames(hello)).await?;
    let mut assembler = Assembler::new(HOST_FRAME_MAX);
    let body = loop {
        if let Some(body) = assembler.body().map_err(|_| Close::Protocol)? {
            break body;
        }
        assembler.push(&stream.next().await.unwrap_or(Err(Close::Gone))?);
    };
    let (host, zones) = match frame::open(&body).and_then(|it| frame::open_control(it.1)) {
        Ok(Control::Welcome { host, zones }) => (host, zones),
        _ => return Err(Close::Protocol),
    };
    let queue = SendQueue::new(SendLimits::FROM_PLAYER);
    let links = ConnectionLinks::begin(end.player.clone(), host, zones, queue);
    let (over, ended) = oneshot::channel();
    let probe = end.probe.clone();
    let task = tokio::spawn(async move {
        let why = serve_socket(links, sink, stream, assembler, end).await;
        let _ = over.send(why); // The session may be over.
    });
    Ok(PlayerConnection { ended, probe, guard: ConnectionGuard::Socket(task) })
}

/// Carries frames between a host and the player's machine until the connection ends.
async fn serve_socket<M: Machine>(
    links: ConnectionLinks<M>,
    sink: MessageSink,
    stream: MessageStream,
    assembler: Assembler,
    end: PlayerEnd<M>,
) -> Close
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let queue = links.queue.clone();
    let writer = tokio::spawn(write(sink, queue.clone()));
    let arrivals = AtomicU64::new(0);
    let mut probe = end.probe;
    let why = tokio::select! {
        why = read_socket(&links, &end.traffic, &arrivals, stream, assembler) => why,
        () = until_probe_fails(&queue, &arrivals, &mut probe) => Close::Gone,
        why = queue.until_closed() => why,
        () = until_pings_fail(&queue, &arrivals) => Close::Gone,
    };
    queue.close(why);
    // The machine learns of the end now, not only after the last close message is sent.
    drop(links);
    drop(writer.await);
    why
}

async fn open_socket(url: &str) -> Result<(MessageSink, MessageStream), Close> {
    let authority = url.strip_prefix("ws://").and_then(|it| it.split('/').next()).ok_or(Close::Refused)?;
    let stream = TcpStream::connect(authority).await.map_err(|_| Close::Gone)?;
    drop(stream.set_nodelay(true)); // Without it only latency is worse.
    let (socket, _) = tokio_tungstenite::client_async(url, stream).await.map_err(|_| Close::Gone)?;
    let (sink, stream) = socket.split();
    let sink: MessageSink = Box::pin(
        sink.with(|it| std::future::ready(Ok::<_, tungstenite::Error>(outgoing(it))))
            .sink_map_err(|_| Close::Gone),
    );
    let stream: MessageStream = Box::pin(stream.filter_map(|it| {
        std::future::ready(match it {
            Ok(tungstenite::Message::Binary(bytes)) => Some(Ok(bytes)),
            Ok(tungstenite::Message::Close(Some(it))) => Some(Err(why_closed(it.code))),
            Ok(tungstenite::Message::Close(None)) | Err(_) => Some(Err(Close::Gone)),
            Ok(_) => None, // The library answers pings by itself.
        })
    }));
    Ok((sink, stream))
}

fn outgoing(it: SocketMessage) -> tungstenite::Message {
    match it {
        SocketMessage::Frames(bytes) => tungstenite::Message::Binary(bytes),
        SocketMessage::End(_) => tungstenite::Message::Close(None),
    }
}

// Codes below 4000 are WebSocket's own; they become 0, which means gone.
fn why_closed(code: CloseCode) -> Close {
    Close::of_code(u64::from(u16::from(code).saturating_sub(SOCKET_CODES)))
}

/// The links over a WebSocket. Dropping this takes them down and closes the send queue, also if the task is dropped in
/// the middle: otherwise the writer task would wait for ever at the queue and keep the connection alive.
struct ConnectionLinks<M: Machine> {
    player: WorkerHandle<M>,
    host: u32,
    zones: Vec<u32>,
    queue: SendQueue,
}

impl<M: Machine> ConnectionLinks<M> {
    fn begin(player: WorkerHandle<M>, host: u32, zones: Vec<u32>, queue: SendQueue) -> Self {
        for &zone in &zones {
            let link = MachineLink::Remote { queue: queue.clone(), addressing: FrameAddressing::Zone(zone) };
            player.send(Inbound::Up(address::replica(host, zone), link));
        }
        Self { player, host, zones, queue }
    }
}

impl<M: Machine> Drop for ConnectionLinks<M> {
    fn drop(&mut self) {
        self.queue.close(Close::Gone);
        for &zone in &self.zones {
            self.player.send(Inbound::Down(address::replica(self.host, zone), self.queue.id()));
        }
    }
}

/// Returns when a probed host does not answer. A young connection is not probed: when a host is slow because it is
/// overloaded, connecting again and again would only add to the load.
async fn until_probe_fails(queue: &SendQueue, arrivals: &AtomicU64, probe: &mut watch::Receiver<u64>) {
    tokio::time::sleep(PROBE_FROM_AGE).await;
    // Silences before this age do not count.
    probe.mark_unchanged();
    loop {
        if probe.changed().await.is_err() {
            // The sender of probes is gone; that must not end the connection.
            return std::future::pending().await;
        }
        let before = arrivals.load(Ordering::Relaxed);
        ping(queue);
        tokio::time::sleep(PROBE_TIMEOUT).await;
        if arrivals.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

/// Pings the host every second, which also measures the round trip. Returns if too many pings stay unanswered.
async fn until_pings_fail(queue: &SendQueue, arrivals: &AtomicU64) {
    let (mut known, mut unanswered) = (0, 0);
    loop {
        tokio::time::sleep(PING_EVERY).await;
        let before = std::mem::replace(&mut known, arrivals.load(Ordering::Relaxed));
        unanswered = if known == before { unanswered + 1 } else { 0 };
        if UNANSWERED_MAX < unanswered {
            return;
        }
        ping(queue);
    }
}

fn ping(queue: &SendQueue) {
    queue.sure(frame::control(&Control::Ping(clock::now().as_micros())));
    queue.wake();
}

async fn read_socket<M: Machine>(
    links: &ConnectionLinks<M>,
    traffic: &TrafficCounters,
    arrivals: &AtomicU64,
    mut stream: MessageStream,
    mut assembler: Assembler,
) -> Close
where
    M::Msg: Message,
{
    // Frames that came with the welcome.
    while let Ok(Some(body)) = assembler.body() {
        take(links, traffic, &body);
    }
    loop {
        let bytes = match stream.next().await.unwrap_or(Err(Close::Gone)) {
            Ok(bytes) => bytes,
            Err(why) => return why,
        };
        arrivals.fetch_add(1, Ordering::Relaxed);
        traffic.bytes_in.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        traffic.packets_in.fetch_add(1, Ordering::Relaxed);
        let Ok(bodies) = frame::bodies(&bytes, HOST_FRAME_MAX) else { return Close::Protocol };
        bodies.iter().for_each(|body| take(links, traffic, body));
    }
}

fn take<M: Machine>(links: &ConnectionLinks<M>, traffic: &TrafficCounters, body: &Bytes)
where
    M::Msg: Message,
{
    let Ok((zone, message)) = frame::open(body) else { return };
    if zone == frame::CONTROL {
        match frame::open_control(message) {
            Ok(Control::Pong(sent)) => {
                let trip = Span::from_micros(clock::now().as_micros().saturating_sub(sent));
                traffic.ping.store(trip.as_micros(), Ordering::Relaxed);
            }
            Ok(Control::Ping(number)) => {
                links.queue.sure(frame::control(&Control::Pong(number)));
                links.queue.wake();
            }
            Ok(Control::Lagging { lost }) => traffic.lost.store(lost, Ordering::Relaxed),
            _ => (),
        }
    } else if let Ok(msg) = M::Msg::decode(message) {
        let from = address::replica(links.host, zone);
        links.player.send(Inbound::Recv(from, links.queue.id(), msg, None));
    }
}

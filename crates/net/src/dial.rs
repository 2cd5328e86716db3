//! A player's end: connects to a host and shows the token.

use crate::cell::{Handle, Inbound, Link, Naming};
use crate::close::Close;
use crate::door::SOCKET_CODES;
use crate::endpoint;
use crate::frame::{self, Assembler, Control, HOST_FRAME_MAX, VERSION};
use crate::mailbox::{Mailbox, Pace};
use crate::pipe::{Arrival, MessageSink, MessageStream, Receiver, Sender, SocketMessage, why_ended};
use crate::session::write;
use crate::{address, clock};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use machine::{Machine, Span};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use wire::Message;

/// How long a host may take to let a player in.
const WITHIN: Duration = Duration::from_secs(5);

/// A host that is doubted must answer within this time, or four times what it usually takes.
const SHOW_WITHIN: Duration = Duration::from_millis(250);

/// A line is not doubted for so long after it was dialled.
const UNDOUBTED: Duration = Duration::from_secs(3);

/// How often the way is measured,
const PING_EVERY: Duration = Duration::from_secs(1);
/// and how many questions about it may stay unanswered.
const UNANSWERED_MAX: u32 = 3;

/// Where to connect, and how.
#[derive(Clone, Debug)]
pub enum Target {
    /// By QUIC, to a host that shows this certificate.
    Quic {
        /// Where.
        address: SocketAddr,
        /// Its certificate's hash.
        certificate: [u8; 32],
    },
    /// By WebSocket.
    Socket {
        /// Where.
        url: String,
    },
}

/// What passed over a connection.
#[derive(Debug, Default)]
pub struct Traffic {
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

/// Connects players to hosts. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Dialer {
    endpoint: quinn::Endpoint,
}

/// A connection that was let in.
pub struct Line {
    /// Which host answered.
    pub host: u32,
    /// Its zones.
    pub zones: Vec<u32>,
    /// Where frames for it wait.
    pub mailbox: Mailbox,
    sender: Sender,
    receiver: Receiver,
    assembler: Assembler,
}

impl Dialer {
    /// A dialer with a socket of its own.
    pub fn new() -> Result<Self, endpoint::EndpointError> {
        Ok(Self { endpoint: endpoint::as_players()? })
    }

    /// Connects and shows the token.
    pub async fn dial(&self, target: &Target, token: &str) -> Result<Line, Close> {
        let dialled = async {
            let (sender, receiver) = match target {
                Target::Quic { address, certificate } => self.quic(*address, *certificate).await?,
                Target::Socket { url } => socket(url).await?,
            };
            enter(sender, receiver, token).await
        };
        timeout(WITHIN, dialled).await.unwrap_or(Err(Close::Gone))
    }

    async fn quic(&self, address: SocketAddr, certificate: [u8; 32]) -> Result<(Sender, Receiver), Close> {
        let config = endpoint::pinned(certificate).map_err(|_| Close::Refused)?;
        let connecting = self.endpoint.connect_with(config, address, "localhost").map_err(|_| Close::Gone)?;
        let connection = connecting.await.map_err(|it| why_ended(Some(it)))?;
        let (send, receive) = connection.open_bi().await.map_err(|it| why_ended(Some(it)))?;
        Ok((Sender::Quic(connection.clone(), send), Receiver::Quic(connection, receive)))
    }

    /// Ends all connections.
    pub async fn close(&self) {
        self.endpoint.close(Close::Gone.code().into(), b"goodbye");
        self.endpoint.wait_idle().await;
    }
}

async fn socket(url: &str) -> Result<(Sender, Receiver), Close> {
    let authority = url.strip_prefix("ws://").and_then(|it| it.split('/').next()).ok_or(Close::Refused)?;
    let stream = TcpStream::connect(authority).await.map_err(|_| Close::Gone)?;
    drop(stream.set_nodelay(true));
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
            Ok(_) => None,
        })
    }));
    Ok((Sender::Socket(sink), Receiver::Socket(stream)))
}

fn outgoing(it: SocketMessage) -> tungstenite::Message {
    match it {
        SocketMessage::Frames(bytes) => tungstenite::Message::Binary(bytes),
        SocketMessage::End(_) => tungstenite::Message::Close(None),
    }
}

fn why_closed(code: CloseCode) -> Close {
    Close::of_code(u64::from(u16::from(code).saturating_sub(SOCKET_CODES)))
}

async fn enter(mut sender: Sender, mut receiver: Receiver, token: &str) -> Result<Line, Close> {
    let hello = frame::control(&Control::Hello { version: VERSION, token: token.to_owned() });
    sender.send(crate::mailbox::Batch { sure: vec![hello], ..Default::default() }).await?;
    let mut assembler = Assembler::new(HOST_FRAME_MAX);
    loop {
        if let Some(body) = assembler.body().map_err(|_| Close::Protocol)? {
            return match frame::open(&body).and_then(|it| frame::open_control(it.1)) {
                Ok(Control::Welcome { host, zones }) => {
                    let mailbox = Mailbox::new(Pace { tick: Duration::ZERO, ..Pace::PLAYERS });
                    Ok(Line { host, zones, mailbox, sender, receiver, assembler })
                }
                _ => Err(Close::Protocol),
            };
        }
        match receiver.next().await? {
            Arrival::Whole(bytes) if matches!(receiver, Receiver::Socket(_)) => assembler.push(&bytes),
            Arrival::Whole(_) => (),
            Arrival::Stream(bytes) => assembler.push(&bytes),
        }
    }
}

impl Line {
    /// Links the player's machine to the zones of this host until the connection ends; says why it did. Whenever
    /// `doubt` changes, the host must show at once that it is still there.
    pub async fn serve<M: Machine>(
        self,
        player: &Handle<M>,
        traffic: &Arc<Traffic>,
        doubt: &mut watch::Receiver<u64>,
    ) -> Close
    where
        M::Msg: Message + Send,
        M::Command: Send,
    {
        let Self { host, zones, mailbox, sender, mut receiver, mut assembler } = self;
        let connection = match &sender {
            Sender::Quic(connection, _) => Some(connection.clone()),
            _ => None,
        };
        let served = Served::begin(player, host, zones, &mailbox);
        let writer = tokio::spawn(write(sender, mailbox.clone()));
        let heard = AtomicU64::new(0);
        let why = tokio::select! {
            why = read(host, &mailbox, player, traffic, &heard, &mut receiver, &mut assembler) => why,
            () = silent(&mailbox, &heard, connection.as_ref(), doubt) => Close::Gone,
            why = mailbox.until_closed() => why,
            () = measure(&mailbox, traffic, &heard, connection.as_ref()) => Close::Gone,
        };
        mailbox.close(why);
        drop(served);
        drop(writer.await);
        why
    }
}

/// The links over a line that is served. However that ends, also if whoever serves it is dropped in the middle, they go
/// down and the mailbox is closed: else whoever writes would wait at it for ever and keep the connection alive.
struct Served<'a, M: Machine> {
    player: &'a Handle<M>,
    host: u32,
    zones: Vec<u32>,
    mailbox: &'a Mailbox,
}

impl<'a, M: Machine> Served<'a, M> {
    fn begin(player: &'a Handle<M>, host: u32, zones: Vec<u32>, mailbox: &'a Mailbox) -> Self {
        for &zone in &zones {
            let link = Link::Far { mailbox: mailbox.clone(), naming: Naming::Zone(zone) };
            player.say(Inbound::Up(address::replica(host, zone), link));
        }
        Self { player, host, zones, mailbox }
    }
}

impl<M: Machine> Drop for Served<'_, M> {
    fn drop(&mut self) {
        self.mailbox.close(Close::Gone);
        for &zone in &self.zones {
            self.player.say(Inbound::Down(address::replica(self.host, zone), self.mailbox.id()));
        }
    }
}

/// Returns when a doubt turns out to be right. A young line is not doubted: when everything is slow because there is too
/// much to do, dialling again and again would only add to it.
async fn silent(
    mailbox: &Mailbox,
    heard: &AtomicU64,
    connection: Option<&quinn::Connection>,
    doubt: &mut watch::Receiver<u64>,
) {
    tokio::time::sleep(UNDOUBTED).await;
    doubt.mark_unchanged();
    loop {
        if doubt.changed().await.is_err() {
            return std::future::pending().await;
        }
        let before = heard.load(Ordering::Relaxed);
        mailbox.sure(frame::control(&Control::Ping(clock::now().as_micros())));
        mailbox.ring();
        let way = connection.map_or(Duration::ZERO, quinn::Connection::rtt);
        tokio::time::sleep(SHOW_WITHIN.max(4 * way)).await;
        if heard.load(Ordering::Relaxed) == before {
            return;
        }
    }
}

/// Keeps count of packets, and knows how long the way is. QUIC measures it by itself, and notices when it ends; over
/// WebSocket somebody must ask. Returns if nobody answers.
async fn measure(
    mailbox: &Mailbox,
    traffic: &Traffic,
    heard: &AtomicU64,
    connection: Option<&quinn::Connection>,
) {
    let (mut passed, mut known, mut unanswered) = (quinn::ConnectionStats::default(), 0, 0);
    loop {
        tokio::time::sleep(PING_EVERY).await;
        if let Some(connection) = connection {
            let before = std::mem::replace(&mut passed, connection.stats());
            let count =
                |total: &AtomicU64, now: u64, before: u64| total.fetch_add(now - before, Ordering::Relaxed);
            count(&traffic.packets_in, passed.udp_rx.datagrams, before.udp_rx.datagrams);
            count(&traffic.udp_bytes_in, passed.udp_rx.bytes, before.udp_rx.bytes);
            count(&traffic.packets_out, passed.udp_tx.datagrams, before.udp_tx.datagrams);
            count(&traffic.udp_bytes_out, passed.udp_tx.bytes, before.udp_tx.bytes);
            traffic.ping.store(connection.rtt().as_micros() as u64, Ordering::Relaxed);
            continue;
        }
        let before = std::mem::replace(&mut known, heard.load(Ordering::Relaxed));
        unanswered = if known == before { unanswered + 1 } else { 0 };
        if UNANSWERED_MAX < unanswered {
            return;
        }
        mailbox.sure(frame::control(&Control::Ping(clock::now().as_micros())));
        mailbox.ring();
    }
}

async fn read<M: Machine>(
    host: u32,
    mailbox: &Mailbox,
    player: &Handle<M>,
    traffic: &Traffic,
    heard: &AtomicU64,
    receiver: &mut Receiver,
    assembler: &mut Assembler,
) -> Close
where
    M::Msg: Message,
{
    let take = |body: Bytes| take(host, mailbox, player, traffic, &body);
    loop {
        loop {
            match assembler.body() {
                Ok(Some(body)) => take(body),
                Ok(None) => break,
                Err(_) => return Close::Protocol,
            }
        }
        let arrival = match receiver.next().await {
            Ok(arrival) => arrival,
            Err(why) => return why,
        };
        heard.fetch_add(1, Ordering::Relaxed);
        match arrival {
            Arrival::Stream(bytes) => {
                traffic.bytes_in.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                assembler.push(&bytes);
            }
            Arrival::Whole(bytes) => {
                traffic.bytes_in.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                if matches!(receiver, Receiver::Socket(_)) {
                    traffic.packets_in.fetch_add(1, Ordering::Relaxed);
                }
                let Ok(bodies) = frame::bodies(&bytes, HOST_FRAME_MAX) else { return Close::Protocol };
                bodies.into_iter().for_each(take);
            }
        }
    }
}

fn take<M: Machine>(host: u32, mailbox: &Mailbox, player: &Handle<M>, traffic: &Traffic, body: &Bytes)
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
                mailbox.sure(frame::control(&Control::Pong(number)));
                mailbox.ring();
            }
            Ok(Control::Lagging { lost }) => traffic.lost.store(lost, Ordering::Relaxed),
            _ => (),
        }
    } else if let Ok(msg) = M::Msg::decode(message) {
        player.say(Inbound::Recv(address::replica(host, zone), mailbox.id(), msg, None));
    }
}

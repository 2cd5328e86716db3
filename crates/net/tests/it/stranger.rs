//! A client that speaks QUIC by hand, on a simulated network: it goes as far as a test tells it, and no further.

use crate::network::{TestNetwork, TestSocket};
use bytes::{Bytes, BytesMut};
use machine::Time;
use net::frame::{self, Control};
use net::reactor::socket::PacketSocket as _;
use net::tls;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    StreamId, TransportConfig,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use web_transport_proto::{Frame, Settings, VarInt};

/// How far a stranger goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// Sends first packets, and reads nothing that comes back.
    Deaf,
    /// Completes the handshake of our own protocol, and opens no stream.
    Silent,
    /// Sends a part of a token.
    HalfToken,
    /// Completes the handshake of HTTP/3, and asks for no session.
    Settings,
    /// Begins a WebTransport session, and opens no stream in it.
    Session,
    /// Opens a stream in a session, and sends a part of a token.
    SessionHalfToken,
    /// Sends datagrams as fast as it can.
    Datagrams,
    /// Opens streams of HTTP/3, and ends each without a byte.
    EmptyStreams,
    /// Begins a WebTransport session, and sends capsules that mean nothing, without end.
    Capsules,
    /// Speaks the protocol between hosts, reads nothing, and sends only first packets.
    DeafHost,
    /// Speaks the protocol between hosts, and has no certificate.
    NoCertificate,
}

impl Conduct {
    const fn alpn(self) -> &'static str {
        match self {
            Self::Deaf | Self::Silent | Self::HalfToken | Self::Datagrams => net::endpoint::ALPN_PLAYERS,
            Self::DeafHost | Self::NoCertificate => net::endpoint::ALPN_MESH,
            _ => net::endpoint::ALPN_WEB,
        }
    }

    const fn is_deaf(self) -> bool {
        matches!(self, Self::Deaf | Self::DeafHost)
    }
}

/// A client that speaks QUIC by hand.
pub struct Stranger {
    conduct: Conduct,
    socket: TestSocket,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    quic: Connection,
    base: Instant,
    is_connected: bool,
    is_closed: bool,
    /// The stream of a session's capsules.
    session: Option<StreamId>,
    buffer: Vec<u8>,
}

impl Stranger {
    /// Begins a handshake with the host that has this certificate.
    pub fn connect(
        network: &TestNetwork,
        from: SocketAddr,
        to: SocketAddr,
        certificate: [u8; 32],
        conduct: Conduct,
    ) -> Self {
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
        let tls = tls::pinning(certificate, conduct.alpn()).expect("ring has the suites");
        let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("TLS 1.3")));
        let mut transport = TransportConfig::default();
        transport.keep_alive_interval(Some(Duration::from_millis(200)));
        config.transport_config(Arc::new(transport));
        let base = Instant::now();
        let (handle, quic) = endpoint.connect(base, config, to, "localhost").expect("the address is sound");
        let (socket, buffer) = (network.socket(from), Vec::new());
        let (is_connected, is_closed, session) = (false, false, None);
        Self { conduct, socket, endpoint, handle, quic, base, is_connected, is_closed, session, buffer }
    }

    /// Receives, acts and sends at this time.
    pub fn step(&mut self, now: Time) {
        let instant = self.base + Duration::from_micros(now.since(Time::ZERO).as_micros());
        self.receive(instant);
        if self.quic.poll_timeout().is_some_and(|it| it <= instant) {
            self.quic.handle_timeout(instant);
        }
        while let Some(event) = self.quic.poll() {
            match event {
                Event::Connected => {
                    self.is_connected = true;
                    self.begin();
                }
                Event::ConnectionLost { .. } => self.is_closed = true,
                _ => (),
            }
        }
        if self.is_connected && !self.is_closed {
            self.go_on();
        }
        while let Some(event) = self.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.quic.handle_event(event);
            }
        }
        self.buffer.clear();
        while let Some(transmit) = self.quic.poll_transmit(instant, 1, &mut self.buffer) {
            self.socket.send(&transmit, &self.buffer[..transmit.size]).expect("the network takes all");
            self.buffer.clear();
        }
    }

    /// Returns whether the handshake was complete once.
    pub const fn is_connected(&self) -> bool {
        self.is_connected
    }

    /// Returns whether the connection is over.
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    fn receive(&mut self, instant: Instant) {
        let mut packets = Vec::new();
        self.socket.receive(&mut |it| packets.push(it)).expect("the network works");
        if self.conduct.is_deaf() {
            return;
        }
        for packet in packets {
            self.buffer.clear();
            let event =
                self.endpoint.handle(instant, packet.from, None, None, packet.bytes, &mut self.buffer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.quic.handle_event(event);
            }
        }
    }

    fn begin(&mut self) {
        match self.conduct {
            Conduct::HalfToken => _ = self.open(Dir::Bi, &half_token()),
            Conduct::Settings => self.send_settings(),
            Conduct::Session => _ = self.begin_session(),
            Conduct::Capsules => self.session = Some(self.begin_session()),
            Conduct::SessionHalfToken => {
                let session = self.begin_session();
                let mut bytes = BytesMut::new();
                Frame::WEBTRANSPORT.encode(&mut bytes);
                VarInt::try_from(u64::from(session)).expect("streams have such numbers").encode(&mut bytes);
                bytes.extend_from_slice(&half_token());
                self.open(Dir::Bi, &bytes);
            }
            _ => (),
        }
    }

    fn go_on(&mut self) {
        if let Some(session) = self.session {
            // A capsule of an unknown kind, without content.
            while self.quic.send_stream(session).write(&[0x3f, 0].repeat(500)).is_ok() {}
        }
        match self.conduct {
            Conduct::Datagrams => {
                let datagram = Bytes::from_static(&[7; 1_000]);
                while self.quic.datagrams().send(datagram.clone(), false).is_ok() {}
            }
            Conduct::EmptyStreams => {
                while let Some(stream) = self.quic.streams().open(Dir::Uni) {
                    self.quic.send_stream(stream).finish().expect("it is open");
                }
            }
            _ => (),
        }
    }

    fn send_settings(&mut self) {
        self.open(Dir::Uni, &settings());
    }

    fn begin_session(&mut self) -> StreamId {
        self.send_settings();
        self.open(Dir::Bi, &session_request())
    }

    fn open(&mut self, dir: Dir, bytes: &[u8]) -> StreamId {
        let stream = self.quic.streams().open(dir).expect("the host allows a few streams");
        let written = self.quic.send_stream(stream).write(bytes).expect("it is open");
        assert_eq!(written, bytes.len());
        stream
    }
}

/// The settings of HTTP/3 that a browser sends, on a stream of their own.
pub fn settings() -> BytesMut {
    let (mut settings, mut bytes) = (Settings::default(), BytesMut::new());
    settings.enable_webtransport(1);
    settings.encode(&mut bytes);
    bytes
}

/// The request that begins a WebTransport session: a HEADERS frame whose fields are literals of QPACK (RFC 9204, 4.5.6).
pub fn session_request() -> Vec<u8> {
    let mut fields = vec![0, 0]; // No entries of a dynamic table.
    for (name, value) in [
        (":method", "CONNECT"),
        (":scheme", "https"),
        (":authority", "localhost"),
        (":path", "/play"),
        (":protocol", "webtransport"),
    ] {
        // A length of three bits; from 7 on the rest follows.
        match name.len() {
            length @ ..7 => fields.push(0x20 | length as u8),
            length => fields.extend([0x27, length as u8 - 7]),
        }
        fields.extend(name.as_bytes());
        fields.push(value.len() as u8);
        fields.extend(value.as_bytes());
    }
    let mut request = vec![1, 0x40, fields.len() as u8]; // The length as a varint of two bytes.
    request.extend(fields);
    request
}

/// The first half of a greeting with a token.
fn half_token() -> Bytes {
    let hello = frame::control(&Control::Hello { version: frame::VERSION, token: "1 1".repeat(40) });
    hello.slice(..hello.len() / 2)
}

//! Clients that complete a handshake, keep their connection alive, and never show a token: browsers with a WebTransport session that
//! opens no stream, and others that stop earlier or later. Each must be disconnected in the end.

use super::unauthenticated::{connect, ending, endpoint, hello};
use super::{AttackRun, ExpectedOutcome, GONE};
use client::HostInfo;
use net::endpoint::{ALPN_PLAYERS, ALPN_WEB};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, RecvStream, SendStream, TransportConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Connections of each kind that are opened at once.
const AT_ONCE: usize = 25;

/// Interval at which a client keeps its connection alive: less than any time that a host gives it.
const ALIVE_EVERY: Duration = Duration::from_millis(300);

/// How far a client goes: name of the attack, and its protocol.
#[derive(Clone, Copy)]
enum Progress {
    /// It completes the handshake.
    Handshake,
    /// It sends the settings of HTTP/3, and asks for nothing.
    Settings,
    /// It begins a session, and opens no stream in it.
    Session,
    /// It opens a stream in a session, and sends half a token.
    HalfToken,
}

const ALL: [Progress; 4] = [Progress::Handshake, Progress::Settings, Progress::Session, Progress::HalfToken];

impl Progress {
    const fn attack(self) -> &'static str {
        match self {
            Self::Handshake => "a connection kept alive",
            Self::Settings => "HTTP/3 without a request",
            Self::Session => "a WebTransport session without a stream",
            Self::HalfToken => "a WebTransport session with half a token",
        }
    }

    const fn alpn(self) -> &'static str {
        match self {
            Self::Handshake => ALPN_PLAYERS,
            _ => ALPN_WEB,
        }
    }
}

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    for (number, progress) in ALL.into_iter().enumerate() {
        let it = run.clone();
        tasks.spawn(async move {
            if let Err(error) = stay(&it, number as u8, progress).await {
                it.unexpected(format!("browsers: {error:#}"));
            }
        });
    }
}

/// Opens connections, and waits until all of them are closed.
async fn stay(run: &AttackRun, number: u8, progress: Progress) -> anyhow::Result<()> {
    let (endpoint, mut rng, attack) = (endpoint(number)?, run.rng(), progress.attack());
    while !run.is_over() {
        let mut opened = Vec::new();
        for _ in 0..AT_ONCE {
            let host = run.host(&mut rng);
            run.sent(attack, 1);
            if let Some(connection) = connect(&endpoint, host, &config(host, progress)?).await {
                let streams = advance(&connection, progress).await;
                opened.push((connection, streams));
            }
        }
        for (connection, _streams) in opened {
            let outcome = ending(&connection, super::ANSWER_TIMEOUT).await;
            // HTTP/3 has codes of its own: any of them counts.
            run.judge(attack, &ExpectedOutcome::Closed(&[GONE]), outcome.map(|_| GONE));
        }
    }
    Ok(())
}

fn config(host: &HostInfo, progress: Progress) -> anyhow::Result<ClientConfig> {
    let tls = net::tls::pinning(host.certificate().unwrap_or_default(), progress.alpn())?;
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    let mut transport = TransportConfig::default();
    transport.keep_alive_interval(Some(ALIVE_EVERY));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// The streams of a client, which end when they are dropped.
#[derive(Default)]
struct OpenedStreams {
    _settings: Option<SendStream>,
    _request: Option<(SendStream, RecvStream)>,
    _frames: Option<(SendStream, RecvStream)>,
}

/// Goes as far as the attack does. The host may end the connection on the way.
async fn advance(connection: &Connection, progress: Progress) -> OpenedStreams {
    let mut streams = OpenedStreams::default();
    if matches!(progress, Progress::Handshake) {
        return streams;
    }
    let Ok(mut settings) = connection.open_uni().await else { return streams };
    let _ = settings.write_all(&SETTINGS).await;
    streams._settings = Some(settings);
    if matches!(progress, Progress::Settings) {
        return streams;
    }
    let Ok((mut send, mut receive)) = connection.open_bi().await else { return streams };
    let _ = send.write_all(&session_request()).await;
    let _ = tokio::time::timeout(super::ANSWER_TIMEOUT, receive.read_chunk(1_024, true)).await;
    streams._request = Some((send, receive));
    if matches!(progress, Progress::Session) {
        return streams;
    }
    let Ok((mut send, receive)) = connection.open_bi().await else { return streams };
    let hello_bytes = hello(&"A".repeat(200));
    let mut bytes = vec![0x40, 0x41, 0]; // The session's stream has number 0.
    bytes.extend_from_slice(&hello_bytes[..hello_bytes.len() / 2]);
    let _ = send.write_all(&bytes).await;
    streams._frames = Some((send, receive));
    streams
}

/// A control stream with settings of HTTP/3: extended CONNECT, datagrams, WebTransport.
const SETTINGS: [u8; 12] = [0, 4, 9, 0x08, 1, 0x33, 1, 0xab, 0x60, 0x37, 0x42, 1];

/// The request that begins a WebTransport session: a HEADERS frame whose fields are literals of QPACK (RFC 9204, 4.5.6).
fn session_request() -> Vec<u8> {
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

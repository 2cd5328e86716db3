//! QUIC endpoints and their limits. What is not limited here can be spent by a stranger.

use crate::tls::{self, Identity, Membership, TlsError};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{AckFrequencyConfig, IdleTimeout, TransportConfig, VarInt};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// What players speak.
pub const ALPN_PLAYERS: &str = "ecumene/1";
/// What browsers speak.
pub const ALPN_WEB: &str = web_transport_quinn::ALPN;
/// What hosts speak among themselves.
pub const ALPN_MESH: &str = "ecumene-mesh/1";
/// What hosts speak to the directory.
pub const ALPN_DIRECTORY: &str = "ecumene-directory/1";

/// Connections nobody has accepted yet: how many, and how much of each is kept.
const INCOMING: (usize, u64) = (1_024, 64 * 1024);

/// How much is kept of all connections nobody has accepted yet.
pub const INCOMING_BYTES: usize = 8 * 1024 * 1024;

/// What a player may send before the host has read it, on one stream and in all. A frame has 4 KiB, and a player may
/// send 64 KiB a second: this is a quarter of a second's worth. Strangers get no more, so it is what they can cost.
const UNREAD: (u32, u32) = (16 * 1024, 32 * 1024);

/// Datagrams of a player that the host has not read.
const UNREAD_DATAGRAMS: usize = 16 * 1024;

/// What a host may send before a player has confirmed it: stream and datagrams.
const UNSENT: (u64, usize) = (512 * 1024, 64 * 1024);

/// What one socket may hold of packets that nobody has read yet. All connections share it: the usual 208 KiB are some 160
/// packets, and a thousand players fill them in 10 ms. Whoever is not scheduled for so long would lose the next ones.
const SOCKET_BYTES: usize = 4 * 1024 * 1024;

/// The most memory a stranger's connection takes: what it may send unread, and some for QUIC, TLS and a task.
pub const STRANGER_BYTES: usize = UNREAD.1 as usize + UNREAD_DATAGRAMS + 64 * 1024;

/// The most memory a player's connection takes, besides its mailbox.
pub const PLAYER_BYTES: usize = STRANGER_BYTES + UNSENT.0 as usize + UNSENT.1;

/// Why there is no endpoint.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// Keys or certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The socket.
    #[error("cannot open UDP {address}: {error}")]
    Socket {
        /// Which.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
}

fn idle(timeout: Duration) -> IdleTimeout {
    timeout.try_into().expect("a few seconds are an idle timeout")
}

/// Between a player and a host.
fn for_players() -> TransportConfig {
    let mut it = TransportConfig::default();
    // Two bidirectional streams and three others are what WebTransport needs for one session with one stream.
    it.max_concurrent_bidi_streams(2_u32.into())
        .max_concurrent_uni_streams(3_u32.into())
        .stream_receive_window(UNREAD.0.into())
        .receive_window(UNREAD.1.into())
        .send_window(UNSENT.0)
        .datagram_receive_buffer_size(Some(UNREAD_DATAGRAMS))
        .datagram_send_buffer_size(UNSENT.1)
        // A host that died is missed soon, also by those who only keep it on the line in case another dies.
        .max_idle_timeout(Some(idle(Duration::from_millis(2_500))))
        .keep_alive_interval(Some(Duration::from_secs(1)));
    // Acknowledgements ride on the next tick's packet instead of being packets of their own.
    let mut acks = AckFrequencyConfig::default();
    acks.ack_eliciting_threshold(VarInt::from_u32(8)).max_ack_delay(Some(Duration::from_millis(100)));
    it.ack_frequency_config(Some(acks));
    it
}

/// A player's end of the same: what a host may send at once is a whole picture of the surroundings.
fn as_player() -> TransportConfig {
    let mut it = for_players();
    it.stream_receive_window((2_u32 * 1024 * 1024).into())
        .receive_window((2_u32 * 1024 * 1024).into())
        .datagram_receive_buffer_size(Some(UNSENT.1));
    it
}

/// Between servers.
fn between_servers() -> TransportConfig {
    let mut it = TransportConfig::default();
    it.max_concurrent_bidi_streams(256_u32.into())
        .max_concurrent_uni_streams(0_u32.into())
        .datagram_receive_buffer_size(Some(1024 * 1024))
        .datagram_send_buffer_size(1024 * 1024)
        .max_idle_timeout(Some(idle(Duration::from_secs(3))))
        .keep_alive_interval(Some(Duration::from_millis(500)))
        .initial_rtt(Duration::from_millis(20));
    it
}

/// Where players connect, by QUIC or WebTransport.
pub fn for_players_at(address: SocketAddr, identity: &Identity) -> Result<quinn::Endpoint, EndpointError> {
    open(address, Some(players_config(identity)?))
}

/// The configuration of [`for_players_at`], to change its certificate while it runs.
pub fn players_config(identity: &Identity) -> Result<quinn::ServerConfig, TlsError> {
    let tls = tls::for_players(identity, &[ALPN_PLAYERS, ALPN_WEB])?;
    Ok(server_config(tls, for_players(), true))
}

fn server_config(
    tls: rustls::ServerConfig,
    transport: TransportConfig,
    migration: bool,
) -> quinn::ServerConfig {
    let tls = QuicServerConfig::try_from(tls).expect("TLS 1.3 with ring has the suite that QUIC starts with");
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    config
        .transport_config(Arc::new(transport))
        .migration(migration)
        .max_incoming(INCOMING.0)
        .incoming_buffer_size(INCOMING.1)
        .incoming_buffer_size_total(INCOMING_BYTES as u64);
    config
}

/// From where players connect.
pub fn as_players() -> Result<quinn::Endpoint, EndpointError> {
    open(SocketAddr::from(([0, 0, 0, 0], 0)), None)
}

/// How a player connects to a host that shows this certificate.
pub fn pinned(certificate: [u8; 32]) -> Result<quinn::ClientConfig, TlsError> {
    Ok(client_config(tls::pinning(certificate, ALPN_PLAYERS)?, as_player()))
}

fn client_config(tls: rustls::ClientConfig, transport: TransportConfig) -> quinn::ClientConfig {
    let tls = QuicClientConfig::try_from(tls).expect("TLS 1.3 with ring has the suite that QUIC starts with");
    let mut config = quinn::ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    config
}

/// Where servers connect, and from where: `alpn` is what this one speaks.
pub fn for_servers_at(
    address: SocketAddr,
    membership: &Membership,
    alpn: &str,
) -> Result<quinn::Endpoint, EndpointError> {
    open(address, Some(server_config(membership.server(&[alpn])?, between_servers(), false)))
}

/// How a server connects to another.
pub fn to_server(membership: &Membership, alpn: &str) -> Result<quinn::ClientConfig, TlsError> {
    Ok(client_config(membership.client(alpn)?, between_servers()))
}

/// An endpoint that only connects to others.
pub fn outgoing() -> Result<quinn::Endpoint, EndpointError> {
    as_players()
}

fn open(address: SocketAddr, config: Option<quinn::ServerConfig>) -> Result<quinn::Endpoint, EndpointError> {
    let fail = |error| EndpointError::Socket { address, error };
    let socket = std::net::UdpSocket::bind(address).map_err(fail)?;
    // As far as the system allows: `net.core.rmem_max` and `net.core.wmem_max`. With less, more is lost.
    let _ = set_socket_recv_buffer_size(&socket, SOCKET_BYTES);
    let _ = set_socket_send_buffer_size(&socket, SOCKET_BYTES);
    let runtime = Arc::new(quinn::TokioRuntime);
    quinn::Endpoint::new(quinn::EndpointConfig::default(), config, socket, runtime).map_err(fail)
}

//! QUIC endpoints and their limits. An unauthenticated client can exhaust every resource that is not limited here.

use crate::tls::{self, Identity, MeshIdentity, TlsError};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{IdleTimeout, TransportConfig};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// ALPN protocol of players who connect by QUIC. Both ends hold acknowledgements back until a packet leaves anyway, and tell each
/// other themselves which frames arrived.
pub const ALPN_PLAYERS: &str = "ecumene/3";
/// ALPN protocol of browsers that connect by WebTransport.
pub const ALPN_WEB: &str = "h3";
/// ALPN protocol between the hosts of a world.
pub const ALPN_MESH: &str = "ecumene-mesh/1";
/// ALPN protocol between hosts and the directory.
pub const ALPN_DIRECTORY: &str = "ecumene-directory/1";

/// Connections not yet accepted: the most of them, and the most bytes buffered of each.
const INCOMING: (usize, u64) = (1_024, 64 * 1024);

/// The most bytes buffered of all connections not yet accepted.
pub const INCOMING_BYTES: usize = 8 * 1024 * 1024;

/// Bytes that a player may send before the host reads them, on one stream and in all. A frame has 4 KiB, and a player
/// may send 64 KiB a second: a quarter of a second's worth. Unauthenticated clients get no more, so it is their cost.
const UNREAD: (u32, u32) = (16 * 1024, 32 * 1024);

/// Bytes of a player's datagrams that the host has not read.
const UNREAD_DATAGRAMS: usize = 16 * 1024;

/// Bytes that a host may send before a player acknowledges them: stream and datagrams.
const UNSENT: (u64, usize) = (512 * 1024, 64 * 1024);

/// Socket buffer in bytes. All connections share it: the usual 208 KiB hold some 160 packets, and a thousand players
/// fill them in 10 ms. A process that is not scheduled for so long would lose the next packets.
pub(crate) const SOCKET_BYTES: usize = 4 * 1024 * 1024;

/// The most memory an unauthenticated connection takes: unread bytes, and some for QUIC and TLS.
pub const UNAUTHENTICATED_BYTES: usize = UNREAD.1 as usize + UNREAD_DATAGRAMS + 64 * 1024;

/// The most memory a player's connection takes, in bytes, without its send queue.
pub const PLAYER_BYTES: usize = UNAUTHENTICATED_BYTES + UNSENT.0 as usize + UNSENT.1;

/// The reason why an endpoint could not be opened.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// Keys or certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The UDP socket cannot be opened.
    #[error("cannot open UDP {address}: {error}")]
    Socket {
        /// Address that was to be bound.
        address: SocketAddr,
        /// Error of the operating system.
        error: std::io::Error,
    },
}

fn idle(timeout: Duration) -> IdleTimeout {
    timeout.try_into().expect("a few seconds are an idle timeout")
}

/// Transport settings of a host for its players.
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
        // Clients notice at once that the host they play on is silent. This is for those that hold it as a spare, in case
        // another host dies; a shorter time would cost them more packets than their play.
        .max_idle_timeout(Some(idle(Duration::from_secs(5))))
        // For browsers, which send nothing by themselves. Our own clients do so earlier, and then a host need not.
        .keep_alive_interval(Some(Duration::from_millis(2_300)));
    it
}

/// The player's end of the same, with larger windows: a host may send a whole view of the surroundings at once.
fn as_player() -> TransportConfig {
    let mut it = for_players();
    it.stream_receive_window((2_u32 * 1024 * 1024).into())
        .receive_window((2_u32 * 1024 * 1024).into())
        .datagram_receive_buffer_size(Some(UNSENT.1))
        .keep_alive_interval(Some(Duration::from_secs(2)));
    it
}

/// Transport settings of connections between servers.
fn between_servers() -> TransportConfig {
    let mut it = TransportConfig::default();
    it.max_concurrent_bidi_streams(256_u32.into())
        // Neither the mesh nor the directory uses them.
        .max_concurrent_uni_streams(0_u32.into())
        .datagram_receive_buffer_size(Some(1024 * 1024))
        .datagram_send_buffer_size(1024 * 1024)
        .max_idle_timeout(Some(idle(Duration::from_secs(3))))
        .keep_alive_interval(Some(Duration::from_millis(500)))
        // Hosts stand close to each other: QUIC's default of 333 ms would delay the first retransmissions.
        .initial_rtt(Duration::from_millis(20));
    it
}

/// The server configuration of the port to which players connect, by QUIC or WebTransport.
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

/// The server configuration of the port to which other hosts connect.
pub(crate) fn for_hosts(mesh_identity: &MeshIdentity) -> Result<quinn::ServerConfig, TlsError> {
    Ok(server_config(mesh_identity.server(&[ALPN_MESH])?, between_servers(), false))
}

/// Opens an endpoint on tokio that connects as a player would: for tests and attacks.
pub fn as_players() -> Result<quinn::Endpoint, EndpointError> {
    open(SocketAddr::from(([0, 0, 0, 0], 0)), None)
}

/// Client configuration for a player who expects the certificate with this hash.
pub fn pinned(certificate: [u8; 32]) -> Result<quinn::ClientConfig, TlsError> {
    Ok(client_config(tls::pinning(certificate, ALPN_PLAYERS)?, as_player()))
}

fn client_config(tls: rustls::ClientConfig, transport: TransportConfig) -> quinn::ClientConfig {
    let tls = QuicClientConfig::try_from(tls).expect("TLS 1.3 with ring has the suite that QUIC starts with");
    let mut config = quinn::ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    config
}

/// Opens the endpoint to which servers connect, and from which this one connects. It speaks `alpn`.
pub fn for_servers_at(
    address: SocketAddr,
    mesh_identity: &MeshIdentity,
    alpn: &str,
) -> Result<quinn::Endpoint, EndpointError> {
    // No migration: servers keep their addresses, only players' addresses change.
    open(address, Some(server_config(mesh_identity.server(&[alpn])?, between_servers(), false)))
}

/// Client configuration for a connection to another server.
pub fn to_server(mesh_identity: &MeshIdentity, alpn: &str) -> Result<quinn::ClientConfig, TlsError> {
    Ok(client_config(mesh_identity.client(alpn)?, between_servers()))
}

/// Opens an endpoint that only connects to others.
pub fn outgoing() -> Result<quinn::Endpoint, EndpointError> {
    as_players()
}

fn open(address: SocketAddr, config: Option<quinn::ServerConfig>) -> Result<quinn::Endpoint, EndpointError> {
    let fail = |error| EndpointError::Socket { address, error };
    let socket = std::net::UdpSocket::bind(address).map_err(fail)?;
    // The system may allow less (`net.core.rmem_max`, `net.core.wmem_max`): more packets are lost, no reason to stop.
    let _ = set_socket_recv_buffer_size(&socket, SOCKET_BYTES);
    let _ = set_socket_send_buffer_size(&socket, SOCKET_BYTES);
    let runtime = Arc::new(quinn::TokioRuntime);
    quinn::Endpoint::new(quinn::EndpointConfig::default(), config, socket, runtime).map_err(fail)
}

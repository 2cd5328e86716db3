//! The socket of a port: UDP in a running program, a simulated network in tests.

use crate::endpoint::{EndpointError, SOCKET_BYTES};
use bytes::BytesMut;
use quinn_proto::EcnCodepoint;
pub use quinn_proto::Transmit;
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSocketState};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_reuseport, set_socket_send_buffer_size};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd as _, BorrowedFd};

/// A packet that arrived.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Address of the sender.
    pub from: SocketAddr,
    /// Address at which it arrived, where the system tells.
    pub local: Option<IpAddr>,
    /// Congestion mark of the network.
    pub ecn: Option<EcnCodepoint>,
    /// The QUIC packet.
    pub bytes: BytesMut,
}

/// Sends and receives packets without waiting.
pub trait PacketSocket: Send {
    /// Hands over packets that have arrived, one batch at most. Returns false if there was none.
    fn receive(&mut self, take: &mut dyn FnMut(Packet)) -> io::Result<bool>;

    /// Sends one packet, or several of the same size. An error counts as a lost packet.
    fn send(&mut self, transmit: &Transmit, contents: &[u8]) -> io::Result<()>;

    /// The most packets of one size that `send` takes at once.
    fn segments_max(&self) -> usize;

    /// True if packets may be cut on the way, which rules out probing for larger ones.
    fn may_fragment(&self) -> bool;

    /// The address at which it receives.
    fn local_address(&self) -> io::Result<SocketAddr>;

    /// What to wait for; `None` if nothing of the system's.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;
}

/// A UDP socket of the system.
pub struct UdpPacketSocket {
    socket: UdpSocket,
    state: UdpSocketState,
    /// Room for one batch.
    buffer: Vec<u8>,
}

/// The most bytes of one UDP packet.
const PACKET_MAX: usize = 64 * 1024;

impl UdpPacketSocket {
    /// Opens a socket. Several may share one address: then the system deals packets out by their senders' addresses.
    pub fn open(address: SocketAddr, shared: bool) -> Result<Self, EndpointError> {
        let fail = |error: io::Error| EndpointError::Socket { address, error };
        let socket = bind(address, shared).map_err(fail)?;
        // The system may allow less (`net.core.rmem_max`, `net.core.wmem_max`): more packets are lost, no reason to stop.
        let _ = set_socket_recv_buffer_size(&socket, SOCKET_BYTES);
        let _ = set_socket_send_buffer_size(&socket, SOCKET_BYTES);
        let state = UdpSocketState::new((&socket).into()).map_err(fail)?;
        let buffer = vec![0; PACKET_MAX * BATCH_SIZE];
        Ok(Self { socket, state, buffer })
    }
}

fn bind(address: SocketAddr, shared: bool) -> io::Result<UdpSocket> {
    if !shared {
        return UdpSocket::bind(address);
    }
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    set_socket_reuseport(&socket, true)?;
    rustix::net::bind(&socket, &address)?;
    Ok(socket.into())
}

impl PacketSocket for UdpPacketSocket {
    fn receive(&mut self, take: &mut dyn FnMut(Packet)) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut chunks = self.buffer.chunks_mut(PACKET_MAX);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().expect("one chunk per packet of a batch")));
        let count = match self.state.recv((&self.socket).into(), &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            // An ICMP message about an earlier packet, which anyone on the path can forge: it says nothing about this socket.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(true),
            Err(error) => return Err(error),
        };
        for (meta, slice) in metas.iter().zip(&slices).take(count) {
            let mut rest = BytesMut::from(&slice[..meta.len]);
            while !rest.is_empty() {
                let bytes = rest.split_to(meta.stride.min(rest.len()));
                let ecn = meta.ecn.and_then(|it| EcnCodepoint::from_bits(it as u8));
                take(Packet { from: meta.addr, local: meta.dst_ip, ecn, bytes });
            }
        }
        Ok(true)
    }

    fn send(&mut self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let ecn = transmit.ecn.and_then(|it| quinn_udp::EcnCodepoint::from_bits(it as u8));
        let transmit = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn,
            contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        self.state.send((&self.socket).into(), &transmit)
    }

    fn segments_max(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

/// The first bits of a QUIC packet with a long header, and those that hold its type.
const LONG: u8 = 0x80;
const TYPE: u8 = 0x30;

/// Returns whether a packet may begin a handshake: by its header it is a first packet (an Initial) or of a version that is
/// not ours. No key has to be derived to know it.
pub fn is_first_packet(packet: &[u8]) -> bool {
    const VERSION_1: [u8; 4] = [0, 0, 0, 1];
    let is_long = packet.first().is_some_and(|it| it & LONG != 0);
    is_long && (packet[0] & TYPE == 0 || packet.get(1..5) != Some(&VERSION_1))
}

/// The reactor that a packet belongs to, if its connection ID names one of `reactors`; the first byte of every connection ID
/// that a host gives out is its reactor's number.
pub fn reactor_of(packet: &[u8], reactors: u8) -> Option<u8> {
    const HANDSHAKE: u8 = 0x20;
    let first = *packet.first()?;
    let named = if first & LONG == 0 {
        packet.get(1)
    } else if first & TYPE == HANDSHAKE {
        packet.get(6) // Behind four bytes of version and one of length.
    } else {
        None // The client chose the connection ID of its first packets.
    };
    named.copied().filter(|it| *it < reactors)
}

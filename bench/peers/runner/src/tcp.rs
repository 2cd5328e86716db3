//! Bytes and packets of the TCP connections of a server, as the kernel counts them per connection (`sock_diag`, netlink).

use anyhow::{Context as _, Result, ensure};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read as _, Write as _};
use std::time::Duration;

/// From linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const TCP_ESTABLISHED: u32 = 1;
const INET_DIAG_INFO: u16 = 2;

/// Bytes of `nlmsghdr`, of `inet_diag_req_v2` and of `inet_diag_msg`.
const HEADER: usize = 16;
const REQUEST: usize = 56;
const ANSWER: usize = 72;

/// Offsets in `tcp_info` of linux/tcp.h.
const BYTES_ACKED: usize = 120;
const BYTES_RECEIVED: usize = 128;
const SEGS_OUT: usize = 136;
const SEGS_IN: usize = 140;

/// Segments of TCP connections, and the bytes of their payload. Up is to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TcpTotals {
    pub packets_up: u64,
    pub packets_down: u64,
    pub bytes_up: u64,
    pub bytes_down: u64,
}

impl TcpTotals {
    /// What was added since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        // A connection that ends takes its counts with it.
        Self {
            packets_up: self.packets_up.saturating_sub(earlier.packets_up),
            packets_down: self.packets_down.saturating_sub(earlier.packets_down),
            bytes_up: self.bytes_up.saturating_sub(earlier.bytes_up),
            bytes_down: self.bytes_down.saturating_sub(earlier.bytes_down),
        }
    }

    /// Adds the counters of one `tcp_info`; an older kernel, whose structure is too short, counts nothing.
    fn add(&mut self, info: &[u8]) {
        let u64_at = |at: usize| info.get(at..)?.first_chunk().map(|it| u64::from_ne_bytes(*it));
        let u32_at = |at: usize| u32_at(info, at).map(u64::from);
        self.packets_up += u32_at(SEGS_IN).unwrap_or(0);
        self.packets_down += u32_at(SEGS_OUT).unwrap_or(0);
        self.bytes_up += u64_at(BYTES_RECEIVED).unwrap_or(0);
        self.bytes_down += u64_at(BYTES_ACKED).unwrap_or(0);
    }
}

/// Counts the connections of a server's port.
pub struct TcpMeter {
    port: u16,
    socket: Socket,
}

impl TcpMeter {
    /// A meter of a server on this port of IPv4's loopback.
    pub fn new(port: u16) -> Result<Self> {
        let protocol = Some(Protocol::from(libc::NETLINK_SOCK_DIAG));
        let socket = Socket::new(Domain::from(libc::AF_NETLINK), Type::DGRAM, protocol)
            .context("the kernel tells nothing about TCP connections")?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(Self { port, socket })
    }

    /// Totals of all connections since they began.
    pub fn totals(&self) -> Result<TcpTotals> {
        (&self.socket).write_all(&self.request())?;
        let (mut totals, mut buffer) = (TcpTotals::default(), vec![0; 1 << 16]);
        loop {
            let length = (&self.socket).read(&mut buffer).context("the kernel does not answer")?;
            if !add_all(&buffer[..length], &mut totals)? {
                return Ok(totals);
            }
        }
    }

    fn request(&self) -> [u8; HEADER + REQUEST] {
        let mut bytes = [0; HEADER + REQUEST];
        bytes[..4].copy_from_slice(&((HEADER + REQUEST) as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
        bytes[16] = libc::AF_INET as u8;
        bytes[17] = libc::IPPROTO_TCP as u8;
        bytes[18] = 1 << (INET_DIAG_INFO - 1); // The kernel adds this to every answer.
        bytes[20..24].copy_from_slice(&(1_u32 << TCP_ESTABLISHED).to_ne_bytes());
        bytes[24..26].copy_from_slice(&self.port.to_be_bytes());
        bytes
    }
}

/// Adds the connections of one message of the kernel; false if it was the last.
fn add_all(mut bytes: &[u8], totals: &mut TcpTotals) -> Result<bool> {
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        ensure!(kind != NLMSG_ERROR, "the kernel refuses to tell about TCP connections");
        if kind == NLMSG_DONE {
            return Ok(false);
        }
        let attributes =
            bytes.get(HEADER + ANSWER..length as usize).context("the kernel's answer is cut off")?;
        if let Some(info) = attribute(attributes, INET_DIAG_INFO) {
            totals.add(info);
        }
        bytes = bytes.get((length as usize).next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

/// The value of an attribute (`rtattr`).
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let (length, kind) = (usize::from(u16_at(bytes, 0)?), u16_at(bytes, 2)?);
        if kind == wanted {
            return bytes.get(4..length);
        }
        // An attribute without a head would be read for ever.
        bytes = bytes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn it_counts_the_connections_of_one_port() {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let pairs = [0, 0, 1].map(|it| {
            let listener: &TcpListener = &listeners[it];
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (client, listener.accept().unwrap().0)
        });
        let meter = TcpMeter::new(listeners[0].local_addr().unwrap().port()).unwrap();
        let before = meter.totals().unwrap();
        for (client, server) in &pairs {
            (&*client).write_all(&[1; 100]).unwrap();
            (&*server).read_exact(&mut [0; 100]).unwrap();
            (&*server).write_all(&[2; 3_000]).unwrap();
            (&*client).read_exact(&mut [0; 3_000]).unwrap();
            // Its packet acknowledges what the client has read.
            (&*client).write_all(&[3; 10]).unwrap();
            (&*server).read_exact(&mut [0; 10]).unwrap();
        }
        let added = meter.totals().unwrap().since(before);
        assert_eq!((added.bytes_up, added.bytes_down), (220, 6_000));
        assert!(4 <= added.packets_up && 2 <= added.packets_down, "{added:?}");
    }
}

//! What every server does: a socket, a line that names its address, ticks.

use crate::ServerOptions;
use anyhow::{Context as _, Result};
use socket2::SockRef;
use std::io::Write as _;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Bytes that the socket keeps between two ticks. The system's default holds the moves of about 250 clients; it may grant
/// less than is asked for, and then the missing moves show in the table.
const RECEIVE_BUFFER: usize = 4 << 20;

/// A socket on a free port of this computer's loopback.
pub fn server_socket() -> Result<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0").context("cannot open a UDP socket")?;
    socket.set_nonblocking(true)?;
    SockRef::from(&socket).set_recv_buffer_size(RECEIVE_BUFFER)?;
    Ok(socket)
}

/// Tells the runner where the server listens.
pub fn tell_address(address: SocketAddr) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "listening {address}")?;
    Ok(out.flush()?)
}

/// Calls `tick` at a steady rate until it fails. A late tick delays those after it.
pub fn every_tick(options: &ServerOptions, mut tick: impl FnMut() -> Result<()>) -> Result<()> {
    let period = Duration::from_secs(1) / options.hz;
    let mut next = Instant::now();
    loop {
        tick()?;
        next = (next + period).max(Instant::now());
        std::thread::sleep(next - Instant::now().min(next));
    }
}

//! The floor of the server's cost: as many packets of the same size as a world exchanges, by plain `sendto` and
//! `recvfrom`. Without session, encryption and world: no program that uses UDP can cost less.

use anyhow::Result;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Number and size of the packets of both ends.
#[derive(Clone, Copy, Debug)]
pub struct FloorOptions {
    /// Number of clients that send packets.
    pub clients: u32,
    /// Packets per client and second to the server.
    pub up: f64,
    /// Packets to a client for each one from it.
    pub answers: f64,
    /// Bytes of a packet to the server.
    pub up_bytes: usize,
    /// Bytes of a packet to a client.
    pub down_bytes: usize,
    /// Time for which the clients send, in seconds.
    pub seconds: f64,
}

/// The server's end: passes its address to `tell`, then answers every packet until the packets stop. The first four
/// bytes of a packet are the number of its client.
pub fn serve(options: &FloorOptions, tell: impl FnOnce(SocketAddr) -> Result<()>) -> Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    tell(socket.local_addr()?)?;
    let mut owed = vec![0.0_f64; options.clients as usize];
    let (mut buffer, answer) = ([0; 2_048], vec![7; options.down_bytes]);
    // The last packet may be lost; then the timeout ends the server.
    socket.set_read_timeout(Some(Duration::from_secs(10)))?;
    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
        let Some(client) = buffer[..length].first_chunk().map(|it| u32::from_le_bytes(*it)) else { continue };
        let Some(owed) = owed.get_mut(client as usize) else { break };
        *owed += options.answers;
        while 1.0 <= *owed {
            *owed -= 1.0;
            // The clients may have ended already; a lost answer does not matter.
            let _ = socket.send_to(&answer, from);
        }
    }
    Ok(())
}

/// The clients' end: sends at a steady rate, each client in turn, and reads all answers.
pub fn send(options: &FloorOptions, server: SocketAddr) -> Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let reader = socket.try_clone()?;
    std::thread::spawn(move || {
        let mut buffer = [0; 2_048];
        while reader.recv_from(&mut buffer).is_ok() {}
    });
    let (rate, began) = (options.up * f64::from(options.clients), Instant::now());
    let mut packet = vec![7; options.up_bytes.max(4)];
    let mut sent = 0_u64;
    while began.elapsed().as_secs_f64() < options.seconds {
        while (sent as f64) < rate * began.elapsed().as_secs_f64() {
            let client = (sent % u64::from(options.clients)) as u32;
            packet[..4].copy_from_slice(&client.to_le_bytes());
            socket.send_to(&packet, server)?;
            sent += 1;
        }
        // Short enough that packets leave at a steady rate, long enough not to use up the core.
        std::thread::sleep(Duration::from_micros(500));
    }
    packet[..4].copy_from_slice(&u32::MAX.to_le_bytes()); // No client has this number: it is the end.
    socket.send_to(&packet, server)?;
    Ok(())
}

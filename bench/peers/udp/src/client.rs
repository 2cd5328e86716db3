//! The client's end of plain UDP.

use anyhow::Result;
use std::net::UdpSocket;
use workload::{Client, ClientsOptions, Outgoing, Ping, Received, Update};

/// A client with a socket of its own.
pub struct UdpClient {
    number: u16,
    socket: UdpSocket,
}

impl UdpClient {
    /// A client that sends to the server.
    pub fn connect(options: &ClientsOptions, number: u16) -> Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(options.server)?;
        socket.set_nonblocking(true)?;
        Ok(Self { number, socket })
    }
}

impl Client for UdpClient {
    fn is_connected(&self) -> bool {
        true
    }

    fn turn(&mut self, outgoing: &Outgoing, received: &mut Received) -> Result<()> {
        let mut packet = [0; 2_048];
        while let Ok(length) = self.socket.recv(&mut packet) {
            match Ping::decode(&packet[..length]) {
                Some(ping) => received.pongs.push(ping),
                None => received.updates.extend(Update::decode_all(&packet[..length])),
            }
        }
        if let Some(step) = outgoing.step {
            let mut packet = self.number.to_le_bytes().to_vec();
            packet.extend_from_slice(&step.encode());
            self.socket.send(&packet)?;
        }
        if let Some(ping) = outgoing.ping {
            self.socket.send(&ping.encode())?;
        }
        Ok(())
    }
}

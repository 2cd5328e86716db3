//! The client's end of renet.

use crate::PROTOCOL;
use anyhow::Result;
use renet::{ConnectionConfig, DefaultChannel, RenetClient};
use renet_netcode::{ClientAuthentication, NetcodeClientTransport};
use std::net::UdpSocket;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use workload::{Client, ClientsOptions, Outgoing, Ping, Received, Update};

/// A client with a connection of its own.
pub struct NetcodeClient {
    client: RenetClient,
    transport: NetcodeClientTransport,
    last: Instant,
}

impl NetcodeClient {
    /// A client that connects to the server; its number is its id.
    pub fn connect(options: &ClientsOptions, number: u16) -> Result<Self> {
        let authentication = ClientAuthentication::Unsecure {
            client_id: number.into(),
            protocol_id: PROTOCOL,
            server_addr: options.server,
            user_data: None,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let transport = NetcodeClientTransport::new(now, authentication, UdpSocket::bind("127.0.0.1:0")?)?;
        Ok(Self { client: RenetClient::new(ConnectionConfig::default()), transport, last: Instant::now() })
    }
}

impl Client for NetcodeClient {
    fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    fn turn(&mut self, outgoing: &Outgoing, received: &mut Received) -> Result<()> {
        let passed = self.last.elapsed();
        self.last = Instant::now();
        self.client.update(passed);
        self.transport.update(passed, &mut self.client)?;
        while let Some(message) = self.client.receive_message(DefaultChannel::Unreliable) {
            match Ping::decode(&message) {
                Some(ping) => received.pongs.push(ping),
                None => received.updates.extend(Update::decode_all(&message)),
            }
        }
        if !outgoing.sends {
            return Ok(());
        }
        if let Some(step) = outgoing.step {
            self.client.send_message(DefaultChannel::Unreliable, step.encode().to_vec());
        }
        if let Some(ping) = outgoing.ping {
            self.client.send_message(DefaultChannel::Unreliable, ping.encode().to_vec());
        }
        Ok(self.transport.send_packets(&mut self.client)?)
    }
}

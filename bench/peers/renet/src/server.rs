//! The server's end of renet.

use crate::PROTOCOL;
use anyhow::Result;
use renet::{ConnectionConfig, DefaultChannel, RenetServer};
use renet_netcode::{NetcodeServerTransport, ServerAuthentication, ServerConfig};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use workload::{Move, PING_BYTES, ServerOptions, World};

/// Serves until the process is ended.
pub fn serve(options: &ServerOptions) -> Result<()> {
    let mut server = RenetServer::new(ConnectionConfig::default());
    let mut transport = transport(options)?;
    let mut world = World::new(options.clients, options.hz);
    let mut last = Instant::now();
    workload::every_tick(options, || {
        let passed = last.elapsed();
        last = Instant::now();
        server.update(passed);
        transport.update(passed, &mut server)?;
        while server.get_event().is_some() {}
        receive(&mut server, &mut world);
        world.look(|_, _, _| ());
        send_updates(&mut server, &world);
        world.end_tick();
        transport.send_packets(&mut server);
        Ok(())
    })
}

fn transport(options: &ServerOptions) -> Result<NetcodeServerTransport> {
    let socket = workload::server_socket()?;
    let address = socket.local_addr()?;
    let config = ServerConfig {
        current_time: SystemTime::now().duration_since(UNIX_EPOCH)?,
        max_clients: options.clients.into(),
        protocol_id: PROTOCOL,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    let transport = NetcodeServerTransport::new(config, socket)?;
    workload::tell_address(address)?;
    Ok(transport)
}

fn receive(server: &mut RenetServer, world: &mut World) {
    for id in server.clients_id() {
        while let Some(message) = server.receive_message(id, DefaultChannel::Unreliable) {
            if message.len() == PING_BYTES {
                server.send_message(id, DefaultChannel::Unreliable, message);
            } else if let Some(step) = Move::decode(&message) {
                world.accept(id as u16, step);
            }
        }
    }
}

fn send_updates(server: &mut RenetServer, world: &World) {
    for id in server.clients_id() {
        let mut message = Vec::with_capacity(512);
        world.updates(id as u16).for_each(|it| it.encode(&mut message));
        if !message.is_empty() {
            server.send_message(id, DefaultChannel::Unreliable, message);
        }
    }
}

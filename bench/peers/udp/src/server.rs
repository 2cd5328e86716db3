//! The server's end of plain UDP.

use anyhow::Result;
use std::net::{SocketAddr, UdpSocket};
use workload::{Move, PING_BYTES, ServerOptions, World};

/// Bytes of a packet at most: what every path to a client carries.
const PACKET_MAX: usize = 1_200;

/// Serves until the process is ended.
pub fn serve(options: &ServerOptions) -> Result<()> {
    let socket = workload::server_socket()?;
    workload::tell_address(socket.local_addr()?)?;
    let mut world = World::new(options.clients, options.hz);
    let mut addresses = vec![None; usize::from(options.clients)];
    let mut packet = Vec::with_capacity(PACKET_MAX);
    workload::every_tick(options, || {
        receive(&socket, &mut world, &mut addresses);
        world.look(|_, _, _| ());
        for (client, address) in (0..).zip(&addresses) {
            address.iter().for_each(|&it| send_updates(&socket, &world, client, it, &mut packet));
        }
        world.end_tick();
        Ok(())
    })
}

fn receive(socket: &UdpSocket, world: &mut World, addresses: &mut [Option<SocketAddr>]) {
    let mut packet = [0; 64];
    while let Ok((length, from)) = socket.recv_from(&mut packet) {
        let packet = &packet[..length];
        if length == PING_BYTES {
            let _ = socket.send_to(packet, from); // A lost answer is a lost answer.
            continue;
        }
        let Some((client, rest)) = packet.split_first_chunk() else { continue };
        let client = u16::from_le_bytes(*client);
        let (Some(step), Some(address)) = (Move::decode(rest), addresses.get_mut(usize::from(client))) else {
            continue;
        };
        *address = Some(from);
        world.accept(client, step);
    }
}

fn send_updates(socket: &UdpSocket, world: &World, client: u16, to: SocketAddr, packet: &mut Vec<u8>) {
    packet.clear();
    for update in world.updates(client) {
        if PACKET_MAX < packet.len() + workload::UPDATE_BYTES {
            let _ = socket.send_to(packet, to);
            packet.clear();
        }
        update.encode(packet);
    }
    if !packet.is_empty() {
        let _ = socket.send_to(packet, to);
    }
}

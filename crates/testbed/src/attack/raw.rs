//! Datagrams at the players' port: noise, real first packets with flipped bits, and real ones again and again.

use super::{Arena, foreign, noise};
use machine::Rng;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// Datagrams per turn, and turns per second: some thousand a second.
const TURN: (u64, Duration) = (40, Duration::from_millis(10));

/// How often a first packet is said again from a new port. Each begins a handshake that never ends.
const ECHO_EVERY: Duration = Duration::from_millis(20);

pub(super) fn spawn(arena: &Arc<Arena>, fighting: &mut JoinSet<()>) {
    let it = arena.clone();
    fighting.spawn(async move {
        if let Err(error) = flood(&it).await {
            it.surprise(format!("raw datagrams: {error:#}"));
        }
    });
    let it = arena.clone();
    fighting.spawn(async move {
        if let Err(error) = echo(&it).await {
            it.surprise(format!("first packets: {error:#}"));
        }
    });
}

/// A first packet of a real client, caught by somebody who never answers.
async fn first_packet(arena: &Arena) -> anyhow::Result<Vec<u8>> {
    let catcher = UdpSocket::bind("127.0.0.1:0").await?;
    let config = net::endpoint::pinned(arena.hosts[0].certificate().unwrap_or_default())?;
    let client = net::endpoint::as_players()?;
    let connecting = client.connect_with(config, catcher.local_addr()?, "localhost")?;
    let mut packet = vec![0; 2_048];
    let (length, _) = tokio::time::timeout(Duration::from_secs(2), catcher.recv_from(&mut packet)).await??;
    drop(connecting);
    packet.truncate(length);
    Ok(packet)
}

async fn flood(arena: &Arena) -> anyhow::Result<()> {
    let real = first_packet(arena).await?;
    let socket = UdpSocket::bind((foreign(0), 0)).await?;
    let mut rng = arena.rng();
    while !arena.is_enough() {
        let to: Vec<SocketAddr> = arena.hosts.iter().map(|it| it.address).collect();
        for _ in 0..TURN.0 {
            let (attack, packet) = draw(&real, &mut rng);
            let _ = socket.try_send_to(&packet, to[rng.below(to.len() as u64) as usize]);
            arena.sent(attack, 1);
        }
        tokio::time::sleep(TURN.1).await;
    }
    Ok(())
}

fn draw(real: &[u8], rng: &mut Rng) -> (&'static str, Vec<u8>) {
    match rng.below(5) {
        0 => {
            let length = rng.below(1_400);
            ("noise", noise(rng, length))
        }
        1 => {
            // What looks like the start of a packet of a known or an unknown version.
            let mut packet = noise(rng, 1_200);
            packet[0] |= 0xc0;
            if rng.coin() {
                packet[1..5].copy_from_slice(&[0, 0, 0, 1]);
            }
            ("noise like first packets", packet)
        }
        2 => ("first packets, cut", real[..rng.below(real.len() as u64) as usize].to_vec()),
        _ => {
            let mut packet = real.to_vec();
            for _ in 0..=rng.below(8) {
                let at = rng.below(packet.len() as u64) as usize;
                packet[at] ^= 1 << rng.below(8);
            }
            ("first packets, bits flipped", packet)
        }
    }
}

async fn echo(arena: &Arena) -> anyhow::Result<()> {
    let mut rng = arena.rng();
    let mut sockets = Vec::new();
    while !arena.is_over() {
        // A fresh one now and then, so that it is the first of a handshake the host has not seen.
        let real = first_packet(arena).await?;
        for _ in 0..20 {
            let socket = UdpSocket::bind((foreign(1), 0)).await?;
            socket.send_to(&real, arena.host(&mut rng).address).await?;
            arena.sent("first packets, again from new ports", 1);
            sockets.push(socket);
            tokio::time::sleep(ECHO_EVERY).await;
        }
        sockets.truncate(100);
    }
    Ok(())
}

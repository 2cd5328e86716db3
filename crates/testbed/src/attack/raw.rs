//! Datagrams to the players' port: noise, real first packets with flipped bits, and real ones repeated.

use super::{AttackRun, attacker_address, noise};
use machine::Rng;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// Datagrams per turn, and interval between turns: some thousand a second.
const TURN: (u64, Duration) = (40, Duration::from_millis(10));

/// Interval at which a first packet is repeated from a new port. Each begins a handshake that never ends.
const REPEAT_EVERY: Duration = Duration::from_millis(20);

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    let it = run.clone();
    tasks.spawn(async move {
        if let Err(error) = flood(&it).await {
            it.unexpected(format!("raw datagrams: {error:#}"));
        }
    });
    let it = run.clone();
    tasks.spawn(async move {
        if let Err(error) = repeat_first_packets(&it).await {
            it.unexpected(format!("first packets: {error:#}"));
        }
    });
}

/// A first packet of a player.
async fn players_packet(run: &AttackRun) -> anyhow::Result<Vec<u8>> {
    first_packet(net::endpoint::pinned(run.hosts[0].certificate().unwrap_or_default())?).await
}

/// A first packet of a real client, received by a socket that never answers.
pub(super) async fn first_packet(config: quinn::ClientConfig) -> anyhow::Result<Vec<u8>> {
    let catcher = UdpSocket::bind("127.0.0.1:0").await?;
    let client = net::endpoint::as_players()?;
    let connecting = client.connect_with(config, catcher.local_addr()?, "localhost")?;
    let mut packet = vec![0; 2_048];
    let (length, _) = tokio::time::timeout(Duration::from_secs(2), catcher.recv_from(&mut packet)).await??;
    drop(connecting);
    packet.truncate(length);
    Ok(packet)
}

async fn flood(run: &AttackRun) -> anyhow::Result<()> {
    let real = players_packet(run).await?;
    let socket = UdpSocket::bind((attacker_address(0), 0)).await?;
    let mut rng = run.rng();
    while !run.is_enough() {
        let to: Vec<SocketAddr> = run.hosts.iter().map(|it| it.address).collect();
        for _ in 0..TURN.0 {
            let (attack, packet) = draw(&real, &mut rng);
            // A full socket buffer only means less load.
            let _ = socket.try_send_to(&packet, to[rng.below(to.len() as u64) as usize]);
            run.sent(attack, 1);
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
            // Like the start of a packet of a known or an unknown version.
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

async fn repeat_first_packets(run: &AttackRun) -> anyhow::Result<()> {
    let mut rng = run.rng();
    let mut sockets = Vec::new();
    while !run.is_over() {
        // A fresh one now and then, so that it begins a handshake that the host has not seen.
        let real = players_packet(run).await?;
        for _ in 0..20 {
            let socket = UdpSocket::bind((attacker_address(1), 0)).await?;
            socket.send_to(&real, run.host(&mut rng).address).await?;
            run.sent("first packets, again from new ports", 1);
            sockets.push(socket);
            tokio::time::sleep(REPEAT_EVERY).await;
        }
        sockets.truncate(100); // Bounds the open sockets.
    }
    Ok(())
}

//! The ports between servers: those of hosts for each other, and the directory's. First packets from new addresses, handshakes that
//! stop halfway, and handshakes without a certificate.

use super::unauthenticated::{ending, endpoint};
use super::{AttackRun, ExpectedOutcome, GONE, attacker_address, raw};
use anyhow::Context as _;
use machine::Rng;
use net::endpoint::{ALPN_DIRECTORY, ALPN_MESH};
use net::tls::{DIRECTORY_NAME, host_name};
use quinn::ClientConfig;
use quinn::crypto::rustls::QuicClientConfig;
use server::control_plane::CONTROL_PLANE_FILE;
use server::directory::RemoteDirectory;
use server::keys::KeyFolder;
use server::world_entry::{self, HostEntry};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// First packets per turn, and interval between turns: some thousand a second.
const TURN: (usize, Duration) = (20, Duration::from_millis(10));

/// Turns after which a flood goes on from a new port.
const TURNS_PER_PORT: usize = 10;

/// Time for the first half of a handshake.
const HALFWAY: Duration = Duration::from_millis(300);

/// The bytes of the connection ID that a client chooses: from it the keys of first packets are derived.
const CHOSEN_ID: std::ops::Range<usize> = 6..14;

/// A port between servers.
struct ServerPort {
    at: SocketAddr,
    /// Name in the certificate of the server.
    name: String,
    certificate: [u8; 32],
    alpn: &'static str,
}

impl ServerPort {
    /// The configuration of a client that has no certificate.
    fn config(&self) -> anyhow::Result<ClientConfig> {
        let tls = net::tls::pinning(self.certificate, self.alpn)?;
        Ok(ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?)))
    }
}

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    let it = run.clone();
    tasks.spawn(async move {
        if let Err(error) = attack_all(&it).await {
            it.unexpected(format!("ports between servers: {error:#}"));
        }
    });
}

/// Times that the directory is asked for the ports of hosts before it counts as away. Each waits for an answer for a while.
const QUESTIONS_MAX: u32 = 10;

async fn attack_all(run: &Arc<AttackRun>) -> anyhow::Result<()> {
    let ports = Arc::new(ports(run).await?);
    let mut tasks = JoinSet::new();
    let (it, all) = (run.clone(), ports.clone());
    tasks.spawn(async move { flood(&it, &all).await });
    for number in 0..3 {
        let (it, all) = (run.clone(), ports.clone());
        tasks.spawn(async move { connect_without_certificate(&it, &all, number).await });
    }
    for _ in 0..3 {
        let (it, all) = (run.clone(), ports.clone());
        tasks.spawn(async move { stop_halfway(&it, &all).await });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.context("an attacker broke")??;
    }
    Ok(())
}

/// The ports of all hosts for each other, and of the directory. Attackers from outside would find them by trying.
async fn ports(run: &AttackRun) -> anyhow::Result<Vec<ServerPort>> {
    let keys = KeyFolder::of(&run.data);
    let seat: serde_json::Value = serde_json::from_slice(&std::fs::read(run.data.join(CONTROL_PLANE_FILE))?)?;
    let at: SocketAddr = seat["directory"].as_str().context("the directory has no address")?.parse()?;
    let certificate = |name: &str| anyhow::Ok(keys.mesh_identity(name)?.identity.hash());
    let mut found = vec![ServerPort {
        at,
        name: DIRECTORY_NAME.to_owned(),
        certificate: certificate(DIRECTORY_NAME)?,
        alpn: ALPN_DIRECTORY,
    }];
    let numbers: Vec<u32> = run.hosts.iter().map(|it| it.host).collect();
    let first = numbers.first().context("the world has no hosts")?;
    let directory = RemoteDirectory::new(at, &keys.mesh_identity(&host_name(*first))?)?;
    let host_keys: Vec<_> = numbers.iter().map(|it| world_entry::host_key(*it)).collect();
    // Other attackers are at work already, and one lost answer is no failure.
    let mut entries = None;
    for _ in 0..QUESTIONS_MAX {
        entries = directory.read(host_keys.clone()).await;
        if entries.is_some() {
            break;
        }
    }
    let entries = entries.context("the directory does not answer")?;
    for (number, entry) in numbers.into_iter().zip(entries) {
        let host: HostEntry = world_entry::read(&entry.value).context("a host is not registered")?;
        let name = host_name(number);
        let certificate = certificate(&name)?;
        found.push(ServerPort { at: host.mesh, name, certificate, alpn: ALPN_MESH });
    }
    Ok(found)
}

/// Sends first packets, real ones and some with other connection IDs, from one port after another.
async fn flood(run: &AttackRun, ports: &[ServerPort]) -> anyhow::Result<()> {
    let mut rng = run.rng();
    while !run.is_over() {
        let port = draw(ports, &mut rng);
        let real = raw::first_packet(port.config()?).await?;
        let socket = UdpSocket::bind((attacker_address(rng.next_u64() as u8), 0)).await?;
        for _ in 0..TURNS_PER_PORT {
            let _ = socket.try_send_to(&real, port.at);
            for _ in 0..TURN.0 {
                let mut packet = real.clone();
                packet[CHOSEN_ID].copy_from_slice(&rng.next_u64().to_le_bytes());
                let _ = socket.try_send_to(&packet, port.at);
            }
            run.sent("first packets at ports between servers", 1 + TURN.0 as u64);
            tokio::time::sleep(TURN.1).await;
        }
    }
    Ok(())
}

fn draw<'a>(ports: &'a [ServerPort], rng: &mut Rng) -> &'a ServerPort {
    &ports[rng.below(ports.len() as u64) as usize]
}

/// Begins handshakes at an address that it proves to be real, and goes silent when the server has begun them, too.
async fn stop_halfway(run: &AttackRun, ports: &[ServerPort]) -> anyhow::Result<()> {
    let (client, mut rng) = (net::endpoint::as_players()?, run.rng());
    while !run.is_over() {
        let port = draw(ports, &mut rng);
        // Between the client and the server, to end the exchange after the server's retry.
        let inner = UdpSocket::bind("127.0.0.1:0").await?;
        let outer = UdpSocket::bind((attacker_address(rng.next_u64() as u8), 0)).await?;
        let connecting = client.connect_with(port.config()?, inner.local_addr()?, &port.name)?;
        let exchange = async {
            let mut packet = vec![0; 2_048];
            let (length, from) = inner.recv_from(&mut packet).await?;
            outer.send_to(&packet[..length], port.at).await?;
            let (length, _) = outer.recv_from(&mut packet).await?;
            inner.send_to(&packet[..length], from).await?;
            let (length, _) = inner.recv_from(&mut packet).await?;
            outer.send_to(&packet[..length], port.at).await
        };
        run.sent("handshakes that stop halfway, between servers", 1);
        // Beyond the limits no retry comes.
        drop(tokio::time::timeout(HALFWAY, exchange).await);
        drop(connecting);
    }
    Ok(())
}

/// Completes its half of a handshake. The server must end it, because no certificate comes.
async fn connect_without_certificate(
    run: &AttackRun,
    ports: &[ServerPort],
    number: u8,
) -> anyhow::Result<()> {
    let (endpoint, mut rng) = (endpoint(number)?, run.rng());
    let (attack, expected) = ("a server without a certificate", ExpectedOutcome::Closed(&[GONE]));
    while !run.is_over() {
        let port = draw(ports, &mut rng);
        run.sent(attack, 1);
        // Beyond the limits nothing is answered: more than a moment says nothing new.
        let connecting = endpoint.connect_with(port.config()?, port.at, &port.name)?;
        let outcome = match tokio::time::timeout(Duration::from_secs(1), connecting).await {
            Ok(Ok(connection)) => ending(&connection, super::ANSWER_TIMEOUT).await,
            _ => Some(GONE),
        };
        run.judge(attack, &expected, outcome.map(|_| GONE));
    }
    Ok(())
}

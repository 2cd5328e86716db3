//! Attacks on a world's open ports, each with its expected outcome. They run until the time is over.
//!
//! | module | attacker |
//! |---|---|
//! | `raw` | any program that can send UDP |
//! | `unauthenticated` | a QUIC client without a valid token |
//! | `browsers` | a client that speaks as far as a session of WebTransport, and keeps the connection alive |
//! | `server_ports` | any program that can send UDP to the ports between servers |
//! | `insiders` | a player with a valid token and a program of their own |
//! | `entries` | such a player who enters again and again |
//! | `sockets` | any program that can open a TCP connection: WebSocket and the lobby |
//! | `held` | programs that keep TCP connections open, from many addresses |

mod browsers;
mod entries;
mod held;
mod insiders;
mod raw;
mod server_ports;
mod sockets;
mod unauthenticated;

use client::{HostInfo, LobbyClient, Pass, SessionInfo};
use machine::Rng;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Time that an answer may take on a computer under attack.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// The most different unexpected outcomes that are kept.
const UNEXPECTED_MAX: usize = 20;

/// Number of players who attack.
pub const INSIDERS: usize = 5;

/// The most TCP connections that attackers have at once at one port, apart from those that are only held.
const SOCKETS_MAX: usize = 256;

/// The most TCP connections that attackers have at once at the lobby, and at one host, in an attack that sends at least this much.
pub fn sockets_max(least: u64) -> (usize, usize) {
    (SOCKETS_MAX + held::at_lobby(least), SOCKETS_MAX + held::at_host(least))
}

/// The target of the attacks, their end, and their outcomes so far.
pub struct AttackRun {
    /// TCP address of the lobby.
    pub lobby: SocketAddr,
    /// Folder of the world, with the key that signs tokens: attackers forge some with it.
    pub data: PathBuf,
    /// Name of the world, which tokens are signed for.
    pub world: String,
    hosts: Vec<HostInfo>,
    insiders: Vec<Pass>,
    until: Instant,
    least: u64,
    sent: AtomicU64,
    counters: Mutex<BTreeMap<&'static str, AttackCounters>>,
    unexpected_outcomes: Mutex<Vec<String>>,
    seeds: AtomicU64,
}

/// The outcomes of one kind of attack.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct AttackCounters {
    /// Datagrams, frames or requests sent.
    pub sent: u64,
    /// Number of times it was refused as expected.
    pub refused: u64,
    /// Number of times it was tolerated as expected: ignored, slowed down, answered.
    pub tolerated: u64,
}

/// The outcome that an attack must have.
enum ExpectedOutcome {
    /// The connection is closed with one of these codes, or never opens.
    Closed(&'static [u64]),
    /// The connection must stay open.
    StaysOpen,
}

/// The state of a connection: the code it was closed with, or `None` if it is open.
type ObservedClose = Option<u64>;

/// Codes of [`net::Close`]; a connection that is not accepted at all counts as refused.
const REFUSED: u64 = 1;
const PROTOCOL: u64 = 4;
const GONE: u64 = 0;

impl AttackRun {
    /// Prepares attacks until a time, and until at least this much was sent.
    pub async fn new(
        lobby: SocketAddr,
        data: PathBuf,
        world: String,
        until: Instant,
        least: u64,
    ) -> anyhow::Result<Arc<Self>> {
        let lobby_client = LobbyClient::new(&lobby.to_string());
        let mut insiders = Vec::new();
        for number in 0..INSIDERS {
            insiders.push(lobby_client.guest(&format!("insider-{number}")).await?);
        }
        let SessionInfo { hosts, .. } = lobby_client.session(&insiders[0]).await?;
        Ok(Arc::new(Self {
            lobby,
            data,
            world,
            hosts,
            insiders,
            until,
            least,
            sent: AtomicU64::new(0),
            counters: Mutex::default(),
            unexpected_outcomes: Mutex::default(),
            seeds: AtomicU64::new(1),
        }))
    }

    /// Runs all attacks side by side until they are over.
    pub async fn attack_all(self: &Arc<Self>) {
        let mut tasks = JoinSet::new();
        raw::spawn(self, &mut tasks);
        unauthenticated::spawn(self, &mut tasks);
        browsers::spawn(self, &mut tasks);
        server_ports::spawn(self, &mut tasks);
        insiders::spawn(self, &mut tasks);
        entries::spawn(self, &mut tasks);
        sockets::spawn(self, &mut tasks);
        held::spawn(self, &mut tasks);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                self.unexpected(format!("an attacker broke: {error}"));
            }
        }
    }

    /// Returns whether the time is over.
    fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }

    /// Returns whether the time is over and enough was sent.
    fn is_enough(&self) -> bool {
        // On a slow computer the attack goes on until it was large enough to mean something.
        self.is_over() && self.least <= self.total()
    }

    /// Datagrams, frames and requests sent so far.
    pub fn total(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Outcomes of each kind of attack.
    pub fn counters(&self) -> BTreeMap<&'static str, AttackCounters> {
        lock(&self.counters).clone()
    }

    /// Outcomes that differ from the expected ones, as lines for people.
    pub fn unexpected_outcomes(&self) -> Vec<String> {
        lock(&self.unexpected_outcomes).clone()
    }

    fn rng(&self) -> Rng {
        Rng::seeded(self.seeds.fetch_add(1, Ordering::Relaxed))
    }

    fn host(&self, rng: &mut Rng) -> &HostInfo {
        &self.hosts[rng.below(self.hosts.len() as u64) as usize]
    }

    fn sent(&self, attack: &'static str, count: u64) {
        self.sent.fetch_add(count, Ordering::Relaxed);
        lock(&self.counters).entry(attack).or_default().sent += count;
    }

    fn unexpected(&self, what: String) {
        let mut unexpected_outcomes = lock(&self.unexpected_outcomes);
        // The same outcome may come thousands of times.
        if unexpected_outcomes.len() < UNEXPECTED_MAX && !unexpected_outcomes.contains(&what) {
            unexpected_outcomes.push(what);
        }
    }

    /// Compares the outcome of an attack with the expected one.
    fn judge(&self, attack: &'static str, expected: &ExpectedOutcome, outcome: ObservedClose) {
        match (expected, outcome) {
            (ExpectedOutcome::Closed(codes), Some(code)) if codes.contains(&code) => {
                lock(&self.counters).entry(attack).or_default().refused += 1;
            }
            (ExpectedOutcome::StaysOpen, None) => {
                lock(&self.counters).entry(attack).or_default().tolerated += 1
            }
            (ExpectedOutcome::Closed(codes), None) => {
                self.unexpected(format!("{attack}: still open, not closed with {codes:?}"))
            }
            (ExpectedOutcome::Closed(codes), Some(code)) => {
                self.unexpected(format!("{attack}: closed with {code}, not with {codes:?}"));
            }
            (ExpectedOutcome::StaysOpen, Some(code)) => {
                self.unexpected(format!("{attack}: closed with {code}, should go on"))
            }
        }
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An address of this computer that honest players do not use: limits by address do not affect them.
fn attacker_address(number: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, 2 + number % 8).into()
}

fn noise(rng: &mut Rng, length: u64) -> Vec<u8> {
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

//! Attacks on a world's doors, each with what must come of it. They run until the arena closes.
//!
//! | module | who attacks |
//! |---|---|
//! | `raw` | whoever can send UDP |
//! | `strangers` | whoever can speak QUIC, and has no token that is good |
//! | `insiders` | a player with a good token and a program of their own |
//! | `sockets` | whoever can open a TCP connection: WebSocket and the lobby |

mod insiders;
mod raw;
mod sockets;
mod strangers;

use client::{HostInfo, Lobby, Pass, SessionInfo};
use machine::Rng;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long an answer may take on a machine under attack.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// At most so many different surprises are told.
const SURPRISES_MAX: usize = 20;

/// Players who attack.
pub const INSIDERS: usize = 4;

/// The most TCP connections that attackers have at once at one door.
pub const SOCKETS_MAX: usize = 256;

/// What is attacked, and until when.
pub struct Arena {
    /// The lobby.
    pub lobby: SocketAddr,
    /// The world's folder: who owns it can sign what the lobby never would.
    pub data: PathBuf,
    /// The world's name.
    pub world: String,
    hosts: Vec<HostInfo>,
    insiders: Vec<Pass>,
    until: Instant,
    least: u64,
    sent: AtomicU64,
    tallies: Mutex<BTreeMap<&'static str, Tally>>,
    surprises: Mutex<Vec<String>>,
    seeds: AtomicU64,
}

/// What became of one kind of attack.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Tally {
    /// Datagrams, frames or requests sent.
    pub sent: u64,
    /// How often it was refused as it should be.
    pub refused: u64,
    /// How often it was put up with as it should be: ignored, slowed down, answered.
    pub tolerated: u64,
}

/// What must come of an attack.
enum Fate {
    /// The connection is closed with one of these codes, or never comes about.
    Closed(&'static [u64]),
    /// The connection goes on.
    GoesOn,
}

/// How a connection was when it was looked at: closed with a code, or open.
type Seen = Option<u64>;

/// Every code of a refusal; a connection that is not let in at all counts as refused.
const REFUSED: u64 = 1;
const PROTOCOL: u64 = 4;
const GONE: u64 = 0;

impl Arena {
    /// Prepares attacks until a time, and until at least so much was sent.
    pub async fn new(
        lobby: SocketAddr,
        data: PathBuf,
        world: String,
        until: Instant,
        least: u64,
    ) -> anyhow::Result<Arc<Self>> {
        let door = Lobby::new(&lobby.to_string());
        let mut insiders = Vec::new();
        for number in 0..INSIDERS {
            insiders.push(door.guest(&format!("insider-{number}")).await?);
        }
        let SessionInfo { hosts, .. } = door.session(&insiders[0]).await?;
        Ok(Arc::new(Self {
            lobby,
            data,
            world,
            hosts,
            insiders,
            until,
            least,
            sent: AtomicU64::new(0),
            tallies: Mutex::default(),
            surprises: Mutex::default(),
            seeds: AtomicU64::new(1),
        }))
    }

    /// Runs all attacks side by side until they are over.
    pub async fn fight(self: &Arc<Self>) {
        let mut fighting = JoinSet::new();
        raw::spawn(self, &mut fighting);
        strangers::spawn(self, &mut fighting);
        insiders::spawn(self, &mut fighting);
        sockets::spawn(self, &mut fighting);
        while let Some(ended) = fighting.join_next().await {
            if let Err(error) = ended {
                self.surprise(format!("an attacker broke: {error}"));
            }
        }
    }

    /// Whether the time is over.
    fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }

    /// Whether the time is over and enough was sent.
    fn is_enough(&self) -> bool {
        self.is_over() && self.least <= self.total()
    }

    /// Datagrams, frames and requests sent so far.
    pub fn total(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// What became of each kind of attack.
    pub fn tallies(&self) -> BTreeMap<&'static str, Tally> {
        locked(&self.tallies).clone()
    }

    /// What came out differently than it must.
    pub fn surprises(&self) -> Vec<String> {
        locked(&self.surprises).clone()
    }

    fn rng(&self) -> Rng {
        Rng::seeded(self.seeds.fetch_add(1, Ordering::Relaxed))
    }

    fn host(&self, rng: &mut Rng) -> &HostInfo {
        &self.hosts[rng.below(self.hosts.len() as u64) as usize]
    }

    fn sent(&self, attack: &'static str, count: u64) {
        self.sent.fetch_add(count, Ordering::Relaxed);
        locked(&self.tallies).entry(attack).or_default().sent += count;
    }

    fn surprise(&self, what: String) {
        let mut surprises = locked(&self.surprises);
        if surprises.len() < SURPRISES_MAX && !surprises.contains(&what) {
            surprises.push(what);
        }
    }

    /// Compares what came of an attack with what must.
    fn judge(&self, attack: &'static str, fate: &Fate, seen: Seen) {
        match (fate, seen) {
            (Fate::Closed(codes), Some(code)) if codes.contains(&code) => {
                locked(&self.tallies).entry(attack).or_default().refused += 1;
            }
            (Fate::GoesOn, None) => locked(&self.tallies).entry(attack).or_default().tolerated += 1,
            (Fate::Closed(codes), None) => {
                self.surprise(format!("{attack}: still open, not closed with {codes:?}"))
            }
            (Fate::Closed(codes), Some(code)) => {
                self.surprise(format!("{attack}: closed with {code}, not with {codes:?}"));
            }
            (Fate::GoesOn, Some(code)) => {
                self.surprise(format!("{attack}: closed with {code}, should go on"))
            }
        }
    }
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An address of this machine that is not the honest players'.
fn foreign(number: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, 2 + number % 8).into()
}

fn noise(rng: &mut Rng, length: u64) -> Vec<u8> {
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

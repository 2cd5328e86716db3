//! The directory's entries besides leadership: the world's, and one per host.
//!
//! Earlier versions stored all hosts under one key, `hosts`. A world founded by them still holds it; no program reads it.

use crate::stored_partition::StoredPartition;
use machine::directory::Key;
use serde::{Deserialize, Serialize};
use space::Position;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Key of the world's entry in the directory.
pub fn world_key() -> Key {
    Key("world".to_owned())
}

/// Said of a world's entry that does not decode.
pub const OTHER_VERSION: &str =
    "the directory's entry of the world is of another version: run the version that founded the world";

/// Key of a host's entry in the directory. Each host has its own, so that no host's swap can lose to another host's.
pub fn host_key(host: u32) -> Key {
    Key(format!("host/{host}"))
}

/// The world, as it was founded. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldEntry {
    /// Name of the world, unique: a token of one world is not valid in another.
    pub id: String,
    /// Name of the game, as its rules give it.
    pub game: String,
    /// Hash of the game's types: hosts with other types may not join.
    pub schema: u64,
    /// Distance from its middle to its sides, in millimetres.
    pub half: u32,
    /// Random seed of the game.
    pub seed: u64,
    /// Regions of all zones, as they were cut.
    pub map: StoredPartition,
    /// Hosts that may hold replicas of each zone. The first host founds it.
    pub zones: BTreeMap<u32, Vec<u32>>,
    /// The lobby's public key, which verifies tokens.
    pub lobby: [u8; 32],
}

impl WorldEntry {
    /// The corners of the whole world, a square around the middle. `None` if it is larger than any world can be.
    pub fn corners(&self) -> Option<[Position; 4]> {
        square(self.half)
    }

    /// All hosts that may hold replicas.
    pub fn hosts(&self) -> BTreeSet<u32> {
        self.zones.values().flatten().copied().collect()
    }
}

/// The corners of a square around the middle with this distance to its sides, in millimetres.
pub fn square(half: u32) -> Option<[Position; 4]> {
    let half = i32::try_from(half).ok()?;
    let corner = |x, y| Position::new(x, y).ok();
    Some([corner(-half, -half)?, corner(half, -half)?, corner(half, half)?, corner(-half, half)?])
}

/// A host, as it registers itself in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostEntry {
    /// UDP address for other hosts.
    pub mesh: SocketAddr,
    /// UDP address for players, by QUIC or WebTransport.
    pub players: SocketAddr,
    /// TCP address of health and metrics.
    pub web: SocketAddr,
    /// Address for players by WebSocket, beginning with `ws://` or `wss://`.
    pub socket: String,
    /// SHA-256 of the certificate that players expect.
    pub certificate: [u8; 32],
    /// Zones of which it may hold replicas.
    pub zones: Vec<u32>,
}

/// All registered hosts, by number.
pub type HostEntries = BTreeMap<u32, HostEntry>;

/// Decodes the value of an entry; `None` if it is of another version.
pub fn read<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Option<T> {
    postcard::from_bytes(value).ok()
}

/// Encodes an entry of the directory.
pub fn write<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain data encodes")
}

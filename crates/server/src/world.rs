//! What the directory knows besides who reigns: what the world is, who its hosts are, whose tokens are good.

use crate::map::Drawn;
use machine::directory::Key;
use serde::{Deserialize, Serialize};
use space::Position;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Under which key the world stands.
pub fn world_key() -> Key {
    Key("world".to_owned())
}

/// Under which key the hosts stand.
pub fn hosts_key() -> Key {
    Key("hosts".to_owned())
}

/// The world, as it was founded. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// Tells worlds apart: a token of one is worth nothing in another.
    pub id: String,
    /// The game's name.
    pub game: String,
    /// The hash of the game's types.
    pub schema: u64,
    /// How far it reaches from its middle in each direction, in millimetres.
    pub half: u32,
    /// Where its chance starts.
    pub seed: u64,
    /// Who owns which place.
    pub map: Drawn,
    /// Its zones, and the hosts that may hold each. The first host founds it.
    pub zones: BTreeMap<u32, Vec<u32>>,
    /// The lobby's public key: whoever's token it signed is who the token says.
    pub lobby: [u8; 32],
}

impl World {
    /// The corners of the whole world, a square around the middle. `None` if it is larger than any world can be.
    pub fn corners(&self) -> Option<[Position; 4]> {
        square(self.half)
    }
}

/// The corners of a square that reaches so far from the middle in each direction.
pub fn square(half: u32) -> Option<[Position; 4]> {
    let half = i32::try_from(half).ok()?;
    let corner = |x, y| Position::new(x, y).ok();
    Some([corner(-half, -half)?, corner(half, -half)?, corner(half, half)?, corner(-half, half)?])
}

/// A host that has said where it can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostEntry {
    /// Where other hosts find it.
    pub mesh: SocketAddr,
    /// Where players find it, by QUIC or WebTransport.
    pub players: SocketAddr,
    /// Where its health and metrics are.
    pub web: SocketAddr,
    /// Where players find it, by WebSocket.
    pub socket: String,
    /// The certificate it shows players.
    pub certificate: [u8; 32],
    /// The zones it may hold replicas of.
    pub zones: Vec<u32>,
}

/// All hosts, by number.
pub type Hosts = BTreeMap<u32, HostEntry>;

/// Reads an entry; `None` if it is not there or not understood.
pub fn read<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Option<T> {
    postcard::from_bytes(value).ok()
}

/// Writes an entry.
pub fn write<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain data encodes")
}

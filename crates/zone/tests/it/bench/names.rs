//! The names that tables use for machines, players and objects.

use super::game::TableObject;
use game::PlayerId;
use machine::Address;
use space::{ObjectId, ZoneId};
use std::collections::BTreeMap;
use zone::{Change, Record};

/// The first address of a player; those below are replicas.
const PLAYERS: u64 = 100;

/// The names of one table, and the addresses and identifiers that they stand for.
#[derive(Debug, Default)]
pub struct TableNames {
    objects: BTreeMap<ObjectId, String>,
    ids: BTreeMap<String, ObjectId>,
    /// Players' machines: `ann`, and `ann-2` for a second session of hers.
    machines: Vec<String>,
    players: Vec<String>,
    /// True if acknowledgements say how far the backup's disk is: only where announcements wait for it.
    pub counts_disks: bool,
}

/// The address of a zone's replica on a host: 0 is `a`.
pub const fn replica(zone: ZoneId, host: u64) -> Address {
    Address(zone.0 as u64 * 10 + host)
}

/// The zone of a replica; `None` for players.
pub fn zone_of(address: Address) -> Option<ZoneId> {
    (address.0 < PLAYERS).then_some(ZoneId(address.0 as u32 / 10))
}

/// The letter of a replica's host.
pub fn host(address: Address) -> char {
    (b'a' + (address.0 % 10) as u8) as char
}

impl TableNames {
    /// The machine that a table names: `z1.a`, `ann`.
    pub fn address(&self, name: &str) -> Address {
        if let Some(place) = self.machines.iter().position(|it| it == name) {
            return Address(PLAYERS + place as u64);
        }
        let parsed = name.strip_prefix('z').and_then(|it| it.split_once('.'));
        let (zone, letter) = parsed.unwrap_or_else(|| panic!("no machine: {name}"));
        replica(ZoneId(zone.parse().unwrap()), u64::from(letter.as_bytes()[0] - b'a'))
    }

    /// The address of a player's machine, which may be new.
    pub fn add_player(&mut self, name: &str) -> Address {
        if !self.machines.iter().any(|it| it == name) {
            self.machines.push(name.to_owned());
        }
        let player = name.split('-').next().unwrap_or(name);
        if !self.players.iter().any(|it| it == player) {
            self.players.push(player.to_owned());
        }
        self.address(name)
    }

    /// The player that a machine plays, and the number of the session.
    pub fn player_of(&self, machine: &str) -> (PlayerId, u64) {
        let (player, session) = machine.split_once('-').unwrap_or((machine, "1"));
        let place = self.players.iter().position(|it| it == player).unwrap();
        (PlayerId(place as u64 + 1), session.parse().unwrap())
    }

    /// The name of a machine: `z1.a`, `ann`.
    pub fn machine(&self, address: Address) -> String {
        match zone_of(address) {
            Some(zone) => format!("z{}.{}", zone.0, host(address)),
            None => self.machines[(address.0 - PLAYERS) as usize].clone(),
        }
    }

    /// The name of a player: `ann`.
    pub fn player(&self, player: PlayerId) -> &str {
        &self.players[player.0 as usize - 1]
    }

    /// The newest object with this name.
    pub fn find(&self, name: &str) -> ObjectId {
        self.ids.get(name).copied().unwrap_or_else(|| panic!("no object: {name}"))
    }

    /// The name of an object: `rock`.
    pub fn object(&self, object: ObjectId) -> String {
        self.objects.get(&object).cloned().unwrap_or_else(|| object.to_string())
    }

    /// Takes in the names of the objects that a record writes.
    pub fn learn(&mut self, record: &Record) {
        for change in &record.changes {
            let Change::Put { object, state, .. } = change else { continue };
            let Ok(state) = postcard::from_bytes::<TableObject>(state) else { continue };
            self.ids.insert(state.name.clone(), *object);
            self.objects.insert(*object, state.name);
        }
    }
}

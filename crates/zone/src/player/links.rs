//! Links to replicas, and the zone of each replica that has told it.

use machine::{Address, LinkNumber};
use space::ZoneId;
use std::collections::BTreeMap;

pub(super) struct ReplicaLinks {
    numbers: BTreeMap<Address, LinkNumber>,
    /// An address says nothing about its zone: only answers do.
    zones: BTreeMap<Address, ZoneId>,
}

impl ReplicaLinks {
    pub const fn new() -> Self {
        Self { numbers: BTreeMap::new(), zones: BTreeMap::new() }
    }

    pub fn up(&mut self, peer: Address, link: LinkNumber) {
        self.numbers.insert(peer, link);
    }

    /// Forgets a link. Returns whether it was the newest one to that replica.
    pub fn down(&mut self, peer: Address, link: LinkNumber) -> bool {
        let is_newest = self.is_newest(peer, link);
        if is_newest {
            self.numbers.remove(&peer);
            self.zones.remove(&peer);
        }
        is_newest
    }

    /// Whether the replica can be reached.
    pub fn has(&self, peer: Address) -> bool {
        self.numbers.contains_key(&peer)
    }

    /// Whether this is the newest link to the replica: messages on an older one are out of date.
    pub fn is_newest(&self, peer: Address, link: LinkNumber) -> bool {
        self.numbers.get(&peer) == Some(&link)
    }

    /// A replica has told its zone.
    pub fn learn_zone(&mut self, peer: Address, zone: ZoneId) {
        self.zones.insert(peer, zone);
    }

    pub fn all(&self) -> impl Iterator<Item = Address> {
        self.numbers.keys().copied()
    }

    /// The replicas that may be of this zone: those that told so and those that told no zone.
    pub fn possibly_of(&self, zone: ZoneId) -> impl Iterator<Item = Address> {
        self.all().filter(move |it| self.zones.get(it).is_none_or(|of| *of == zone))
    }
}

//! Peers that were introduced lately and did not matter: they may matter a moment later.

use crate::info::Info;
use crate::neighbours::Neighbours;
use machine::{Address, Span, Time};
use std::collections::BTreeMap;

/// A peer stays for so long: then it is introduced again.
const KEPT_FOR: Span = Span::from_secs(2);

/// The most peers on the list.
const PEERS_MAX: usize = 16;

/// See the module.
#[derive(Default)]
pub(crate) struct Shortlist {
    peers: BTreeMap<Address, (Info, Time)>,
}

impl Shortlist {
    /// A peer was introduced and does not matter; the oldest makes room for it.
    pub fn add(&mut self, info: Info, now: Time) {
        let oldest = self.peers.iter().min_by_key(|it| (it.1.1, it.0)).map(|it| *it.0);
        if PEERS_MAX <= self.peers.len()
            && !self.peers.contains_key(&info.address)
            && let Some(oldest) = oldest
        {
            self.peers.remove(&oldest);
        }
        self.peers.insert(info.address, (info, now));
    }

    /// A peer still does not matter; it was introduced at that time.
    pub fn put_back(&mut self, info: Info, since: Time) {
        self.peers.insert(info.address, (info, since));
    }

    pub fn remove(&mut self, address: Address) {
        self.peers.remove(&address);
    }

    /// All peers to be looked at again, and when they were introduced; old ones and those in the list by now are dropped.
    pub fn current(&mut self, now: Time, neighbours: &Neighbours) -> Vec<(Info, Time)> {
        self.peers.retain(|address, it| now.since(it.1) < KEPT_FOR && neighbours.get(*address).is_none());
        self.peers.values().copied().collect()
    }
}

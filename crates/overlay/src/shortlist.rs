//! The shortlist: peers that were irrelevant when they were introduced and may be relevant a moment later.

use crate::info::Info;
use crate::neighbours::Neighbours;
use machine::{Address, Span, Time};
use std::collections::BTreeMap;

/// Time for which a peer stays on the shortlist; after that, others introduce it again if it is relevant.
const KEPT_FOR: Span = Span::from_secs(2);

/// The most peers on the list.
const PEERS_MAX: usize = 16;

/// The shortlist of one peer.
#[derive(Default)]
pub(crate) struct Shortlist {
    peers: BTreeMap<Address, (Info, Time)>,
}

impl Shortlist {
    /// Adds a peer that was introduced and is irrelevant. If the list is full, the oldest peer makes room.
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

    /// Puts back a peer that is still irrelevant; `since` is the time of its introduction.
    pub fn put_back(&mut self, info: Info, since: Time) {
        self.peers.insert(info.address, (info, since));
    }

    pub fn remove(&mut self, address: Address) {
        self.peers.remove(&address);
    }

    /// All peers to be judged again, each with the time of its introduction. Old ones, and those that are neighbours by
    /// now, are dropped.
    pub fn current(&mut self, now: Time, neighbours: &Neighbours) -> Vec<(Info, Time)> {
        self.peers.retain(|address, it| now.since(it.1) < KEPT_FOR && neighbours.get(*address).is_none());
        self.peers.values().copied().collect()
    }
}

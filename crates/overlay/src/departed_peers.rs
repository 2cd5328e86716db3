//! Peers that are gone. Reports of other peers about them are not believed for a while.

use crate::context::PeerContext;
use crate::info::Info;
use machine::{Address, Span, Time};
use std::collections::BTreeMap;

/// Moves that other peers may have received from a departed peer after the last one that reached us. A report of a
/// later move shows that the peer is not gone.
const LATE_MOVES_MAX: u32 = 3;

/// The departed peers that one peer remembers.
#[derive(Default)]
pub(crate) struct DepartedPeers {
    peers: BTreeMap<Address, Departure>,
}

#[derive(Clone, Copy, Debug)]
struct Departure {
    /// Life and sequence number of the last move that arrived.
    last: (u32, u32),
    /// Time until which reports of moves up to `last` are not believed.
    until: Time,
}

impl DepartedPeers {
    /// Adds a peer that is gone; `last` is the life and the sequence number of its last move.
    pub fn add(&mut self, address: Address, last: (u32, u32), ctx: &PeerContext) {
        let (now, kept) = (ctx.now(), ctx.config().tombstone);
        if Span::ZERO < kept {
            self.peers.retain(|_, it| now < it.until);
            self.peers.insert(address, Departure { last, until: now + kept });
        }
    }

    /// Removes a peer: its own message shows that it is there.
    pub fn remove(&mut self, address: Address) {
        self.peers.remove(&address);
    }

    pub fn contains(&self, address: Address) -> bool {
        self.peers.contains_key(&address)
    }

    /// Returns whether a report is no newer than what was known when the peer departed, so that it must be ignored.
    pub fn refuses(&self, info: &Info, now: Time) -> bool {
        self.peers.get(&info.address).is_some_and(|it| {
            let (life, sequence) = it.last;
            (info.life, info.sequence) <= (life, sequence.saturating_add(LATE_MOVES_MAX)) && now < it.until
        })
    }
}

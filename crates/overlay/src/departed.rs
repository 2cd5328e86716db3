//! Peers that are gone, and what would show that one is there again.

use crate::ctx::Ctx;
use crate::info::Info;
use machine::{Address, Span, Time};
use std::collections::BTreeMap;

/// Other peers may have heard a departed peer with so many moves after the last that we heard. One that made more since is
/// not gone.
const AFTERLIFE: u32 = 3;

/// See the module.
#[derive(Default)]
pub(crate) struct Departed {
    peers: BTreeMap<Address, Departure>,
}

/// What is known of a departed peer.
#[derive(Clone, Copy, Debug)]
struct Departure {
    /// In which life, and with which move it was heard last.
    last: (u32, u32),
    /// Until when hearsay of it is not believed, if it is not later.
    until: Time,
}

impl Departed {
    /// A peer is gone that was last heard in this life, with this move.
    pub fn add(&mut self, address: Address, last: (u32, u32), ctx: &Ctx) {
        let (now, kept) = (ctx.now(), ctx.config().tombstone);
        if Span::ZERO < kept {
            self.peers.retain(|_, it| now < it.until);
            self.peers.insert(address, Departure { last, until: now + kept });
        }
    }

    /// The peer speaks for itself: it is there.
    pub fn remove(&mut self, address: Address) {
        self.peers.remove(&address);
    }

    pub fn contains(&self, address: Address) -> bool {
        self.peers.contains_key(&address)
    }

    /// Whether hearsay tells no more of a departed peer than what was known when it was gone.
    pub fn refuses(&self, info: &Info, now: Time) -> bool {
        self.peers.get(&info.address).is_some_and(|it| {
            let (life, sequence) = it.last;
            (info.life, info.sequence) <= (life, sequence.saturating_add(AFTERLIFE)) && now < it.until
        })
    }
}

//! Neighbours that arrived recently: the next moves name them, and after many arrivals lists are compared sooner.

use crate::config::{LIST_MAX, MET_MAX, NAMES_MAX};
use crate::context::PeerContext;
use crate::info::short;
use crate::neighbours::Neighbours;
use machine::Address;

/// Arrivals between two comparisons of lists from which on the next comparisons come sooner.
const MANY_ARRIVALS: u32 = 3;

/// Number of comparisons that then come sooner: about as many as a list has entries.
const HURRIED_COMPARISONS: u32 = 12;

/// The recent arrivals of one peer.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// Neighbours that no move has named yet.
    unnamed: Vec<Address>,
    /// Number of arrivals since lists were compared last.
    recent: u32,
    /// Number of the next comparisons that come sooner.
    hurried: u32,
}

impl Arrivals {
    /// Adds a neighbour that introduced itself.
    pub fn add_known(&mut self, who: Address) {
        // A list holds no more neighbours than that, so more names would be of peers that are gone.
        if self.unnamed.len() < LIST_MAX {
            self.unnamed.push(who);
        }
    }

    /// Adds a neighbour that another peer introduced. When several come at once, more are likely to follow.
    pub fn add(&mut self, who: Address) {
        self.add_known(who);
        self.recent += 1;
        // An arrival during hurried comparisons prolongs them: the peer is still among newcomers.
        if MANY_ARRIVALS <= self.recent || 0 < self.hurried {
            self.hurried = HURRIED_COMPARISONS;
        }
    }

    /// Called at a comparison of lists; returns whether the next one comes sooner.
    #[must_use]
    pub const fn take_hurry(&mut self) -> bool {
        self.recent = 0;
        let hurry = 0 < self.hurried;
        self.hurried = self.hurried.saturating_sub(1);
        hurry
    }

    /// Takes the short names of some arrivals, for the next move. In a crowd no arrival is named: there, every peer
    /// asks for the peers that it lacks.
    #[must_use]
    pub fn take_names(&mut self, neighbours: &Neighbours, ctx: &PeerContext) -> Vec<u32> {
        // The paper's moves carry no names either.
        if !ctx.config().handshake || NAMES_MAX < neighbours.len() {
            self.unnamed.clear();
        }
        let mut named = Vec::new();
        self.unnamed.retain(|&it| match neighbours.get(it) {
            Some(entry) if entry.is_proven() && named.len() < MET_MAX => {
                named.push(short(it));
                false
            }
            // A neighbour that has not proven itself yet stays for a later move; one that is gone again is dropped.
            known => known.is_some(),
        });
        named
    }
}

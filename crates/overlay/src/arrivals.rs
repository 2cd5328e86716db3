//! Neighbours that came lately: the next moves name them, and many of them are a reason to compare lists sooner.

use crate::config::{LIST_MAX, MET_MAX, NAMES_MAX};
use crate::ctx::Ctx;
use crate::info::short;
use crate::neighbours::Neighbours;
use machine::Address;

/// So many arrivals between two comparisons of lists are many.
const MANY: u32 = 3;

/// So many comparisons come sooner after that: about as many as lists have entries.
const RESTLESS: u32 = 12;

/// See the module.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// Neighbours that no move has named yet.
    unnamed: Vec<Address>,
    /// How many came since lists were compared last.
    lately: u32,
    /// How many of the next comparisons come sooner.
    restless: u32,
}

impl Arrivals {
    /// A neighbour is known from now on, as it has said itself.
    pub fn add_known(&mut self, who: Address) {
        if self.unnamed.len() < LIST_MAX {
            self.unnamed.push(who);
        }
    }

    /// A neighbour came by introduction. When several come at once, they may not be the last.
    pub fn add(&mut self, who: Address) {
        self.add_known(who);
        self.lately += 1;
        if MANY <= self.lately || 0 < self.restless {
            self.restless = RESTLESS;
        }
    }

    /// Lists are compared now; whether the next comparison comes sooner.
    #[must_use]
    pub const fn take_haste(&mut self) -> bool {
        self.lately = 0;
        let haste = 0 < self.restless;
        self.restless = self.restless.saturating_sub(1);
        haste
    }

    /// The short names of some arrivals, for the next move. In a crowd none is named: a peer in one asks by itself for the
    /// peers that it lacks.
    #[must_use]
    pub fn take_names(&mut self, neighbours: &Neighbours, ctx: &Ctx) -> Vec<u32> {
        if !ctx.config().handshake || NAMES_MAX < neighbours.len() {
            self.unnamed.clear();
        }
        let mut named = Vec::new();
        self.unnamed.retain(|&it| match neighbours.get(it) {
            Some(entry) if entry.is_proven() && named.len() < MET_MAX => {
                named.push(short(it));
                false
            }
            // A neighbour that has not answered yet is named later, and one that is gone again never.
            known => known.is_some(),
        });
        named
    }
}

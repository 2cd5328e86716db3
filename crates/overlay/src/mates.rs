//! The peers of the local peer's group that were ever known: they are heard again although they are strangers by now.

use crate::config::MATES_MAX;
use crate::ctx::Ctx;
use crate::neighbours::Neighbours;
use machine::Address;
use std::collections::BTreeSet;

/// See the module.
#[derive(Default)]
pub(crate) struct Mates {
    known: BTreeSet<Address>,
}

impl Mates {
    pub fn contains(&self, address: Address) -> bool {
        self.known.contains(&address)
    }

    /// Whether a neighbour is of our group; if so, and if it is trusted, that is remembered.
    pub fn note(&mut self, address: Address, neighbours: &Neighbours, ctx: &Ctx) -> bool {
        let mate = neighbours.get(address).is_some_and(|it| neighbours.is_mate(it.info(), ctx));
        if mate
            && neighbours.trusts(address, ctx)
            && self.known.insert(address)
            && MATES_MAX < self.known.len()
        {
            self.known.retain(|it| neighbours.get(*it).is_some());
        }
        mate
    }
}

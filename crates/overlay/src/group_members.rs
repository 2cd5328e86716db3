//! Members of the local peer's group that it has ever known: their moves are accepted even after they left the list.

use crate::config::GROUP_MEMBERS_MAX;
use crate::context::PeerContext;
use crate::neighbours::Neighbours;
use machine::Address;
use std::collections::BTreeSet;

/// The known members of one peer's group.
#[derive(Default)]
pub(crate) struct GroupMembers {
    known: BTreeSet<Address>,
}

impl GroupMembers {
    pub fn contains(&self, address: Address) -> bool {
        self.known.contains(&address)
    }

    /// Returns whether a neighbour belongs to the local peer's group, and remembers it if it is trusted.
    pub fn note(&mut self, address: Address, neighbours: &Neighbours, ctx: &PeerContext) -> bool {
        let is_member = neighbours.get(address).is_some_and(|it| neighbours.is_group_member(it.info(), ctx));
        if is_member
            && neighbours.trusts(address, ctx)
            && self.known.insert(address)
            && GROUP_MEMBERS_MAX < self.known.len()
        {
            // Full: members that are no neighbours now make room.
            self.known.retain(|it| neighbours.get(*it).is_some());
        }
        is_member
    }
}

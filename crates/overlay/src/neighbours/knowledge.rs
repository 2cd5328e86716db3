//! The peers that one neighbour knows, as far as it has named them or the local peer has introduced them.

use crate::config::NAMES_MAX;
use crate::info::{Info, short};
use crate::msg::Knows;
use machine::{Address, Span, Time};
use space::Position;
use std::collections::BTreeMap;

/// A peer that was introduced and still seems unknown is introduced again after this: the message got lost, or came a
/// moment too early. After that it is introduced every [`TELL_ONCE_MORE`]: most likely the neighbour sees better than
/// the local peer that the two are irrelevant to each other.
const TELL_AGAIN: Span = Span::from_millis(600);
const TELL_ONCE_MORE: Span = Span::from_secs(6);

/// Number of enclosing peers of a neighbour that are remembered, to close the gap when it is gone: few regions touch
/// more.
const ENCLOSING_MAX: usize = 16;

/// The peers that one neighbour knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// Peers that the neighbour knows, by its own messages.
    knows: Knows,
    /// Peers whose regions touch the neighbour's, by its own messages.
    enclosing: Vec<Address>,
    /// Peers whose regions touched the neighbour's at its last move, in the diagram of the local peer.
    touched: Vec<Address>,
    /// Peers that were introduced to the neighbour recently.
    introduced: BTreeMap<Address, PastIntroduction>,
}

/// The last introduction of one peer to the neighbour, and whether it was a repeated one.
#[derive(Clone, Copy, Debug)]
struct PastIntroduction {
    at: Time,
    again: bool,
}

impl PastIntroduction {
    fn is_over(self, now: Time) -> bool {
        let wait = if self.again { TELL_ONCE_MORE } else { TELL_AGAIN };
        wait <= now.since(self.at)
    }
}

impl Knowledge {
    /// Returns whether a peer should be introduced to the neighbour at `place`: the neighbour does not seem to know it,
    /// and it was not introduced recently.
    pub fn lacks(&self, now: Time, place: Position, other: &Info) -> bool {
        let apart = other.position.distance_squared(place);
        self.knows.lacks(other.short(), apart)
            && self.introduced.get(&other.address).is_none_or(|it| it.is_over(now))
    }

    /// Returns whether the neighbour has named a peer.
    pub fn names(&self, other: &Info) -> bool {
        self.knows.names.binary_search(&other.short()).is_ok()
    }

    /// Returns whether the neighbour knows more peers than it names: then it is in a crowd and asks for the peers that
    /// it lacks.
    pub const fn is_partial(&self) -> bool {
        NAMES_MAX < self.knows.names.len() || self.knows.within.is_some()
    }

    /// The peers that enclose the neighbour, by its own messages.
    pub fn enclosing(&self) -> &[Address] {
        &self.enclosing
    }

    /// Takes in the neighbour's list of known peers.
    pub fn hear(&mut self, mut knows: Knows) {
        // Other peers choose the order; the searches below need it sorted.
        knows.names.sort_unstable();
        self.knows = knows;
    }

    /// Takes in the neighbour's list of enclosing peers. An empty list says nothing: crowds leave it out.
    pub fn hear_enclosing(&mut self, enclosing: Vec<Address>) {
        if !enclosing.is_empty() {
            self.enclosing = enclosing;
            self.enclosing.truncate(ENCLOSING_MAX);
        }
    }

    /// Takes in the names of the neighbour's new neighbours.
    pub fn learn(&mut self, names: &[u32]) {
        self.knows.learn(names);
    }

    /// Notes that these peers are introduced to the neighbour now.
    pub fn tell_of(&mut self, now: Time, others: &[Info]) {
        self.introduced.retain(|_, it| now.since(it.at) < TELL_ONCE_MORE + TELL_ONCE_MORE);
        for other in others {
            let again = self.introduced.contains_key(&other.address);
            self.introduced.insert(other.address, PastIntroduction { at: now, again });
        }
    }

    /// Called when a peer is gone: the neighbour will not know it much longer.
    pub fn forget(&mut self, who: Address) {
        self.knows.forget(who);
    }

    /// Called when the neighbour will remove a peer: it must be introduced anew once the two are relevant to each
    /// other.
    pub fn doubt(&mut self, who: Address) {
        self.knows.forget(who);
        self.introduced.remove(&who);
    }

    /// The same as [`Self::doubt`] for all peers with these short names.
    pub fn doubt_all(&mut self, names: &[u32]) {
        self.knows.names.retain(|it| !names.contains(it));
        self.introduced.retain(|it, _| !names.contains(&short(*it)));
    }

    /// Notes the peers whose regions touch the neighbour's now, and returns those that did before.
    pub fn touch(&mut self, touches: Vec<Address>) -> Vec<Address> {
        std::mem::replace(&mut self.touched, touches)
    }
}

//! What one neighbour knows, as far as it has said so or was told by us.

use crate::config::NAMES_MAX;
use crate::info::{Info, short};
use crate::msg::Knows;
use machine::{Address, Span, Time};
use space::Position;
use std::collections::BTreeMap;

/// A neighbour that was told of a peer and does not seem to know it is told again soon: the message got lost, or came a moment
/// too early. After that it is told now and then: most likely it sees better than we that the two do not matter to each other.
const TELL_AGAIN: Span = Span::from_millis(600);
const TELL_ONCE_MORE: Span = Span::from_secs(6);

/// So many of the peers beside a neighbour are remembered, to close the gap when it is gone: few regions touch more.
const ENCLOSING_MAX: usize = 16;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    /// The peers that the neighbour knows, by its own word.
    knows: Knows,
    /// The peers whose regions touch the neighbour's, by its own word.
    enclosing: Vec<Address>,
    /// The peers whose regions touched the neighbour's when it moved last, as we saw it.
    touched: Vec<Address>,
    /// The peers that we told the neighbour of lately.
    told: BTreeMap<Address, Told>,
}

/// When a neighbour was told of a peer, and whether that was not the first time.
#[derive(Clone, Copy, Debug)]
struct Told {
    at: Time,
    again: bool,
}

impl Told {
    fn is_over(self, now: Time) -> bool {
        let wait = if self.again { TELL_ONCE_MORE } else { TELL_AGAIN };
        wait <= now.since(self.at)
    }
}

impl Knowledge {
    /// Whether the neighbour, standing there, should be told of a peer: it does not seem to know it, and was not told lately.
    pub fn lacks(&self, now: Time, place: Position, other: &Info) -> bool {
        let apart = other.position.distance_squared(place);
        self.knows.lacks(other.short(), apart)
            && self.told.get(&other.address).is_none_or(|it| it.is_over(now))
    }

    /// Whether the neighbour has named a peer.
    pub fn names(&self, other: &Info) -> bool {
        self.knows.names.binary_search(&other.short()).is_ok()
    }

    /// Whether the neighbour knows more peers than it names: in a crowd it asks by itself for the peers that it lacks.
    pub const fn is_partial(&self) -> bool {
        NAMES_MAX < self.knows.names.len() || self.knows.within.is_some()
    }

    /// The peers beside the neighbour, by its own word.
    pub fn enclosing(&self) -> &[Address] {
        &self.enclosing
    }

    /// The neighbour says which peers it knows.
    pub fn hear(&mut self, mut knows: Knows) {
        knows.names.sort_unstable();
        self.knows = knows;
    }

    /// The neighbour says which peers stand beside it, if it says anything about that.
    pub fn hear_enclosing(&mut self, enclosing: Vec<Address>) {
        if !enclosing.is_empty() {
            self.enclosing = enclosing;
            self.enclosing.truncate(ENCLOSING_MAX);
        }
    }

    /// The neighbour says which peers it has come to know.
    pub fn learn(&mut self, names: &[u32]) {
        self.knows.learn(names);
    }

    /// The neighbour is told of these peers now.
    pub fn tell_of(&mut self, now: Time, others: &[Info]) {
        self.told.retain(|_, it| now.since(it.at) < TELL_ONCE_MORE + TELL_ONCE_MORE);
        for other in others {
            let again = self.told.contains_key(&other.address);
            self.told.insert(other.address, Told { at: now, again });
        }
    }

    /// A peer is gone, so the neighbour will not know it much longer.
    pub fn forget(&mut self, who: Address) {
        self.knows.forget(who);
    }

    /// The neighbour will forget a peer, and must be told of it anew when the two matter to each other again.
    pub fn doubt(&mut self, who: Address) {
        self.knows.forget(who);
        self.told.remove(&who);
    }

    /// The same of all peers with these short names.
    pub fn doubt_all(&mut self, names: &[u32]) {
        self.knows.names.retain(|it| !names.contains(it));
        self.told.retain(|it, _| !names.contains(&short(*it)));
    }

    /// Notes the peers whose regions touch the neighbour's now, and returns those that did before.
    pub fn touch(&mut self, touches: Vec<Address>) -> Vec<Address> {
        std::mem::replace(&mut self.touched, touches)
    }
}

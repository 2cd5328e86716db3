//! The table of directions by their two hosts: looked up for every message sent.
//!
//! A table of its own with open addresses: one look at memory per question, where a list per host takes
//! two. It is never iterated, so its order cannot leak into a history; pairs are never removed, so it
//! needs no tombstones.

use crate::queue_entry::DirectionId;

/// Not a key: a host has no direction to itself.
const EMPTY: u64 = u64::MAX;

/// The directions by their two ends.
#[derive(Debug)]
pub(crate) struct Routes {
    /// At least half of the places are empty; their number is a power of two.
    places: Vec<(u64, DirectionId)>,
    used: usize,
}

impl Routes {
    pub(crate) fn new() -> Self {
        Self { places: vec![(EMPTY, DirectionId(0)); 16], used: 0 }
    }

    /// The direction from one host to another, if the two were ever linked.
    pub(crate) fn find(&self, from: u32, to: u32) -> Option<DirectionId> {
        let (key, direction) = self.places[self.place(key(from, to))];
        (key != EMPTY).then_some(direction)
    }

    /// Adds a direction, or replaces it.
    pub(crate) fn insert(&mut self, from: u32, to: u32, direction: DirectionId) {
        // Half empty: probing stays short, and `place` always finds an empty place to stop at.
        if self.places.len() <= (self.used + 1) * 2 {
            self.grow();
        }
        let place = self.place(key(from, to));
        // Replacing a direction uses no new place.
        self.used += usize::from(self.places[place].0 == EMPTY);
        self.places[place] = (key(from, to), direction);
    }

    /// The place where `key` is, or would be inserted.
    fn place(&self, key: u64) -> usize {
        let mask = self.places.len() - 1;
        // Multiplying spreads near keys; only the upper half of the product is well mixed.
        let mut place = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.places[place].0 != key && self.places[place].0 != EMPTY {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let larger = vec![(EMPTY, DirectionId(0)); self.places.len() * 2];
        let old = std::mem::replace(&mut self.places, larger);
        for (key, direction) in old.into_iter().filter(|it| it.0 != EMPTY) {
            let place = self.place(key);
            self.places[place] = (key, direction);
        }
    }
}

const fn key(from: u32, to: u32) -> u64 {
    (from as u64) << 32 | to as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn finds_what_was_put_in(pairs in proptest::collection::vec((0u32..20, 0u32..20), 0..300)) {
            let (mut routes, mut model) = (Routes::new(), BTreeMap::new());
            for (number, &(from, to)) in (0..).zip(&pairs) {
                routes.insert(from, to, DirectionId(number));
                model.insert((from, to), DirectionId(number));
            }
            for (from, to) in (0..20).flat_map(|from| (0..20).map(move |to| (from, to))) {
                prop_assert_eq!(routes.find(from, to), model.get(&(from, to)).copied());
            }
        }
    }
}

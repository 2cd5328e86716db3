//! Finds an observer's memory of a subject: a hash table that lives for one turn.
//!
//! A table indexed by subject would be simpler, but as large as the world, and its every access a trip
//! to far memory. This one holds what one observer remembers, some dozens of pairs, and stays in the
//! nearest cache whatever the size of the world.

use crate::memory::Entry;

/// Where in the memory each subject of one observer stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recall {
    /// The place in the memory plus one; 0 is empty. A power of two long.
    table: Vec<u32>,
    shift: u32,
}

/// Slots per remembered subject, so that searches end soon.
const ROOM: usize = 4;

impl Recall {
    /// Forgets everything, and takes in the entries from `first` on.
    pub(crate) fn fill(&mut self, entries: &[Entry], first: usize) {
        let bits = (ROOM * (entries.len() - first)).max(2).next_power_of_two().ilog2();
        self.shift = u32::BITS - bits;
        self.table.clear();
        self.table.resize(1 << bits, 0);
        for (place, entry) in entries.iter().enumerate().skip(first) {
            let mut at = self.start(entry.subject);
            while self.table[at] != 0 {
                at = self.next(at);
            }
            self.table[at] = place as u32 + 1;
        }
    }

    /// The place of the memory of `subject`.
    pub(crate) fn find(&self, subject: u32, entries: &[Entry]) -> Option<usize> {
        let mut at = self.start(subject);
        loop {
            let place = (self.table[at] as usize).checked_sub(1)?;
            if entries[place].subject == subject {
                return Some(place);
            }
            at = self.next(at);
        }
    }

    /// Spreads neighbouring numbers by the golden ratio (Knuth).
    fn start(&self, subject: u32) -> usize {
        (subject.wrapping_mul(0x9e37_79b1) >> self.shift) as usize
    }

    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.table.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Time;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn finds_what_is_there_and_nothing_else(
            subjects in proptest::collection::btree_set(0u32..500, 0..80),
            before in 0usize..5,
            asked in 0u32..500,
        ) {
            let entry = |subject| Entry::newcomer(subject, Time::ZERO);
            let mut entries = vec![entry(asked); before];
            entries.extend(subjects.iter().copied().map(entry));
            let mut recall = Recall::default();
            recall.fill(&entries, before);
            let found: BTreeSet<u32> = (0..500).filter(|&it| recall.find(it, &entries).is_some()).collect();
            prop_assert_eq!(&found, &subjects);
            let place = recall.find(asked, &entries);
            prop_assert!(place.is_none_or(|it| before <= it && entries[it].subject == asked));
        }
    }
}

//! Finds the remembered pair of a subject: a hash table that is filled anew for each observer.
//!
//! A table indexed by subject would be simpler, but as large as the world, and each access would miss the
//! cache. This one holds the pairs of one observer, some dozens, and stays in the
//! nearest cache whatever the size of the world.

use crate::pair_memory::RememberedPair;

/// The index in the memory of each subject of one observer.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubjectIndex {
    /// The index in the memory plus one; 0 is empty. The length is a power of two.
    table: Vec<u32>,
    shift: u32,
}

/// Table entries per remembered subject, so that searches end soon.
const ROOM: usize = 4;

impl SubjectIndex {
    /// Forgets everything, and takes in the entries from `first` on.
    pub(crate) fn fill(&mut self, entries: &[RememberedPair], first: usize) {
        let bits = (ROOM * (entries.len() - first)).max(2).next_power_of_two().ilog2();
        self.shift = u32::BITS - bits;
        // Cleared and not shrunk: the table is filled once per observer and tick.
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

    /// The index of the pair of `subject`.
    pub(crate) fn find(&self, subject: u32, entries: &[RememberedPair]) -> Option<usize> {
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
            let entry = |subject| RememberedPair::newcomer(subject, Time::ZERO);
            let mut entries = vec![entry(asked); before];
            entries.extend(subjects.iter().copied().map(entry));
            let mut index = SubjectIndex::default();
            index.fill(&entries, before);
            let found: BTreeSet<u32> = (0..500).filter(|&it| index.find(it, &entries).is_some()).collect();
            prop_assert_eq!(&found, &subjects);
            let place = index.find(asked, &entries);
            prop_assert!(place.is_none_or(|it| before <= it && entries[it].subject == asked));
        }
    }
}

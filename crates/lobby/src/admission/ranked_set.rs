//! A sorted set that tells the rank of an element without counting through it.

/// The most elements of a block. A set of a hundred thousand has some four hundred blocks, whose lengths are added up for a rank.
const BLOCK_MAX: usize = 512;

/// A sorted set in blocks. No block is empty.
#[derive(Clone, Debug)]
pub(super) struct RankedSet<T> {
    blocks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for RankedSet<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<T: Ord + Copy> RankedSet<T> {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Adds an element that is not in the set.
    pub(super) fn insert(&mut self, element: T) {
        self.len += 1;
        let Some(last) = self.blocks.len().checked_sub(1) else { return self.blocks.push(vec![element]) };
        // An element above all others goes to the end of the last block.
        let index = self.block_of(element).min(last);
        let block = &mut self.blocks[index];
        let place = block.partition_point(|it| *it < element);
        block.insert(place, element);
        if BLOCK_MAX < block.len() {
            let rest = block.split_off(BLOCK_MAX / 2);
            self.blocks.insert(index + 1, rest);
        }
    }

    /// Removes an element; returns whether it was there.
    pub(super) fn remove(&mut self, element: T) -> bool {
        let index = self.block_of(element);
        let Some(block) = self.blocks.get_mut(index) else { return false };
        let Ok(place) = block.binary_search(&element) else { return false };
        block.remove(place);
        if block.is_empty() {
            self.blocks.remove(index);
        }
        self.len -= 1;
        true
    }

    /// Number of elements below this one.
    pub(super) fn rank(&self, element: T) -> usize {
        let index = self.block_of(element);
        let before: usize = self.blocks[..index].iter().map(Vec::len).sum();
        before + self.blocks.get(index).map_or(0, |it| it.partition_point(|it| *it < element))
    }

    /// The block in which an element is, or would be.
    fn block_of(&self, element: T) -> usize {
        self.blocks.partition_point(|it| it.last().is_some_and(|last| *last < element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The dullest model: a set that is counted through.
        #[test]
        fn ranks_are_those_of_a_plain_set(steps in prop::collection::vec((0..3_000_u32, prop::bool::weighted(0.8)), 0..4_000)) {
            let (mut ranked, mut plain) = (RankedSet::default(), BTreeSet::new());
            for (element, is_insert) in steps {
                if is_insert && plain.insert(element) {
                    ranked.insert(element);
                } else if !is_insert {
                    prop_assert_eq!(ranked.remove(element), plain.remove(&element));
                }
                prop_assert_eq!(ranked.len(), plain.len());
                prop_assert_eq!(ranked.rank(element), plain.range(..element).count());
            }
        }
    }
}

//! What each observer was last told of whom, for all observers in one array.
//!
//! Each tick reads the old array from front to back and writes a new one. Compared with a list or table
//! per observer this touches memory in order, and allocates only when the whole world remembers more
//! pairs than ever before.

use machine::Time;

/// One remembered pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// When the observer was last told; for a newcomer not told yet, when it was first seen. Later by the time that
    /// it was out of view while it was owed an update.
    pub(crate) last: Time,
    /// When it was last found to be of interest.
    pub(crate) seen: Time,
    pub(crate) subject: u32,
    /// Whether the observer was ever told.
    pub(crate) heard: bool,
    /// Whether an update was due then and did not fit the budget.
    pub(crate) owed: bool,
}

/// Every observer's entries, one observer after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    old: Vec<Entry>,
    new: Vec<Entry>,
    /// Per slot, where its entries stand in `new` (in `old`, while a tick is under way and the slot's
    /// turn has not come).
    ranges: Vec<(u32, u32)>,
}

impl Memory {
    /// Makes room for one more slot.
    pub(crate) fn add_slot(&mut self) {
        self.ranges.push((0, 0));
    }

    /// Forgets everything that `slot` was told.
    pub(crate) fn clear(&mut self, slot: u32) {
        self.ranges[slot as usize] = (0, 0);
    }

    /// Begins a tick: what was new is old now.
    pub(crate) fn turn(&mut self) {
        std::mem::swap(&mut self.old, &mut self.new);
        self.new.clear();
    }

    /// Brings `slot`'s entries over into the new array, where they can be changed and added to, and
    /// gives the place of the first.
    pub(crate) fn open(&mut self, slot: u32) -> usize {
        let (start, end) = self.ranges[slot as usize];
        let first = self.new.len();
        self.new.extend_from_slice(&self.old[start as usize..end as usize]);
        first
    }

    /// The array that [`Memory::open`] brought entries into.
    pub(crate) fn entries(&mut self) -> &mut Vec<Entry> {
        &mut self.new
    }

    /// Of the entries from `first` on, keeps those that are worth it.
    #[inline]
    pub(crate) fn keep(&mut self, first: usize, is_worth_it: impl Fn(&Entry) -> bool) {
        let mut kept = first;
        for place in first..self.new.len() {
            let entry = self.new[place];
            if is_worth_it(&entry) {
                self.new[kept] = entry;
                kept += 1;
            }
        }
        self.new.truncate(kept);
    }

    /// Ends `slot`'s turn: its entries are those from `first` on.
    pub(crate) fn close(&mut self, slot: u32, first: usize) {
        let end = u32::try_from(self.new.len()).expect("a host remembers fewer than 2^32 pairs");
        self.ranges[slot as usize] = (first as u32, end);
    }
}

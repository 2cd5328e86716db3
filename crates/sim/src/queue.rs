//! The event queue: entries in the order of time, and at one time in the order in which they were pushed.
//!
//! A wheel of wheels instead of a heap, because time only moves forward. Read an instant as eleven
//! digits of six bits. An entry waits on the level of the highest digit in which it differs from the
//! queue's own time, in the slot of that digit. When the time comes to a slot, its entries move to lower
//! levels; on level 0 a slot holds one instant. So an entry moves at most once per level (three times
//! for delays below 262 ms), where a heap compares it with a logarithm of all others.
//!
//! Entries of one instant always share a slot, and slots are lists that keep their order: no insertion
//! number is needed to tell which entry came first. The lists run through one slab, which grows to the largest
//! number of entries that ever waited and is not allocated again.

use machine::Time;

const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;

/// The end of a list.
const NIL: u32 = u32::MAX;

/// Waiting entries. Time does not go back: no entry may be pushed before the one popped last.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    nodes: Vec<QueueNode<T>>,
    /// The first node to reuse.
    free: u32,
    levels: [Level; LEVELS],
    /// One bit per level that holds anything.
    occupied: u32,
    /// No entry lies before this, in microseconds.
    base: u64,
}

#[derive(Debug)]
struct QueueNode<T> {
    at: u64,
    next: u32,
    item: T,
}

#[derive(Clone, Debug)]
struct Level {
    /// One bit per slot that holds anything.
    occupied: u64,
    slots: [List; SLOTS],
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

impl<T: Copy> EventQueue<T> {
    pub(crate) fn new() -> Self {
        let list = List { first: NIL, last: NIL };
        let level = Level { occupied: 0, slots: [list; SLOTS] };
        Self {
            nodes: Vec::new(),
            free: NIL,
            levels: std::array::from_fn(|_| level.clone()),
            occupied: 0,
            base: 0,
        }
    }

    /// Adds `item` at `at`, behind everything that is already there.
    pub(crate) fn push(&mut self, at: Time, item: T) {
        let at = at.as_micros();
        assert!(self.base <= at, "the past cannot be changed");
        let node = self.store(QueueNode { at, next: NIL, item });
        self.link(node, at);
    }

    /// Takes the earliest entry, unless it lies after `limit`. The queue's own time never passes
    /// `limit`, so that entries between `limit` and the next one can still be pushed.
    pub(crate) fn pop_until(&mut self, limit: Time) -> Option<(Time, T)> {
        while self.occupied != 0 {
            let level = self.occupied.trailing_zeros();
            let slot = self.levels[level as usize].occupied.trailing_zeros();
            let start = slot_start(self.base, level, slot);
            // The slot begins after the limit; `base` stays, so that earlier entries can still be pushed.
            if limit.as_micros() < start {
                return None;
            }
            // No entry lies before `start`: this is the lowest slot of the lowest level that holds anything.
            self.base = start;
            if level == 0 {
                return Some((Time::from_micros(start), self.take_first(slot)));
            }
            self.spread(level, slot);
        }
        None
    }

    fn store(&mut self, node: QueueNode<T>) -> u32 {
        if self.free == NIL {
            let index = u32::try_from(self.nodes.len()).ok().filter(|&it| it != NIL);
            self.nodes.push(node);
            return index.expect("fewer than 2^32 entries wait");
        }
        let index = self.free;
        self.free = self.nodes[index as usize].next;
        self.nodes[index as usize] = node;
        index
    }

    /// Appends a node to the slot where its time belongs, seen from `base`.
    fn link(&mut self, node: u32, at: u64) {
        let (number, slot) = place(self.base, at);
        let level = &mut self.levels[number];
        let list = &mut level.slots[slot];
        if level.occupied & (1 << slot) == 0 {
            level.occupied |= 1 << slot;
            self.occupied |= 1 << number;
            list.first = node;
        } else {
            self.nodes[list.last as usize].next = node;
        }
        list.last = node;
    }

    /// Moves a slot whose time has come to lower levels, in order.
    fn spread(&mut self, level: u32, slot: u32) {
        let mut node = self.levels[level as usize].slots[slot as usize].first;
        self.mark_empty(level, slot);
        while node != NIL {
            let QueueNode { at, next, .. } = self.nodes[node as usize];
            // `link` appends the node to another list, whose end it becomes.
            self.nodes[node as usize].next = NIL;
            self.link(node, at);
            node = next;
        }
    }

    fn take_first(&mut self, slot: u32) -> T {
        let list = &mut self.levels[0].slots[slot as usize];
        let index = list.first;
        let node = &mut self.nodes[index as usize];
        list.first = node.next;
        // The node becomes the head of the free list, and its place is reused first.
        node.next = self.free;
        let item = node.item;
        self.free = index;
        if list.first == NIL {
            self.mark_empty(0, slot);
        }
        item
    }

    fn mark_empty(&mut self, level: u32, slot: u32) {
        let occupied = &mut self.levels[level as usize].occupied;
        *occupied &= !(1 << slot);
        if *occupied == 0 {
            self.occupied &= !(1 << level);
        }
    }
}

/// The level and slot of `at`, seen from `base`.
fn place(base: u64, at: u64) -> (usize, usize) {
    // The lowest bit is set so that an equal time lands on level 0.
    let highest = ((base ^ at) | 1).ilog2();
    let level = highest / DIGIT_BITS;
    (level as usize, (at >> (level * DIGIT_BITS)) as usize % SLOTS)
}

/// The first instant of a slot, seen from `base`.
fn slot_start(base: u64, level: u32, slot: u32) -> u64 {
    let shift = level * DIGIT_BITS;
    let above = u64::MAX.checked_shl(shift + DIGIT_BITS).unwrap_or(0);
    (base & above) | (u64::from(slot) << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum QueueStep {
        /// Push this long after the last limit.
        Push(u64),
        /// Pop everything up to this long after the last limit.
        Advance(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<QueueStep>> {
        let ahead = prop_oneof![0u64..4, 0u64..5_000, 0u64..10_000_000, 0u64..u64::MAX / 128];
        let step = (any::<bool>(), ahead)
            .prop_map(|(push, by)| if push { QueueStep::Push(by) } else { QueueStep::Advance(by) });
        proptest::collection::vec(step, 0..100)
    }

    fn pop_both(queue: &mut EventQueue<usize>, model: &mut BTreeMap<(u64, usize), usize>, limit: u64) {
        while let Some((at, item)) = queue.pop_until(Time::from_micros(limit)) {
            let (key, expected) = model.pop_first().expect("the model holds as many");
            assert_eq!((at.as_micros(), item), (key.0, expected));
        }
        assert!(model.first_key_value().is_none_or(|(key, _)| limit < key.0), "an entry was held back");
    }

    proptest! {
        #[test]
        fn pops_in_order_of_time_then_of_pushing(steps in steps()) {
            let (mut queue, mut model, mut now) = (EventQueue::new(), BTreeMap::new(), 0);
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    QueueStep::Push(by) => {
                        queue.push(Time::from_micros(now + by), number);
                        model.insert((now + by, number), number);
                    }
                    QueueStep::Advance(by) => {
                        now += by;
                        pop_both(&mut queue, &mut model, now);
                    }
                }
            }
            pop_both(&mut queue, &mut model, u64::MAX);
            prop_assert!(model.is_empty());
        }
    }

    #[test]
    fn the_end_of_time_has_a_place() {
        let mut queue = EventQueue::new();
        queue.push(Time::MAX, 'b');
        queue.push(Time::ZERO, 'a');
        assert_eq!(queue.pop_until(Time::MAX), Some((Time::ZERO, 'a')));
        assert_eq!(queue.pop_until(Time::MAX - machine::Span::from_micros(1)), None);
        assert_eq!(queue.pop_until(Time::MAX), Some((Time::MAX, 'b')));
    }

    #[test]
    fn nodes_are_reused() {
        let mut queue = EventQueue::new();
        for round in 0..1_000 {
            queue.push(Time::from_micros(round), round);
            queue.push(Time::from_micros(round + 70), round);
            queue.pop_until(Time::MAX);
            queue.pop_until(Time::from_micros(round));
        }
        assert!(queue.nodes.len() < 200, "{} nodes", queue.nodes.len());
    }

    #[test]
    #[should_panic(expected = "the past cannot be changed")]
    fn time_does_not_go_back() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_millis(2), ());
        queue.pop_until(Time::MAX);
        queue.push(Time::from_millis(1), ());
    }
}

//! Positions, headings and sizes of all objects in the engine, as arrays by slot.

use space::{COORDINATE_MAX, COORDINATE_MIN, Heading, Position};
use std::collections::VecDeque;

/// An index into the engine's arrays, given to an object that enters. It is given out again some time after its
/// owner left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u32);

impl Slot {
    /// The slot as an index into an array.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All objects in the engine, by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotTable {
    pub(crate) xs: Vec<i32>,
    pub(crate) ys: Vec<i32>,
    /// The heading of each object as a unit vector, as policies need it.
    pub(crate) facing: Vec<(f32, f32)>,
    /// Bytes that an update of each object costs a budget.
    pub(crate) bytes: Vec<u32>,
    /// Number of changes of each object, in its lowest byte.
    pub(crate) versions: Vec<u8>,
    /// One bit per slot: set if the slot has an owner.
    present: Vec<u64>,
    /// Slots whose owner left, each with the number of ticks before. Observers may still remember them.
    leaving: VecDeque<(u64, u32)>,
    free: Vec<u32>,
}

impl SlotTable {
    /// Gives a free slot, or a new one at the end of the arrays.
    pub(crate) fn enter(&mut self, position: Position, heading: Heading) -> Slot {
        let slot = self.free.pop().map_or_else(|| self.add_slot(), Slot);
        self.set_present(slot, true);
        self.place(slot, position);
        self.facing[slot.index()] = heading.unit();
        self.bytes[slot.index()] = 0;
        slot
    }

    /// Empties a slot, after so many ticks. It has no owner until every group of observers has had a tick, so that no observer
    /// mistakes the next owner for the last.
    pub(crate) fn leave(&mut self, slot: Slot, ticks: u64) {
        if self.is_present(slot) {
            self.set_present(slot, false);
            // The grid sorts all slots, so an empty one needs a place where it costs little.
            self.place(slot, place_of_empty(slot));
            self.leaving.push_back((ticks, slot.0));
        }
    }

    /// Frees the slots whose owners left before the tick of this number: no observer remembers them.
    pub(crate) fn recycle(&mut self, before: u64) {
        while let Some((_, slot)) = self.leaving.pop_front_if(|it| it.0 < before) {
            self.free.push(slot);
        }
    }

    pub(crate) fn place(&mut self, slot: Slot, position: Position) {
        (self.xs[slot.index()], self.ys[slot.index()]) = (position.x(), position.y());
    }

    pub(crate) fn is_present(&self, slot: Slot) -> bool {
        self.present[slot.index() / 64] >> (slot.0 % 64) & 1 == 1
    }

    fn set_present(&mut self, slot: Slot, present: bool) {
        let word = &mut self.present[slot.index() / 64];
        *word = *word & !(1 << (slot.0 % 64)) | u64::from(present) << (slot.0 % 64);
    }

    fn add_slot(&mut self) -> Slot {
        let slot = u32::try_from(self.xs.len()).ok().filter(|&it| it != u32::MAX);
        let slot = Slot(slot.expect("fewer than 2^32 - 1 slots"));
        self.xs.push(0);
        self.ys.push(0);
        self.facing.push((1.0, 0.0));
        self.bytes.push(0);
        self.versions.push(0);
        self.present.resize(slot.index() / 64 + 1, 0);
        slot
    }
}

/// A place for an empty slot: a different one for each slot, spread evenly over all coordinates (by the plastic
/// number's powers). If all were in one place, an observer near its cell, or near a cell that shares its slot in the
/// grid, would look at all of them.
fn place_of_empty(slot: Slot) -> Position {
    let along = |step: u32| {
        let width = i64::from(COORDINATE_MAX) - i64::from(COORDINATE_MIN);
        i64::from(COORDINATE_MIN) + i64::from(slot.0.wrapping_mul(step)) * width / i64::from(u32::MAX)
    };
    Position::saturating(along(0xc13f_a9a9), along(0x91e1_0da5))
}

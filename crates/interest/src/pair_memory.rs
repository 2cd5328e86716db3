//! The last update of each pair of observer and subject, for all observers in one array.
//!
//! Each tick reads the old array from front to back and writes a new one. Compared with a list or table per observer
//! this touches memory in order, and allocates only when all observers together remember more pairs than there is room
//! for. A crowd of n remembers n² pairs; some time after it dispersed, the memory is given back.

use machine::{Span, Time};

/// A subject that one observer remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RememberedPair {
    /// Time of the last update; for a newcomer without one, the time when it was first seen.
    pub(crate) last: Time,
    /// Time when it was last found relevant.
    pub(crate) seen: Time,
    pub(crate) subject: u32,
    /// Milliseconds since `last` for which it was out of view while it was owed an update. Counts up to a minute;
    /// longer absence counts as waiting, which only brings its turn nearer.
    away: u16,
    /// Number of changes of the subject when the last update was sent, in its lowest byte.
    version: u8,
    /// Whether it was told and is owed, and the number of updates since the subject changed.
    flags: PairFlags,
}

/// Three facts in one byte.
#[derive(Clone, Copy, Debug, Default)]
struct PairFlags(u8);

impl PairFlags {
    const TOLD: u8 = 1;
    const OWED: u8 = 2;
    /// The number of updates since the subject changed, from this bit on.
    const REPEATS: u32 = 2;

    const fn repeats(self) -> u8 {
        self.0 >> Self::REPEATS
    }

    const fn with_owed(self, owed: bool) -> Self {
        Self(if owed { self.0 | Self::OWED } else { self.0 & !Self::OWED })
    }
}

/// The number of updates up to which it is counted whether the subject has changed.
const REPEATS_MAX: u8 = 2;

// Two bytes for the time away, because a larger entry is felt: at 32 bytes a tick of 16,000 takes a fifth longer.
const _: () = assert!(size_of::<RememberedPair>() == 24);

impl RememberedPair {
    /// A subject that is seen for the first time: its first update is due.
    pub(crate) const fn newcomer(subject: u32, now: Time) -> Self {
        let flags = PairFlags(0).with_owed(true);
        Self { last: now, seen: now, subject, away: 0, version: 0, flags }
    }

    /// True if the observer ever got an update of it.
    pub(crate) const fn told(&self) -> bool {
        self.flags.0 & PairFlags::TOLD != 0
    }

    /// True if an update was due when it was last seen and did not fit the budget.
    pub(crate) const fn owed(&self) -> bool {
        self.flags.0 & PairFlags::OWED != 0
    }

    /// It is relevant now, and an update is due or not.
    pub(crate) const fn mark_seen(&mut self, now: Time, owed: bool) {
        (self.seen, self.flags) = (now, self.flags.with_owed(owed));
    }

    /// True if the observer got the subject's last change, and got it twice: one update may have been lost.
    pub(crate) const fn is_known_well(&self, version: u8) -> bool {
        self.told() && self.version == version && REPEATS_MAX <= self.flags.repeats()
    }

    /// Adds time for which it was out of view while it was owed an update.
    pub(crate) fn add_time_away(&mut self, span: Span) {
        self.away = self.away.saturating_add(u16::try_from(span.as_millis()).unwrap_or(u16::MAX));
    }

    /// The time for which it has waited in view.
    pub(crate) fn waited(&self, now: Time) -> Span {
        now.since(self.last + Span::from_millis(u64::from(self.away)))
    }

    /// Notes that the observer gets an update now, of the subject as it is after so many changes.
    pub(crate) fn mark_sent(&mut self, now: Time, version: u8) {
        let is_repeat = self.told() && self.version == version;
        let repeats = if is_repeat { REPEATS_MAX.min(self.flags.repeats() + 1) } else { 1 };
        let flags = PairFlags(PairFlags::TOLD | repeats << PairFlags::REPEATS);
        *self = Self { last: now, away: 0, version, flags, ..*self };
    }
}

/// The remembered pairs of all observers, one observer after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairMemory {
    old: Vec<RememberedPair>,
    new: Vec<RememberedPair>,
    /// Per slot, the range of its entries in `new` (in `old`, while a tick is under way and the slot's
    /// turn has not come).
    ranges: Vec<(u32, u32)>,
    unused: UnusedCapacity,
}

/// The time for which the arrays have been far too large.
#[derive(Clone, Copy, Debug, Default)]
struct UnusedCapacity {
    ticks: u32,
    /// The most entries that were used meanwhile.
    most: usize,
}

/// Arrays are too large when their capacity is more than this many times the used entries,
const UNUSED_TIMES: usize = 8;
/// plus this many entries: a megabyte and a half, which is not worth giving back.
const UNUSED_ENTRIES: usize = 1 << 16;
/// They are cut when they have been too large for this many ticks in a row, 100 seconds at ten a second: cut at once, they would
/// have to grow again when the players of a crowd turn round.
const UNUSED_TICKS: u32 = 1_000;

impl PairMemory {
    /// Makes room for one more slot.
    pub(crate) fn add_slot(&mut self) {
        self.ranges.push((0, 0));
    }

    /// Forgets all updates that `slot` got.
    pub(crate) fn clear(&mut self, slot: u32) {
        self.ranges[slot as usize] = (0, 0);
    }

    /// Begins a tick: the new array of the last tick is the old one now.
    pub(crate) fn begin_tick(&mut self) {
        std::mem::swap(&mut self.old, &mut self.new);
        self.new.clear();
        self.give_back();
    }

    /// Cuts the arrays if they have been far too large for long.
    fn give_back(&mut self) {
        let used = self.old.len();
        if self.old.capacity().max(self.new.capacity()) <= UNUSED_TIMES * used + UNUSED_ENTRIES {
            self.unused = UnusedCapacity::default();
            return;
        }
        self.unused = UnusedCapacity { ticks: self.unused.ticks + 1, most: self.unused.most.max(used) };
        if UNUSED_TICKS <= self.unused.ticks {
            self.cut(self.unused.most);
        }
    }

    /// Gives back the memory that `most` entries do not need, with some room to grow.
    fn cut(&mut self, most: usize) {
        self.old.shrink_to(2 * most + UNUSED_ENTRIES);
        self.new.shrink_to(2 * most + UNUSED_ENTRIES);
        self.unused = UnusedCapacity::default();
    }

    /// Gives all memory back. The caller has cleared every slot.
    pub(crate) fn empty(&mut self) {
        self.old.clear();
        self.new.clear();
        self.cut(0);
    }

    /// Copies `slot`'s entries into the new array, where they can be changed and added to, and
    /// returns the index of the first.
    pub(crate) fn open(&mut self, slot: u32) -> usize {
        let (start, end) = self.ranges[slot as usize];
        let first = self.new.len();
        // In the order of the observers' turns, so that the next tick reads memory in order.
        self.new.extend_from_slice(&self.old[start as usize..end as usize]);
        first
    }

    /// The array that [`PairMemory::open`] brought entries into.
    pub(crate) fn entries(&mut self) -> &mut Vec<RememberedPair> {
        &mut self.new
    }

    /// Keeps those entries from `first` on for which `should_keep` is true.
    #[inline]
    pub(crate) fn keep(&mut self, first: usize, should_keep: impl Fn(&RememberedPair) -> bool) {
        let mut kept = first;
        for place in first..self.new.len() {
            let entry = self.new[place];
            if should_keep(&entry) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn in which the only slot remembers subjects up to `count`.
    fn turn(memory: &mut PairMemory, count: u32) {
        memory.begin_tick();
        let first = memory.open(0);
        memory.keep(first, |entry| entry.subject < count);
        let known = memory.entries().len() as u32;
        memory.entries().extend((known..count).map(|it| RememberedPair::newcomer(it, Time::ZERO)));
        memory.close(0, first);
    }

    fn subjects(memory: &mut PairMemory) -> Vec<u32> {
        memory.entries().iter().map(|it| it.subject).collect()
    }

    #[test]
    fn time_out_of_view_is_no_waiting_up_to_a_minute() {
        let mut entry = RememberedPair::newcomer(1, Time::ZERO);
        let now = Time::from_millis(600_000);
        entry.add_time_away(Span::from_millis(20_000));
        entry.add_time_away(Span::from_millis(30_000));
        assert_eq!(entry.waited(now), Span::from_millis(550_000));
        entry.add_time_away(Span::from_millis(400_000));
        assert_eq!(entry.waited(now), Span::from_millis(600_000 - u64::from(u16::MAX)));
    }

    #[test]
    fn memory_that_is_not_needed_for_long_is_given_back_and_no_other() {
        let (crowd, few) = (1 << 20, 1_000);
        let mut memory = PairMemory::default();
        memory.add_slot();
        turn(&mut memory, crowd);
        turn(&mut memory, crowd);
        for _ in 0..UNUSED_TICKS - 1 {
            turn(&mut memory, few);
        }
        turn(&mut memory, crowd); // They come back in time.
        for _ in 0..UNUSED_TICKS {
            turn(&mut memory, few);
        }
        assert!(crowd as usize <= memory.old.capacity().min(memory.new.capacity()));
        turn(&mut memory, few);
        assert!(memory.old.capacity().max(memory.new.capacity()) < 70_000);
        assert_eq!(subjects(&mut memory), (0..few).collect::<Vec<_>>());
    }
}

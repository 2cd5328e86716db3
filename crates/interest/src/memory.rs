//! What each observer was last told of whom, for all observers in one array.
//!
//! Each tick reads the old array from front to back and writes a new one. Compared with a list or table
//! per observer this touches memory in order, and allocates only when the whole world remembers more
//! pairs than it had room for. A crowd remembers itself squared; some time after it dispersed, its memory is given back.

use machine::{Span, Time};

/// One remembered pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// When the observer was last told; for a newcomer not told yet, when it was first seen.
    pub(crate) last: Time,
    /// When it was last found to be of interest.
    pub(crate) seen: Time,
    pub(crate) subject: u32,
    /// For how many milliseconds since `last` it was out of view while it was owed an update. Counts up to a minute;
    /// what is longer counts as waiting, which only brings its turn nearer.
    away: u16,
    /// Whether the observer was ever told.
    pub(crate) heard: bool,
    /// Whether an update was due then and did not fit the budget.
    pub(crate) owed: bool,
}

// Two bytes for the time away, because a larger entry is felt: at 32 bytes a tick of 16,000 takes a fifth longer.
const _: () = assert!(size_of::<Entry>() == 24);

impl Entry {
    /// Somebody who is seen for the first time: nothing was told of them, and something must be.
    pub(crate) const fn newcomer(subject: u32, now: Time) -> Self {
        Self { last: now, seen: now, subject, away: 0, heard: false, owed: true }
    }

    /// It was out of view for some time, and is owed an update.
    pub(crate) fn stay_away(&mut self, span: Span) {
        self.away = self.away.saturating_add(u16::try_from(span.as_millis()).unwrap_or(u16::MAX));
    }

    /// How long it has waited in view.
    pub(crate) fn waited(&self, now: Time) -> Span {
        now.since(self.last + Span::from_millis(u64::from(self.away)))
    }

    /// The observer is told.
    pub(crate) fn tell(&mut self, now: Time) {
        *self = Self { last: now, away: 0, heard: true, owed: false, ..*self };
    }
}

/// Every observer's entries, one observer after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    old: Vec<Entry>,
    new: Vec<Entry>,
    /// Per slot, where its entries stand in `new` (in `old`, while a tick is under way and the slot's
    /// turn has not come).
    ranges: Vec<(u32, u32)>,
    slack: Slack,
}

/// For how long the arrays have been far too large.
#[derive(Clone, Copy, Debug, Default)]
struct Slack {
    turns: u32,
    /// The most entries that were used meanwhile.
    most: usize,
}

/// Arrays are too large when they could hold this many times what is used,
const SLACK_TIMES: usize = 8;
/// and this many entries more: a megabyte and a half, which is not worth the trouble.
const SLACK_ENTRIES: usize = 1 << 16;
/// They are cut when they have been too large for this many turns in a row, about a minute: who cuts at once grows again
/// when the crowd looks the other way.
const SLACK_TURNS: u32 = 1_000;

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
        self.give_back();
    }

    /// Cuts the arrays if they have been far too large for long.
    fn give_back(&mut self) {
        let used = self.old.len();
        if self.old.capacity().max(self.new.capacity()) <= SLACK_TIMES * used + SLACK_ENTRIES {
            self.slack = Slack::default();
            return;
        }
        self.slack = Slack { turns: self.slack.turns + 1, most: self.slack.most.max(used) };
        if SLACK_TURNS <= self.slack.turns {
            self.cut(self.slack.most);
        }
    }

    /// Gives back what `most` entries do not need, with some room to grow.
    fn cut(&mut self, most: usize) {
        self.old.shrink_to(2 * most + SLACK_ENTRIES);
        self.new.shrink_to(2 * most + SLACK_ENTRIES);
        self.slack = Slack::default();
    }

    /// Nobody remembers anything any more: every slot was cleared.
    pub(crate) fn empty(&mut self) {
        self.old.clear();
        self.new.clear();
        self.cut(0);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn in which the only slot remembers subjects up to `count`.
    fn turn(memory: &mut Memory, count: u32) {
        memory.turn();
        let first = memory.open(0);
        memory.keep(first, |entry| entry.subject < count);
        let known = memory.entries().len() as u32;
        memory.entries().extend((known..count).map(|it| Entry::newcomer(it, Time::ZERO)));
        memory.close(0, first);
    }

    fn subjects(memory: &mut Memory) -> Vec<u32> {
        memory.entries().iter().map(|it| it.subject).collect()
    }

    #[test]
    fn who_is_away_does_not_wait_up_to_a_minute() {
        let mut entry = Entry::newcomer(1, Time::ZERO);
        let now = Time::from_millis(600_000);
        entry.stay_away(Span::from_millis(20_000));
        entry.stay_away(Span::from_millis(30_000));
        assert_eq!(entry.waited(now), Span::from_millis(550_000));
        entry.stay_away(Span::from_millis(400_000));
        assert_eq!(entry.waited(now), Span::from_millis(600_000 - u64::from(u16::MAX)));
    }

    #[test]
    fn memory_that_is_not_needed_for_long_is_given_back_and_no_other() {
        let (crowd, few) = (1 << 20, 1_000);
        let mut memory = Memory::default();
        memory.add_slot();
        turn(&mut memory, crowd);
        turn(&mut memory, crowd);
        for _ in 0..SLACK_TURNS - 1 {
            turn(&mut memory, few);
        }
        turn(&mut memory, crowd); // They come back in time.
        for _ in 0..SLACK_TURNS {
            turn(&mut memory, few);
        }
        assert!(crowd as usize <= memory.old.capacity().min(memory.new.capacity()));
        turn(&mut memory, few);
        assert!(memory.old.capacity().max(memory.new.capacity()) < 70_000);
        assert_eq!(subjects(&mut memory), (0..few).collect::<Vec<_>>());
    }
}

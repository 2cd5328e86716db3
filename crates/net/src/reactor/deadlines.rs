//! The next deadlines of many owners. An entry that is out of date is dropped when its time comes.

use machine::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Deadlines by owner. Each owner keeps the time for which it is armed, and passes it to [`Deadlines::arm`].
#[derive(Debug, Default)]
pub struct Deadlines(BinaryHeap<Reverse<(Time, usize)>>);

impl Deadlines {
    /// Sees to it that the owner comes out of [`Deadlines::pop_due`] at `at`, or before. `armed` is the owner's own note.
    pub fn arm(&mut self, owner: usize, at: Time, armed: &mut Option<Time>) {
        // A later time needs no entry: the owner comes out too early and is armed again.
        if armed.is_none_or(|it| at < it) {
            *armed = Some(at);
            self.0.push(Reverse((at, owner)));
        }
    }

    /// The next owner whose time has come, with the time it was armed for.
    pub fn pop_due(&mut self, now: Time) -> Option<(usize, Time)> {
        let due = self.0.peek().is_some_and(|it| it.0.0 <= now);
        due.then(|| self.0.pop()).flatten().map(|Reverse((at, owner))| (owner, at))
    }

    /// The next time at which an owner comes out.
    pub fn next(&self) -> Option<Time> {
        self.0.peek().map(|it| it.0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_comes_out_at_its_earliest_time_and_again_only_if_armed() {
        let (mut deadlines, mut armed) = (Deadlines::default(), None);
        let at = Time::from_micros;
        deadlines.arm(7, at(30), &mut armed);
        deadlines.arm(7, at(40), &mut armed);
        deadlines.arm(7, at(20), &mut armed);
        assert_eq!((armed, deadlines.next()), (Some(at(20)), Some(at(20))));
        assert_eq!(deadlines.pop_due(at(19)), None);
        assert_eq!(deadlines.pop_due(at(35)), Some((7, at(20))));
        // The entry for 30 is out of date: its owner is armed for nothing, and ignores it.
        assert_eq!(deadlines.pop_due(at(35)), Some((7, at(30))));
        assert_eq!(deadlines.pop_due(at(99)), None);
    }
}

//! Faults that last: what is wrong in every inspection of a span.

use super::EVERY;
use machine::{Span, Time};
use std::collections::BTreeMap;

/// The faults of now, each with the time since which it lasts.
#[derive(Debug)]
pub struct LastingFaults<K> {
    wrong: BTreeMap<K, FaultSpan>,
    inspected: Time,
}

#[derive(Clone, Copy, Debug)]
struct FaultSpan {
    since: Time,
    reported: bool,
}

impl<K> Default for LastingFaults<K> {
    fn default() -> Self {
        Self { wrong: BTreeMap::new(), inspected: Time::ZERO }
    }
}

impl<K: Ord + Copy> LastingFaults<K> {
    /// Takes the faults of this inspection. Returns those that were there in every inspection for longer than `bound`,
    /// each once.
    ///
    /// After a pause nothing is known of the time between: every fault starts anew.
    pub fn longer_than(&mut self, bound: Span, now: Time, wrong: impl IntoIterator<Item = K>) -> Vec<K> {
        let paused = EVERY < now.since(self.inspected);
        let before = std::mem::take(&mut self.wrong);
        self.inspected = now;
        let spell = |key: K| {
            let known = before.get(&key).filter(|_| !paused).copied();
            (key, known.unwrap_or(FaultSpan { since: now, reported: false }))
        };
        self.wrong = wrong.into_iter().map(spell).collect();
        let mut old = Vec::new();
        for (&key, it) in &mut self.wrong {
            if bound < now.since(it.since) && !std::mem::replace(&mut it.reported, true) {
                old.push(key);
            }
        }
        old
    }

    /// Ends a fault between two inspections.
    pub fn end(&mut self, key: K) {
        self.wrong.remove(&key);
    }

    /// Returns whether there is no fault now.
    pub fn is_empty(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Returns whether this fault lasts now.
    pub fn has(&self, key: K) -> bool {
        self.wrong.contains_key(&key)
    }

    /// All faults that last now.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.wrong.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wrong_all_the_time_counts_and_only_once() {
        let at = |second: u64| Time::from_millis(1_000 * second);
        let bound = Span::from_millis(1_500);
        let mut lasting = LastingFaults::default();
        assert!(lasting.longer_than(bound, at(1), ["a", "b"]).is_empty());
        assert!(lasting.longer_than(bound, at(2), ["a"]).is_empty());
        assert_eq!(lasting.longer_than(bound, at(3), ["a", "b"]), ["a"]);
        assert!(
            lasting.longer_than(bound, at(4), ["a", "b"]).is_empty(),
            "a was reported, b was right in between"
        );
        assert_eq!(lasting.longer_than(bound, at(5), ["a", "b"]), ["b"]);
        assert!(lasting.longer_than(bound, at(9), ["a", "c"]).is_empty(), "there was a pause");
        assert!(lasting.longer_than(bound, at(10), ["a", "c"]).is_empty());
        assert_eq!(lasting.longer_than(bound, at(11), ["a", "c"]), ["a", "c"]);
    }
}

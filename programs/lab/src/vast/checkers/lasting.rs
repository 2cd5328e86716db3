//! What is wrong in every look for a while.

use super::EVERY;
use machine::{Span, Time};
use std::collections::BTreeMap;

/// What is wrong now, and since when.
#[derive(Debug)]
pub struct Lasting<K> {
    wrong: BTreeMap<K, Spell>,
    looked: Time,
}

#[derive(Clone, Copy, Debug)]
struct Spell {
    since: Time,
    told: bool,
}

impl<K> Default for Lasting<K> {
    fn default() -> Self {
        Self { wrong: BTreeMap::new(), looked: Time::ZERO }
    }
}

impl<K: Ord + Copy> Lasting<K> {
    /// Takes what is wrong in this look; says what has been wrong in every look for longer than `bound`, once each time.
    ///
    /// After a pause nothing is known of what was between: everything starts anew.
    pub fn longer_than(&mut self, bound: Span, now: Time, wrong: impl IntoIterator<Item = K>) -> Vec<K> {
        let paused = EVERY < now.since(self.looked);
        let before = std::mem::take(&mut self.wrong);
        self.looked = now;
        let spell = |key: K| {
            let known = before.get(&key).filter(|_| !paused).copied();
            (key, known.unwrap_or(Spell { since: now, told: false }))
        };
        self.wrong = wrong.into_iter().map(spell).collect();
        let mut old = Vec::new();
        for (&key, it) in &mut self.wrong {
            if bound < now.since(it.since) && !std::mem::replace(&mut it.told, true) {
                old.push(key);
            }
        }
        old
    }

    /// This is right after all, between two looks.
    pub fn end(&mut self, key: K) {
        self.wrong.remove(&key);
    }

    /// Whether nothing is wrong now.
    pub fn is_empty(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Whether this is wrong now.
    pub fn has(&self, key: K) -> bool {
        self.wrong.contains_key(&key)
    }

    /// What is wrong now.
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
        let mut lasting = Lasting::default();
        assert!(lasting.longer_than(bound, at(1), ["a", "b"]).is_empty());
        assert!(lasting.longer_than(bound, at(2), ["a"]).is_empty());
        assert_eq!(lasting.longer_than(bound, at(3), ["a", "b"]), ["a"]);
        assert!(lasting.longer_than(bound, at(4), ["a", "b"]).is_empty(), "a was told, b was right");
        assert_eq!(lasting.longer_than(bound, at(5), ["a", "b"]), ["b"]);
        assert!(lasting.longer_than(bound, at(9), ["a", "c"]).is_empty(), "nobody looked for a while");
        assert!(lasting.longer_than(bound, at(10), ["a", "c"]).is_empty());
        assert_eq!(lasting.longer_than(bound, at(11), ["a", "c"]), ["a", "c"]);
    }
}

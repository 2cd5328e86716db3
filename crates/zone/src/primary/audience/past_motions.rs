//! Motions of a moment ago. An event of several zones happens at one moment of world time, and its participants hear of
//! it a little later: they answer with their objects as they were then.

use crate::config::PAST_MAX;
use machine::Time;
use rustc_hash::FxHashMap;
use space::{Motion, ObjectId};
use std::collections::VecDeque;

/// Motions that were replaced a short while ago, oldest first.
#[derive(Debug, Default)]
pub(super) struct PastMotions {
    of: FxHashMap<ObjectId, VecDeque<Motion>>,
    /// When each motion was replaced: the order in which they are forgotten.
    order: VecDeque<(Time, ObjectId)>,
}

impl PastMotions {
    /// Keeps a motion that ends now.
    pub(super) fn keep(&mut self, object: ObjectId, motion: Motion, now: Time) {
        self.of.entry(object).or_default().push_back(motion);
        self.order.push_back((now, object));
    }

    /// An object's motion at a moment of world time, if `motion` is its motion now. An object that an event has placed
    /// elsewhere since then counts as being there.
    pub(super) fn at(&self, object: ObjectId, motion: &Motion, time: Time) -> Motion {
        if motion.start.time() <= time {
            return *motion;
        }
        let then = self.of.get(&object).into_iter().flatten().rev();
        let mut then = then.filter(|it| it.generation == motion.generation);
        then.find(|it| it.start.time() <= time).copied().unwrap_or(*motion)
    }

    /// Forgets motions that ended more than `PAST_MAX` ago.
    pub(super) fn forget(&mut self, now: Time) {
        while let Some((_, object)) = self.order.pop_front_if(|it| PAST_MAX < now.since(it.0)) {
            if let Some(motions) = self.of.get_mut(&object) {
                motions.pop_front();
                if motions.is_empty() {
                    self.of.remove(&object);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use space::{Epoch, Millis, ZoneId};

    #[test]
    fn recent_motions_are_known_and_old_ones_are_forgotten() {
        let id = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
        let since = |start, sequence, generation| Motion {
            start: Millis(start),
            sequence,
            generation,
            ..Motion::default()
        };
        let mut past = PastMotions::default();
        past.keep(id, since(100, 1, 0), Time::from_millis(200));
        past.keep(id, since(200, 2, 0), Time::from_millis(300));
        let now = since(300, 3, 0);
        let at =
            |past: &PastMotions, motion: &Motion, time| past.at(id, motion, Time::from_millis(time)).sequence;
        assert_eq!((at(&past, &now, 350), at(&past, &now, 250), at(&past, &now, 100)), (3, 2, 1));
        assert_eq!(at(&past, &now, 50), 3, "before that nothing is known");
        assert_eq!(at(&past, &since(300, 0, 1), 250), 0, "an event moved it since");
        past.forget(Time::from_millis(2_250));
        assert_eq!((at(&past, &now, 250), at(&past, &now, 150)), (2, 3));
        past.forget(Time::from_millis(9_000));
        assert!(past.of.is_empty() && past.order.is_empty());
    }
}

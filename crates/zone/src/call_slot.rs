//! The slot in which a replica notes which call of the game is under way, for a watchdog on another thread.
//!
//! The replica writes, and never waits; the watchdog reads. A watchdog looks again and again, and believes what it read twice
//! in the same call.

use crate::suspect::Suspect;
use game::CallGuard;
use std::sync::atomic::{AtomicU64, Ordering};

/// Notes the call of the game that a replica has under way.
#[derive(Debug, Default)]
pub struct CallSlot {
    /// Odd while a call of the game is under way. Rises by one at its beginning and at its end.
    count: AtomicU64,
    /// The piece of work that the call belongs to; the first word is 0 without one.
    work: [AtomicU64; 4],
}

/// A call of the game that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallUnderWay {
    /// Number of the call: another one has another number.
    pub number: u64,
    /// The piece of work that the call belongs to; `None` for one that executes nothing, such as `Game::show`.
    pub work: Option<Suspect>,
}

impl CallSlot {
    /// Notes the piece of work to which the next calls belong.
    pub fn set_work(&self, work: Option<Suspect>) {
        let words = work.map_or([0; 4], Suspect::to_words);
        for (slot, word) in self.work.iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    /// The piece of work to which calls belong now, for the thread that executes it.
    pub fn work(&self) -> Option<Suspect> {
        Suspect::from_words(self.work.each_ref().map(|it| it.load(Ordering::Relaxed)))
    }

    /// The call that is under way. Its work is right if an earlier look saw the same number.
    pub fn look(&self) -> Option<CallUnderWay> {
        let number = self.count.load(Ordering::Acquire);
        (number % 2 == 1).then(|| CallUnderWay { number, work: self.work() })
    }
}

impl CallGuard for CallSlot {
    /// The call must not panic: the game's panics are caught further within.
    fn within<T>(&self, call: impl FnOnce() -> T) -> T {
        // Only this thread writes, so no addition has to be atomic.
        let before = self.count.load(Ordering::Relaxed);
        self.count.store(before + 1, Ordering::Release);
        let result = call();
        self.count.store(before + 2, Ordering::Release);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use game::PlayerId;

    #[test]
    fn a_call_is_seen_while_it_is_under_way() {
        let slot = CallSlot::default();
        let work = Some(Suspect::Join { player: PlayerId(4), session: 2 });
        assert_eq!(slot.look(), None);
        slot.set_work(work);
        assert_eq!(slot.look(), None);
        let first = slot.within(|| slot.look()).unwrap();
        assert_eq!(first.work, work);
        slot.set_work(None);
        let second = slot.within(|| slot.look()).unwrap();
        assert_eq!(second.work, None);
        assert_ne!(first.number, second.number);
        assert_eq!(slot.look(), None);
    }
}

//! How many bots of a crowd are where, at any moment.

use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The bots of a crowd by where they are now. The others log in, or were refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrowdCounts {
    /// Number of bots of the crowd.
    pub offered: usize,
    /// Number of bots in the world, also while they look for a new primary.
    pub in_world: usize,
    /// Number of bots in the lobby's queue.
    pub queued: usize,
}

/// The counts, shared by all bots.
#[derive(Debug, Default)]
pub(super) struct LiveCounts {
    in_world: AtomicUsize,
    queued: AtomicUsize,
    failed: AtomicU64,
}

impl LiveCounts {
    pub(super) fn counts(&self, offered: usize) -> CrowdCounts {
        let [in_world, queued] = [&self.in_world, &self.queued].map(|it| it.load(Ordering::Relaxed));
        CrowdCounts { offered, in_world, queued }
    }

    pub(super) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Number of bots that could not enter.
    pub(super) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub(super) fn add_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts one bot in one place, until it leaves the place or is dropped.
#[derive(Debug)]
pub(super) struct BotPlace {
    counts: Arc<LiveCounts>,
    place: fn(&LiveCounts) -> &AtomicUsize,
    is_there: bool,
}

impl BotPlace {
    /// The world.
    pub(super) fn world(counts: Arc<LiveCounts>) -> Self {
        Self { counts, place: |it| &it.in_world, is_there: false }
    }

    /// The lobby's queue.
    pub(super) fn queue(counts: Arc<LiveCounts>) -> Self {
        Self { counts, place: |it| &it.queued, is_there: false }
    }

    /// The bot is there.
    pub(super) fn enter(&mut self) {
        if !std::mem::replace(&mut self.is_there, true) {
            (self.place)(&self.counts).fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The bot is not there any more.
    pub(super) fn leave(&mut self) {
        if std::mem::take(&mut self.is_there) {
            (self.place)(&self.counts).fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for BotPlace {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_counts_once_and_only_while_it_is_there() {
        let counts = Arc::new(LiveCounts::default());
        let (mut queue, mut world) = (BotPlace::queue(counts.clone()), BotPlace::world(counts.clone()));
        let now = || counts.counts(5);
        (0..3).for_each(|_| queue.enter());
        assert_eq!(now(), CrowdCounts { offered: 5, in_world: 0, queued: 1 });
        drop(queue);
        (0..2).for_each(|_| world.enter());
        assert_eq!(now(), CrowdCounts { offered: 5, in_world: 1, queued: 0 });
        (0..2).for_each(|_| world.leave());
        world.enter();
        drop(world);
        assert_eq!(now(), CrowdCounts { offered: 5, in_world: 0, queued: 0 });
    }
}

//! What became of one bot's actions and sessions.

use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zone::{LoadLevel, Outcome, PlayerEvent, SearchReason};

/// The latencies of all answers to a crowd in microseconds, if they are measured.
pub(super) type SharedLatencies = Arc<Mutex<Histogram<u64>>>;

/// Counters of one bot.
#[derive(Debug, Default)]
pub(in crate::crowd) struct BotTally {
    /// Actions that were done or refused by the game.
    pub(super) served: AtomicU64,
    /// Actions that were answered "busy": the zone did not look at them.
    pub(super) busy: AtomicU64,
    /// Entries after the home was silent, the first entry aside.
    pub(super) reentered: AtomicU64,
    /// Times that a zone did not let the bot in for good.
    pub(super) closed: AtomicU64,
    /// The bot has been in the world.
    pub(super) has_entered: AtomicBool,
    /// The bot's home is late, so that poses come more rarely.
    pub(super) is_slowed: AtomicBool,
    searches: AtomicBool,
    latencies: Option<SharedLatencies>,
}

impl BotTally {
    pub(super) fn measured(latencies: SharedLatencies) -> Arc<Self> {
        Arc::new(Self { latencies: Some(latencies), ..Self::default() })
    }

    /// Counts an event of the bot's machine, on the thread that runs it.
    pub(in crate::crowd) fn add(&self, event: &PlayerEvent) {
        match event {
            PlayerEvent::Answered(_, outcome, took) => {
                let count = if *outcome == Outcome::Busy { &self.busy } else { &self.served };
                count.fetch_add(1, Ordering::Relaxed);
                if let Some(latencies) = &self.latencies {
                    let mut all = latencies.lock().unwrap_or_else(PoisonError::into_inner);
                    // The histogram begins at one microsecond.
                    all.saturating_record(took.as_micros().max(1));
                }
            }
            PlayerEvent::Searching(why) => {
                self.searches.fetch_or(*why == SearchReason::HomeSilent, Ordering::Relaxed);
            }
            PlayerEvent::Entered(_) => {
                // A player who walks or is put into another zone does not count: no primary was silent.
                let searched = self.searches.swap(false, Ordering::Relaxed);
                let again = self.has_entered.swap(true, Ordering::Relaxed);
                self.reentered.fetch_add(u64::from(searched && again), Ordering::Relaxed);
            }
            PlayerEvent::Load(level) => {
                self.is_slowed.store(*level != LoadLevel::Calm, Ordering::Relaxed);
            }
            PlayerEvent::Closed(_) => _ = self.closed.fetch_add(1, Ordering::Relaxed),
            _ => (),
        }
    }

    /// Served and busy answers so far.
    pub(super) fn answers(&self) -> (u64, u64) {
        (self.served.load(Ordering::Relaxed), self.busy.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Span;
    use space::{Epoch, ObjectId, ZoneId};
    use zone::ActionKey;

    #[test]
    fn an_action_that_was_answered_busy_was_not_served() {
        let tally = BotTally::default();
        for outcome in [Outcome::Done, Outcome::Fault(String::new()), Outcome::Busy] {
            tally.add(&PlayerEvent::Answered(ActionKey { id: 1, number: 1 }, outcome, Span::from_millis(5)));
        }
        assert_eq!(tally.answers(), (2, 1));
    }

    #[test]
    fn a_bot_that_comes_into_another_zone_has_lost_nothing() {
        let tally = BotTally::default();
        let me = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 1 };
        let entries = |events: &[PlayerEvent]| {
            events.iter().for_each(|it| tally.add(it));
            tally.reentered.load(Ordering::Relaxed)
        };
        let entered = || PlayerEvent::Entered(me);
        let silent = || PlayerEvent::Searching(SearchReason::HomeSilent);
        let elsewhere = || PlayerEvent::Searching(SearchReason::AvatarElsewhere);
        assert_eq!(entries(&[silent(), entered()]), 0, "the first entry");
        assert_eq!(entries(&[entered(), elsewhere(), entered()]), 0);
        assert_eq!(entries(&[silent(), entered(), entered()]), 1);
        assert_eq!(entries(&[silent(), elsewhere(), entered()]), 2);
    }
}

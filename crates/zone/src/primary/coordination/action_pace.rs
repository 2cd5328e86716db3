//! The pace of actions: how many actions of one player a late primary executes.
//!
//! A primary that keeps up executes every action as it comes. One that is late gives each player a bucket: it refills once
//! per interval, and a dear action takes more from it than a cheap one. The interval grows while the primary is late and
//! shrinks while it is not. So a player who asks for more than the others waits alone.

use game::PlayerId;
use machine::{Span, Time};
use rustc_hash::FxHashMap;

/// The interval at which a bucket refills when the primary begins to be late.
const FIRST: Span = Span::from_millis(25);

/// The longest interval.
const LONGEST: Span = Span::from_millis(2_000);

/// Below this interval no limit is felt, and none is kept.
const SHORTEST: Span = Span::from_millis(10);

/// Lateness from which on the interval grows, and below which it shrinks.
const LATE: Span = Span::from_millis(100);
const PUNCTUAL: Span = Span::from_millis(50);

/// Pause between two steps of growth: what one step does shows only after a moment.
const GROWS_EVERY: Span = Span::from_millis(100);

/// Number of cheap actions in a full bucket.
const BURST: u64 = 4;

/// The pace of every player's actions.
#[derive(Debug, Default)]
pub(in crate::primary) struct ActionPace {
    /// The interval at which a bucket refills; zero while there is no limit.
    interval: Span,
    /// When the interval grew last.
    grew: Time,
    /// When the bucket of a player who acted lately will be full again.
    full_at: FxHashMap<PlayerId, Time>,
}

impl ActionPace {
    /// Returns whether players are limited.
    pub(in crate::primary) fn is_limited(&self) -> bool {
        Span::ZERO < self.interval
    }

    /// Takes in the primary's lateness.
    pub(in crate::primary) fn measure(&mut self, now: Time, late: Span) {
        if LATE <= late {
            if !self.is_limited() {
                (self.interval, self.grew) = (FIRST, now);
            } else if GROWS_EVERY <= now.since(self.grew) {
                (self.interval, self.grew) = (part(self.interval, 3, 2).min(LONGEST), now);
            }
        } else if late < PUNCTUAL && self.is_limited() {
            self.interval = part(self.interval, 9, 10);
            if self.interval < SHORTEST {
                self.interval = Span::ZERO;
                self.full_at.clear();
            }
        }
        self.full_at.retain(|_, at| now < *at);
    }

    /// Returns whether a player's bucket holds enough for an action.
    pub(in crate::primary) fn allows(&self, player: PlayerId, now: Time) -> bool {
        let full_at = self.full_at.get(&player).copied().unwrap_or(now);
        full_at.since(now) <= self.interval.times(BURST - 1)
    }

    /// Takes the price of an action from a player's bucket. An action of one zone costs 1.
    pub(super) fn charge(&mut self, player: PlayerId, now: Time, price: u64) {
        if self.is_limited() {
            let full_at = self.full_at.entry(player).or_insert(now);
            *full_at = (*full_at).max(now) + self.interval.times(price);
        }
    }
}

/// A fraction of a span.
fn part(span: Span, numerator: u64, denominator: u64) -> Span {
    Span::from_micros(span.as_micros() * numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two players act for ten seconds at a primary that was late, one 60 times per second and the other once. Returns
    /// how many actions of each were allowed.
    fn play(pace: &mut ActionPace) -> (u32, u32) {
        let (mut greedy, mut modest) = (0, 0);
        for step in 0..600 {
            let now = Time::from_micros(10_000_000 + step * 16_667);
            for (player, every, count) in [(PlayerId(1), 1, &mut greedy), (PlayerId(2), 60, &mut modest)] {
                if step % every == 0 && pace.allows(player, now) {
                    pace.charge(player, now, 1);
                    *count += 1;
                }
            }
        }
        (greedy, modest)
    }

    #[test]
    fn a_greedy_player_waits_alone() {
        let mut pace = ActionPace::default();
        assert_eq!(play(&mut pace), (600, 10), "no limit while the primary keeps up");
        for step in 0..14 {
            pace.measure(Time::from_millis(8_000 + 100 * step), LATE);
        }
        assert!(Span::from_millis(1_000) < pace.interval && pace.interval <= LONGEST, "{}", pace.interval);
        pace.interval = Span::from_millis(500);
        let (greedy, modest) = play(&mut pace);
        assert_eq!(modest, 10, "within the bucket");
        assert!((20..=24).contains(&greedy), "{greedy}: two per second, and a full bucket");
    }

    #[test]
    fn the_limit_ends_with_the_lateness() {
        let mut pace = ActionPace::default();
        for step in 0..100 {
            pace.measure(Time::from_millis(100 * step), Span::from_millis(400));
        }
        assert_eq!(pace.interval, LONGEST);
        pace.charge(PlayerId(1), Time::from_millis(10_000), 9);
        assert!(!pace.allows(PlayerId(1), Time::from_millis(10_000)));
        for step in 0..60 {
            pace.measure(Time::from_millis(10_000 + 50 * step), Span::ZERO);
        }
        assert!(!pace.is_limited(), "three seconds later: {}", pace.interval);
        assert!(pace.allows(PlayerId(1), Time::from_millis(13_000)));
    }
}

//! The pace of actions: how much one player may ask of a primary.
//!
//! Every player has a bucket, from which each action takes what it costs: an action that reaches into other zones costs
//! them messages, records and locks, whether the game refuses it in the end or not, and a notice costs a message to each
//! client that hears it. The bucket refills steadily, fast enough for play. What it does not hold waits, and is answered
//! "busy" if it waits for too long.
//!
//! A primary that is late gives each player a second, smaller bucket. It refills once per interval; the interval grows
//! while the primary is late and shrinks while it is not. So a player who asks for more than the others waits alone.

use crate::config::{ACTION_BURST, ACTION_EVERY, HEARERS_PER_UNIT, ZONE_PRICE};
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

/// Number of cheap actions in a full bucket of a primary that is late.
const LATE_BURST: u64 = 4;

/// What an action asks of its primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::primary) enum ActionCost {
    /// It reaches into so many zones, this one among them.
    Zones(usize),
    /// So many clients hear a notice of it: known when it is announced, and added to the cost of its zones.
    Hearers(usize),
}

/// The pace of every player's actions.
#[derive(Debug, Default)]
pub(in crate::primary) struct ActionPace {
    steady: PlayerBuckets,
    late: PlayerBuckets,
    /// The interval at which a bucket of a late primary refills; zero while it is not late.
    interval: Span,
    /// When the interval grew last.
    grew: Time,
}

/// Buckets of players, each stored as the time when it is full again: a full one needs no memory.
#[derive(Debug, Default)]
struct PlayerBuckets(FxHashMap<PlayerId, Time>);

impl ActionCost {
    /// Units of the steady bucket: 1 for an action of this zone alone.
    fn units(self) -> u64 {
        match self {
            Self::Zones(0 | 1) => 1,
            Self::Zones(zones) => ZONE_PRICE * zones as u64,
            Self::Hearers(clients) => (clients / HEARERS_PER_UNIT) as u64,
        }
    }

    /// Units of the bucket of a late primary, which knows no notices: what makes it late is the number of actions.
    fn units_when_late(self) -> u64 {
        match self {
            Self::Zones(0 | 1) => 1,
            Self::Zones(zones) => 2 * zones as u64,
            Self::Hearers(_) => 0,
        }
    }
}

impl PlayerBuckets {
    /// The time until a player's bucket is full.
    fn missing(&self, player: PlayerId, now: Time) -> Span {
        self.0.get(&player).map_or(Span::ZERO, |it| it.since(now))
    }

    /// Takes what refills in this time. No more is missing afterwards than in `most`.
    fn take(&mut self, player: PlayerId, now: Time, refill: Span, most: Span) {
        if Span::ZERO < refill {
            let missing = (self.missing(player, now) + refill).min(most);
            self.0.insert(player, now + missing);
        }
    }

    fn forget_full(&mut self, now: Time) {
        self.0.retain(|_, full_at| now < *full_at);
    }
}

impl ActionPace {
    /// Takes in the primary's lateness.
    pub(in crate::primary) fn measure(&mut self, now: Time, late: Span) {
        if LATE <= late {
            if self.interval == Span::ZERO {
                (self.interval, self.grew) = (FIRST, now);
            } else if GROWS_EVERY <= now.since(self.grew) {
                (self.interval, self.grew) = (part(self.interval, 3, 2).min(LONGEST), now);
            }
        } else if late < PUNCTUAL && Span::ZERO < self.interval {
            self.interval = part(self.interval, 9, 10);
            if self.interval < SHORTEST {
                self.interval = Span::ZERO;
                self.late.0.clear();
            }
        }
        self.steady.forget_full(now);
        self.late.forget_full(now);
    }

    /// Returns whether a player's buckets hold enough for a cheap action. What an action costs is known only later: a dear
    /// one is taken from what comes next.
    pub(in crate::primary) fn allows(&self, player: PlayerId, now: Time) -> bool {
        self.steady.missing(player, now) <= ACTION_EVERY.times(ACTION_BURST - 1)
            && self.late.missing(player, now) <= self.interval.times(LATE_BURST - 1)
    }

    /// Takes the cost of an action from a player's buckets.
    pub(in crate::primary) fn charge(&mut self, player: PlayerId, now: Time, cost: ActionCost) {
        let refill = ACTION_EVERY.times(cost.units());
        // Bounded: the notices of all actions that were executed in one burst come at once.
        self.steady.take(player, now, refill, ACTION_EVERY.times(2 * ACTION_BURST));
        self.late.take(player, now, self.interval.times(cost.units_when_late()), Span::MAX);
    }
}

/// A fraction of a span.
fn part(span: Span, numerator: u64, denominator: u64) -> Span {
    Span::from_micros(span.as_micros() * numerator / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A player asks 60 times per second for ten seconds for actions of one cost. Returns how many were allowed.
    fn ask(pace: &mut ActionPace, player: PlayerId, every: u64, costs: &[ActionCost]) -> u32 {
        let mut allowed = 0;
        for step in (0..600).filter(|it| it % every == 0) {
            let now = Time::from_micros(10_000_000 + step * 16_667);
            if pace.allows(player, now) {
                costs.iter().for_each(|&it| pace.charge(player, now, it));
                allowed += 1;
            }
        }
        allowed
    }

    const LOCAL: ActionCost = ActionCost::Zones(1);

    #[test]
    fn cheap_actions_are_limited_by_connections_alone() {
        let mut pace = ActionPace::default();
        assert_eq!(ask(&mut pace, PlayerId(1), 1, &[LOCAL]), 600);
        assert_eq!(
            ask(&mut pace, PlayerId(2), 1, &[LOCAL, ActionCost::Hearers(7)]),
            600,
            "a small group talks"
        );
    }

    #[test]
    fn actions_of_several_zones_cost_more() {
        let mut pace = ActionPace::default();
        let two = ask(&mut pace, PlayerId(1), 1, &[ActionCost::Zones(2)]);
        assert!((100..=106).contains(&two), "{two}: a burst of 24, and eight per second");
        let four = ask(&mut pace, PlayerId(2), 1, &[ActionCost::Zones(4)]);
        assert!((50..=54).contains(&four), "{four}");
        assert_eq!(ask(&mut pace, PlayerId(3), 1, &[LOCAL]), 600, "other players pay nothing");
    }

    #[test]
    fn a_speech_to_many_costs_by_its_hearers() {
        let mut pace = ActionPace::default();
        let crowd = ask(&mut pace, PlayerId(1), 1, &[LOCAL, ActionCost::Hearers(300)]);
        assert!((26..=30).contains(&crowd), "{crowd}: a burst of seven lines, and two per second");
        // One line per second is what people say.
        assert_eq!(ask(&mut pace, PlayerId(2), 60, &[LOCAL, ActionCost::Hearers(300)]), 10);
    }

    #[test]
    fn a_debt_is_paid_off_soon() {
        let mut pace = ActionPace::default();
        let now = Time::from_millis(10_000);
        (0..64).for_each(|_| pace.charge(PlayerId(1), now, ActionCost::Hearers(10_000)));
        assert!(!pace.allows(PlayerId(1), now));
        assert!(pace.allows(PlayerId(1), now + ACTION_EVERY.times(ACTION_BURST + 1)));
    }

    #[test]
    fn full_buckets_are_forgotten() {
        let mut pace = ActionPace::default();
        pace.charge(PlayerId(1), Time::from_millis(1_000), LOCAL);
        pace.measure(Time::from_millis(1_000), Span::ZERO);
        assert_eq!(pace.steady.0.len(), 1);
        pace.measure(Time::from_millis(1_050), Span::ZERO);
        assert!(pace.steady.0.is_empty());
    }

    #[test]
    fn at_a_late_primary_a_greedy_player_waits_alone() {
        let mut pace = ActionPace::default();
        for step in 0..14 {
            pace.measure(Time::from_millis(8_000 + 100 * step), LATE);
        }
        assert!(Span::from_millis(1_000) < pace.interval && pace.interval <= LONGEST, "{}", pace.interval);
        pace.interval = Span::from_millis(500);
        assert_eq!(ask(&mut pace, PlayerId(2), 60, &[LOCAL]), 10, "within the bucket");
        let greedy = ask(&mut pace, PlayerId(1), 1, &[LOCAL]);
        assert!((20..=24).contains(&greedy), "{greedy}: two per second, and a full bucket");
    }

    #[test]
    fn the_limit_ends_with_the_lateness() {
        let mut pace = ActionPace::default();
        for step in 0..100 {
            pace.measure(Time::from_millis(100 * step), Span::from_millis(400));
        }
        assert_eq!(pace.interval, LONGEST);
        (0..9).for_each(|_| pace.charge(PlayerId(1), Time::from_millis(10_000), LOCAL));
        assert!(!pace.allows(PlayerId(1), Time::from_millis(10_000)));
        for step in 0..60 {
            pace.measure(Time::from_millis(10_000 + 50 * step), Span::ZERO);
        }
        assert_eq!(pace.interval, Span::ZERO, "three seconds later");
        assert!(pace.allows(PlayerId(1), Time::from_millis(13_000)));
    }
}

//! World time: the directory's clock, estimated.
//!
//! A host's own clock may be off and may run at the wrong rate. A replica asks the directory, believes the answer
//! with the shortest round trip, and follows it without ever stepping back. While the directory is away world time runs
//! free. It is never far behind another zone's.

use machine::{Span, Time};

/// A clock that is behind by more than this jumps: to catch up gradually would take too long to be useful.
const JUMP: Span = Span::from_millis(250);

/// Divisor of the speed of a clock that is ahead, until world time has caught up.
const AHEAD: u64 = 2;

/// A clock that is a little behind runs faster by one part in this many.
const BEHIND: u64 = 8;

/// An estimate older than this is replaced by any newer one, however long its round trip: clocks drift apart.
const STALE: Span = Span::from_millis(10_000);

/// Converts a host's own time to world time.
#[derive(Clone, Debug)]
pub struct WorldClock {
    /// World time at one moment of own time; `None` before the first answer or record. Between two answers world time
    /// is a function of anchor, sample and own time alone, so that reading it often does not change it.
    anchor: Option<ClockAnchor>,
    /// The answer of the directory with the shortest round trip.
    sample: Option<ClockSample>,
}

#[derive(Clone, Copy, Debug)]
struct ClockAnchor {
    world: Time,
    at: Time,
}

#[derive(Clone, Copy, Debug)]
struct ClockSample {
    at: Time,
    world: Time,
    trip: Span,
}

impl WorldClock {
    /// A clock that shows zero until it is set.
    pub const fn new() -> Self {
        Self { anchor: None, sample: None }
    }

    /// World time. Never less than before; zero until the first answer or record.
    pub fn now(&self, own: Time) -> Time {
        let Some(ClockAnchor { world, at }) = self.anchor else { return Time::ZERO };
        let passed = own.since(at);
        let free = world + passed;
        let Some(target) = self.sample.map(|it| it.world + own.since(it.at)) else { return free };
        let part = |part: u64| Span::from_micros(passed.as_micros() / part);
        // Ahead of the target: run slowly rather than step back.
        if target < free {
            return (world + part(AHEAD)).max(target);
        }
        if JUMP < target.since(free) { target } else { target.min(free + part(BEHIND)) }
    }

    /// Raises world time to that of a record: records never go back in time.
    pub fn at_least(&mut self, own: Time, world: Time) {
        if self.anchor.is_none() || self.now(own) < world {
            self.anchor = Some(ClockAnchor { world, at: own });
        }
    }

    /// Another zone has the time `world`. A clock that is far behind jumps there; answers of the directory settle small
    /// differences.
    pub fn follow(&mut self, own: Time, world: Time) {
        if JUMP < world.since(self.now(own)) {
            self.at_least(own, world);
        }
    }

    /// Takes in the directory's time `world`, asked for at own time `asked` and received at own time `own`.
    pub fn learn(&mut self, asked: Time, own: Time, world: Time) {
        let trip = own.since(asked);
        let better = self.sample.is_none_or(|it| trip <= it.trip || STALE < own.since(it.at));
        if better {
            // The directory read its clock somewhere on the round trip; the middle has the smallest possible error.
            let estimate = world + Span::from_micros(trip.as_micros() / 2);
            // The first answer sets the clock. Later ones only steer it: world time already shown must not step back.
            let world = self.anchor.map_or(estimate, |_| self.now(own));
            self.anchor = Some(ClockAnchor { world, at: own });
            self.sample = Some(ClockSample { at: own, world: estimate, trip });
        }
    }

    /// Whether the directory has ever answered.
    pub const fn is_set(&self) -> bool {
        self.sample.is_some()
    }
}

impl Default for WorldClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_without_stepping_back() {
        let ms = Time::from_millis;
        let mut clock = WorldClock::new();
        clock.learn(ms(90), ms(100), ms(5_000));
        assert_eq!(clock.now(ms(100)), ms(5_005), "behind by seconds: it jumps");
        assert_eq!(clock.now(ms(1_100)), ms(6_005), "then runs free");
        // The own clock ran fast: the world is 100 ms behind what we thought.
        clock.learn(ms(2_095), ms(2_100), ms(6_900));
        let mut last = clock.now(ms(2_100));
        for own in (2_110..3_000).step_by(10) {
            let now = clock.now(ms(own));
            assert!(last <= now);
            last = now;
        }
        let error = last.since(ms(6_902 + 890));
        assert!(error < Span::from_millis(10), "{error:?}");
    }

    #[test]
    fn a_clock_that_was_never_set_is_not_ahead_of_a_young_world() {
        let ms = Time::from_millis;
        let mut clock = WorldClock::new();
        assert_eq!(clock.now(ms(86_400_000)), Time::ZERO, "a day of uptime is nothing to the world");
        clock.learn(ms(86_400_000), ms(86_400_010), ms(20));
        assert_eq!(clock.now(ms(86_400_010)), ms(25));
        assert_eq!(clock.now(ms(86_401_010)), ms(1_025), "and it runs at full speed");
    }

    #[test]
    fn a_record_sets_it_while_the_directory_is_away() {
        let ms = Time::from_millis;
        let mut clock = WorldClock::new();
        clock.at_least(ms(86_400_000), ms(5_000));
        assert_eq!(clock.now(ms(86_400_500)), ms(5_500));
    }

    #[test]
    fn it_is_not_far_behind_another_zone() {
        let ms = Time::from_millis;
        let mut clock = WorldClock::new();
        clock.learn(ms(100), ms(100), ms(5_000));
        clock.follow(ms(100), ms(5_200));
        assert_eq!(clock.now(ms(100)), ms(5_000));
        clock.follow(ms(100), ms(9_000));
        assert_eq!(clock.now(ms(100)), ms(9_000));
        assert_eq!(clock.now(ms(1_100)), ms(9_500), "until the directory's has caught up");
    }

    #[test]
    fn asking_often_does_not_stop_it() {
        let mut clock = WorldClock::new();
        clock.learn(Time::from_millis(100), Time::from_millis(100), Time::from_millis(5_000));
        clock.learn(Time::from_millis(200), Time::from_millis(200), Time::from_millis(4_900));
        let asked: Vec<_> = (200_000..201_000).map(|own| clock.now(Time::from_micros(own))).collect();
        assert_eq!(
            asked[999].since(asked[0]),
            Span::from_micros(499),
            "half speed, microsecond by microsecond"
        );
    }

    #[test]
    fn a_longer_way_is_believed_less() {
        let ms = Time::from_millis;
        let mut clock = WorldClock::new();
        clock.learn(ms(98), ms(100), ms(1_000));
        clock.learn(ms(100), ms(300), ms(9_000));
        assert!(clock.now(ms(300)) < ms(1_300));
    }
}

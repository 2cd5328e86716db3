//! World time: the directory's clock, estimated.
//!
//! A replica's own clock may be off and may run at the wrong rate. It asks the directory, believes the answer
//! with the shortest way, and follows it without ever stepping back. While the directory is away it runs free. It is
//! never far behind another zone's.

use machine::{Span, Time};

/// A host that is behind by more than this jumps: walking up to it would take too long to be useful.
const JUMP: Span = Span::from_millis(250);

/// While it is ahead, the clock runs at this part of its speed until the world has caught up.
const AHEAD: u64 = 2;

/// While it is a little behind, it runs faster by this part of its speed.
const BEHIND: u64 = 8;

/// An estimate older than this is replaced by any newer one, however long its way was.
const STALE: Span = Span::from_millis(10_000);

/// Own time to world time.
#[derive(Clone, Debug)]
pub struct WorldClock {
    /// World time at an own time; `None` before anybody has said anything. Between two answers it is a function of these
    /// and of the own time alone, so that asking often does not change what is answered.
    anchor: Option<Anchor>,
    /// The best answer so far.
    sample: Option<Sample>,
}

#[derive(Clone, Copy, Debug)]
struct Anchor {
    world: Time,
    at: Time,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    world: Time,
    trip: Span,
}

impl WorldClock {
    /// A clock that shows nothing yet.
    pub const fn new() -> Self {
        Self { anchor: None, sample: None }
    }

    /// World time. Never less than before; zero before anybody has said anything.
    pub fn now(&self, own: Time) -> Time {
        let Some(Anchor { world, at }) = self.anchor else { return Time::ZERO };
        let passed = own.since(at);
        let free = world + passed;
        let Some(target) = self.sample.map(|it| it.world + own.since(it.at)) else { return free };
        let part = |part: u64| Span::from_micros(passed.as_micros() / part);
        if target < free {
            return (world + part(AHEAD)).max(target);
        }
        if JUMP < target.since(free) { target } else { target.min(free + part(BEHIND)) }
    }

    /// The world's time cannot be before this: a record says so.
    pub fn at_least(&mut self, own: Time, world: Time) {
        if self.anchor.is_none() || self.now(own) < world {
            self.anchor = Some(Anchor { world, at: own });
        }
    }

    /// Another zone is as late as `world`. Whoever is far behind goes there; little differences are the directory's
    /// to settle.
    pub fn follow(&mut self, own: Time, world: Time) {
        if JUMP < world.since(self.now(own)) {
            self.at_least(own, world);
        }
    }

    /// The directory said `world`, to a question asked at `asked` and answered at `own`.
    pub fn learn(&mut self, asked: Time, own: Time, world: Time) {
        let trip = own.since(asked);
        let better = self.sample.is_none_or(|it| trip <= it.trip || STALE < own.since(it.at));
        if better {
            let estimate = world + Span::from_micros(trip.as_micros() / 2);
            // The own clock may show anything: only what was said before can be ahead.
            let world = self.anchor.map_or(estimate, |_| self.now(own));
            self.anchor = Some(Anchor { world, at: own });
            self.sample = Some(Sample { at: own, world: estimate, trip });
        }
    }

    /// Whether the directory was ever heard.
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

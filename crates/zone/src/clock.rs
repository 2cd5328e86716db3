//! World time: the directory's clock, estimated.
//!
//! A replica's own clock may be off and may run at the wrong rate. It asks the directory, believes the answer
//! with the shortest way, and follows it without ever stepping back. While the directory is away it runs free.

use machine::{Span, Time};

/// A host that is behind by more than this jumps: walking up to it would take too long to be useful.
const JUMP: Span = Span::from_millis(250);

/// While it is ahead, the clock runs at this part of its speed (in 256ths) until the world has caught up.
const SLOW: u64 = 128;

/// An estimate older than this is replaced by any newer one, however long its way was.
const STALE: Span = Span::from_millis(10_000);

/// Own time to world time.
#[derive(Clone, Debug)]
pub struct WorldClock {
    /// World time at the own time `at`.
    world: Time,
    at: Time,
    /// The best sample: its own time, the world's then, and how sure it is.
    sample: Option<Sample>,
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
        Self { world: Time::ZERO, at: Time::ZERO, sample: None }
    }

    /// World time. Never less than before.
    pub fn now(&mut self, own: Time) -> Time {
        let passed = own.since(self.at);
        self.at = self.at.max(own);
        let free = self.world + passed;
        let target = self.sample.map_or(free, |it| it.world + own.since(it.at));
        self.world = if free < target {
            if JUMP < target.since(free) {
                target
            } else {
                free + Span::from_micros(passed.as_micros() / 8).min(target.since(free))
            }
        } else {
            // Ahead: go on slowly, but never behind the world itself.
            (self.world + Span::from_micros(passed.as_micros() * SLOW / 256)).max(target).min(free)
        };
        self.world
    }

    /// The world's time cannot be before this: a record says so.
    pub fn at_least(&mut self, world: Time) {
        self.world = self.world.max(world);
    }

    /// The directory said `world`, to a question asked at `asked` and answered at `own`.
    pub fn learn(&mut self, asked: Time, own: Time, world: Time) {
        let trip = own.since(asked);
        let sample = Sample { at: own, world: world + Span::from_micros(trip.as_micros() / 2), trip };
        let better = self.sample.is_none_or(|it| trip <= it.trip || STALE < own.since(it.at));
        if better {
            self.sample = Some(sample);
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
    fn a_longer_way_is_believed_less() {
        let ms = Time::from_millis;
        let mut clock = WorldClock::new();
        clock.learn(ms(98), ms(100), ms(1_000));
        clock.learn(ms(100), ms(300), ms(9_000));
        assert!(clock.now(ms(300)) < ms(1_300));
    }
}

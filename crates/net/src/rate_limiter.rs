//! A rate limiter (token bucket): an allowance that refills with time, up to a burst.

use std::time::Duration;
use tokio::time::Instant;

/// An allowance of `rate` units per second, with room for `burst` units.
#[derive(Clone, Copy, Debug)]
pub struct RateLimiter {
    rate: f64,
    burst: f64,
    level: f64,
    at: Instant,
}

impl RateLimiter {
    /// A limiter whose whole burst is available.
    pub fn new(rate: f64, burst: f64) -> Self {
        Self { rate, burst, level: burst, at: Instant::now() }
    }

    fn refill(&mut self) {
        let now = Instant::now();
        self.level = (self.level + self.rate * (now - self.at).as_secs_f64()).min(self.burst);
        self.at = now;
    }

    /// Units available now; negative after [`Self::take`] on credit.
    pub fn level(&mut self) -> f64 {
        self.refill();
        self.level
    }

    /// Takes `amount` if it is available. Returns whether it was.
    pub fn try_take(&mut self, amount: f64) -> bool {
        self.refill();
        let there = amount <= self.level;
        if there {
            self.level -= amount;
        }
        there
    }

    /// Takes `amount`, on credit if need be, and returns the time until the debt is paid.
    pub fn take(&mut self, amount: f64) -> Option<Duration> {
        self.refill();
        self.level -= amount;
        (self.level < 0.0).then(|| Duration::from_secs_f64(-self.level / self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_free_and_then_the_rate_holds() {
        let mut rate_limiter = RateLimiter::new(10.0, 3.0);
        assert_eq!((0..5).filter(|_| rate_limiter.try_take(1.0)).count(), 3);
        tokio::time::advance(Duration::from_millis(200)).await;
        assert_eq!((0..5).filter(|_| rate_limiter.try_take(1.0)).count(), 2);
        assert_eq!(rate_limiter.take(1.0), Some(Duration::from_millis(100)));
    }
}

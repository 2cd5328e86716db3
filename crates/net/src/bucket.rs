//! How much somebody may do: an allowance that fills up again.

use std::time::Duration;
use tokio::time::Instant;

/// An allowance of so much per second, with room for a burst.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    rate: f64,
    burst: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    /// A full one.
    pub fn new(rate: f64, burst: f64) -> Self {
        Self { rate, burst, level: burst, at: Instant::now() }
    }

    fn refill(&mut self) {
        let now = Instant::now();
        self.level = (self.level + self.rate * (now - self.at).as_secs_f64()).min(self.burst);
        self.at = now;
    }

    /// How much is there.
    pub fn level(&mut self) -> f64 {
        self.refill();
        self.level
    }

    /// Takes `amount` if it is there.
    pub fn try_take(&mut self, amount: f64) -> bool {
        self.refill();
        let there = amount <= self.level;
        if there {
            self.level -= amount;
        }
        there
    }

    /// Takes `amount`, on credit if need be, and says how long to wait until the debt is paid.
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
        let mut bucket = Bucket::new(10.0, 3.0);
        assert_eq!((0..5).filter(|_| bucket.try_take(1.0)).count(), 3);
        tokio::time::advance(Duration::from_millis(200)).await;
        assert_eq!((0..5).filter(|_| bucket.try_take(1.0)).count(), 2);
        assert_eq!(bucket.take(1.0), Some(Duration::from_millis(100)));
    }
}

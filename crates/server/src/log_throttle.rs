//! Limits log lines of one kind: a client that sends thousands of invalid actions must not fill the log.

use std::time::Duration;
use tokio::time::Instant;

/// Least interval between two log lines of one kind.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Limits log lines to one per interval.
#[derive(Default)]
pub struct LogThrottle {
    last_logged: Option<Instant>,
    skipped: u64,
}

impl LogThrottle {
    /// Returns the number of lines skipped before this one, or `None` if this one is to be skipped, too.
    pub fn count(&mut self) -> Option<u64> {
        if self.last_logged.is_some_and(|it| it.elapsed() < LOG_EVERY) {
            self.skipped += 1;
            return None;
        }
        self.last_logged = Some(Instant::now());
        Some(std::mem::take(&mut self.skipped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn repeated_lines_are_logged_once_and_then_counted() {
        let mut throttle = LogThrottle::default();
        assert_eq!((0..1_000).filter_map(|_| throttle.count()).collect::<Vec<_>>(), [0]);
        tokio::time::advance(LOG_EVERY).await;
        assert_eq!((0..1_000).filter_map(|_| throttle.count()).collect::<Vec<_>>(), [999]);
    }
}

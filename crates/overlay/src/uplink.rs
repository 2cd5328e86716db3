//! How much a peer sends, and how much it hears: buckets that fill with time.

use machine::Time;

/// What a datagram weighs besides what it says: the headers of IP, UDP and QUIC (docs/wire.md).
pub const HEADERS: u32 = wire::QUIC_DATAGRAM_OVERHEAD as u32;

/// What matters how much when there is little left to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Goes while there is anything left: moves to the nearest, and signs of life.
    First,
    /// Goes while a quarter is left: links.
    Second,
    /// Goes while half is left: what is said again if it does not arrive.
    Third,
}

/// So many of something per second, and some at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    per_second: u64,
    /// In millionths, so that nothing is lost in between.
    left: u64,
    full: u64,
    at: Time,
}

impl Bucket {
    /// Never more than `most` within any second: half of that at once, as steps are, and half over time.
    pub fn within(most: u32) -> Self {
        Self::new(u64::from(most) / 2, u64::from(most) / 2)
    }

    /// So many per second, and so many at once.
    pub const fn new(per_second: u64, at_once: u64) -> Self {
        let full = at_once * 1_000_000;
        Self { per_second, left: full, full, at: Time::ZERO }
    }

    /// Takes so many, if that leaves enough for what matters more.
    pub fn take(&mut self, now: Time, count: u64, weight: Weight) -> bool {
        let gained = now.since(self.at).as_micros().saturating_mul(self.per_second);
        self.left = self.left.saturating_add(gained).min(self.full);
        self.at = now;
        let reserve = match weight {
            Weight::First => 0,
            Weight::Second => self.full / 4,
            Weight::Third => self.full / 2,
        };
        let wanted = count.saturating_mul(1_000_000);
        let enough = reserve + wanted <= self.left;
        if enough {
            self.left -= wanted;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_matters_more_goes_when_little_is_left() {
        let mut bucket = Bucket::new(100, 100);
        let now = Time::from_millis(10);
        let mut take =
            |weight| std::iter::repeat_with(|| bucket.take(now, 10, weight)).take_while(|it| *it).count();
        assert_eq!((take(Weight::Third), take(Weight::Second), take(Weight::First)), (5, 2, 3));
        assert!(!bucket.take(now, 1, Weight::First));
        assert!(bucket.take(Time::from_millis(110), 10, Weight::First), "a tenth of a second brings ten");
    }

    proptest! {
        #[test]
        fn no_second_has_more_than_it_may(steps in proptest::collection::vec((0u64..400, 1u64..3_000), 1..200)) {
            let mut bucket = Bucket::within(10_000);
            let (mut now, mut sent) = (0, Vec::new());
            for (pause, bytes) in steps {
                now += pause;
                if bucket.take(Time::from_millis(now), bytes, Weight::First) {
                    sent.push((now, bytes));
                }
            }
            for &(start, _) in &sent {
                let second = sent.iter().filter(|it| start <= it.0 && it.0 < start + 1_000);
                prop_assert!(second.map(|it| it.1).sum::<u64>() <= 10_000);
            }
        }
    }
}

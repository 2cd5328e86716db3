//! How much a peer sends, and how much it hears.

use crate::msg::Msg;
use machine::Time;

/// What a datagram weighs besides what it says: the headers of IP, UDP and QUIC (docs/wire.md).
pub const HEADERS: u32 = wire::QUIC_DATAGRAM_OVERHEAD as u32;

/// What matters how much when there is little left to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Goes while there is anything left: moves to the nearest, and signs of life.
    First,
    /// Goes while a sixteenth is left: links.
    Second,
    /// Goes while an eighth is left: what is said again if it does not arrive.
    Third,
}

impl Weight {
    /// How much a message matters by its kind. Moves that matter less say so themselves.
    pub const fn of(msg: &Msg) -> Self {
        match msg {
            Msg::Pong { .. } | Msg::Leave(_) | Msg::Move { .. } => Self::First,
            Msg::Seek { .. } | Msg::Welcome { .. } | Msg::Hello { .. } | Msg::Stranger | Msg::Ping => {
                Self::Second
            }
            Msg::Nodes(_) | Msg::Sum { .. } => Self::Third,
        }
    }
}

/// Into so many parts a second is divided.
const PARTS: usize = 16;

/// What may leave: never more than so many bytes within any second. Steps come at once, so what was not used in one second
/// must not count in the next, and what is used at once must not be less than what is used over time.
#[derive(Clone, Debug)]
pub(crate) struct Uplink {
    most: u64,
    /// What has left in the part of a second that is now, and in those before that touch the same second.
    left: [u64; PARTS + 1],
    part: u64,
}

impl Uplink {
    /// So many bytes within any second.
    pub fn within(most: u32) -> Self {
        Self { most: u64::from(most), left: [0; PARTS + 1], part: 0 }
    }

    /// Sends so many bytes, if that leaves enough for what matters more.
    pub fn take(&mut self, now: Time, bytes: u64, weight: Weight) -> bool {
        self.turn_to(now.since(Time::ZERO).as_micros() * PARTS as u64 / 1_000_000);
        let reserve = match weight {
            Weight::First => 0,
            Weight::Second => self.most / 16,
            Weight::Third => self.most / 8,
        };
        let enough = self.left.iter().sum::<u64>() + bytes + reserve <= self.most;
        if enough {
            *self.slot(self.part) += bytes;
        }
        enough
    }

    /// Forgets what left more than a second ago.
    fn turn_to(&mut self, part: u64) {
        let passed = part.saturating_sub(self.part).min(self.left.len() as u64);
        for old in part + 1 - passed..=part {
            *self.slot(old) = 0;
        }
        self.part = self.part.max(part);
    }

    const fn slot(&mut self, part: u64) -> &mut u64 {
        &mut self.left[(part % (PARTS as u64 + 1)) as usize]
    }
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
    /// So many per second, and so many at once.
    pub const fn new(per_second: u64, at_once: u64) -> Self {
        let full = at_once * 1_000_000;
        Self { per_second, left: full, full, at: Time::ZERO }
    }

    /// With so many in it at this time.
    pub const fn with(self, count: u64, at: Time) -> Self {
        Self { left: count * 1_000_000, at, ..self }
    }

    /// Takes one, if there is one.
    pub fn take(&mut self, now: Time) -> bool {
        let gained = now.since(self.at).as_micros().saturating_mul(self.per_second);
        self.left = self.left.saturating_add(gained).min(self.full);
        self.at = now;
        let enough = 1_000_000 <= self.left;
        if enough {
            self.left -= 1_000_000;
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
        let mut uplink = Uplink::within(1_600);
        let take = |uplink: &mut Uplink, at, weight| {
            std::iter::repeat_with(|| uplink.take(Time::from_millis(at), 10, weight))
                .take_while(|it| *it)
                .count()
        };
        assert_eq!(take(&mut uplink, 10, Weight::Third), 140);
        assert_eq!((take(&mut uplink, 20, Weight::Second), take(&mut uplink, 30, Weight::First)), (10, 10));
        assert_eq!(take(&mut uplink, 1_000, Weight::First), 0, "within the same second");
        assert_eq!(take(&mut uplink, 1_070, Weight::First), 160, "a second later all may leave again");
    }

    #[test]
    fn a_bucket_fills_with_time() {
        let mut bucket = Bucket::new(10, 20);
        let mut take =
            |at| std::iter::repeat_with(|| bucket.take(Time::from_millis(at))).take_while(|it| *it).count();
        assert_eq!((take(10), take(20), take(520), take(99_000)), (20, 0, 5, 20));
    }

    proptest! {
        #[test]
        fn no_second_has_more_than_it_may(steps in proptest::collection::vec((0u64..400, 1u64..3_000), 1..200)) {
            let mut uplink = Uplink::within(10_000);
            let (mut now, mut sent) = (0, Vec::new());
            for (pause, bytes) in steps {
                now += pause;
                if uplink.take(Time::from_millis(now), bytes, Weight::First) {
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

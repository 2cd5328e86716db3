//! The send budget of a peer, and the rate limits of received messages.

use crate::msg::OverlayMsg;
use machine::Time;

/// Bytes that the headers of IP, UDP and QUIC add to a datagram (docs/wire.md).
pub const HEADERS: u32 = wire::QUIC_DATAGRAM_OVERHEAD as u32;

/// Priority of a message when the budget is nearly spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendPriority {
    /// Sent while any budget is left: moves to the nearest neighbours, and answers to pings.
    First,
    /// Sent while a sixteenth of the budget is left: links.
    Second,
    /// Sent while an eighth of the budget is left: messages that are repeated anyway if they do not arrive.
    Third,
}

impl SendPriority {
    /// The usual priority of a message of this kind. Moves to distant neighbours are given a lower one by the caller.
    pub const fn of(msg: &OverlayMsg) -> Self {
        match msg {
            OverlayMsg::Pong { .. } | OverlayMsg::Leave(_) | OverlayMsg::Move { .. } => Self::First,
            OverlayMsg::Seek { .. }
            | OverlayMsg::Welcome { .. }
            | OverlayMsg::Hello { .. }
            | OverlayMsg::Stranger
            | OverlayMsg::Ping => Self::Second,
            OverlayMsg::Nodes(_) | OverlayMsg::Sum { .. } => Self::Third,
        }
    }
}

/// Number of parts into which a second is divided.
const PARTS: usize = 16;

/// The send budget: at most `most` bytes within any second. A token bucket would not do: it saves up what one second
/// did not use, and steps are sent in bursts, so the next second could exceed the limit.
#[derive(Clone, Debug)]
pub(crate) struct Uplink {
    most: u64,
    /// Bytes sent in the current part of a second, and in the earlier parts that one second can still touch.
    left: [u64; PARTS + 1],
    part: u64,
}

impl Uplink {
    /// A budget of `most` bytes within any second.
    pub fn within(most: u32) -> Self {
        Self { most: u64::from(most), left: [0; PARTS + 1], part: 0 }
    }

    /// Takes bytes out of the budget, if that leaves the reserve for messages of higher priority.
    pub fn take(&mut self, now: Time, bytes: u64, priority: SendPriority) -> bool {
        self.turn_to(now.since(Time::ZERO).as_micros() * PARTS as u64 / 1_000_000);
        let reserve = match priority {
            SendPriority::First => 0,
            SendPriority::Second => self.most / 16,
            SendPriority::Third => self.most / 8,
        };
        let enough = self.left.iter().sum::<u64>() + bytes + reserve <= self.most;
        if enough {
            *self.slot(self.part) += bytes;
        }
        enough
    }

    /// Clears the parts that lie more than a second back.
    fn turn_to(&mut self, part: u64) {
        // After a long silence every slot is cleared once, not more often.
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

/// A token bucket that limits received messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageRateLimit {
    per_second: u64,
    /// Tokens left, in millionths, so that rounding loses none.
    left: u64,
    full: u64,
    at: Time,
}

impl MessageRateLimit {
    /// A full bucket that refills by `per_second` and holds `at_once`.
    pub const fn new(per_second: u64, at_once: u64) -> Self {
        let full = at_once * 1_000_000;
        Self { per_second, left: full, full, at: Time::ZERO }
    }

    /// The same bucket with `count` tokens at this time.
    pub const fn with(self, count: u64, at: Time) -> Self {
        Self { left: count * 1_000_000, at, ..self }
    }

    /// Takes a token; returns whether there was one.
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
    fn higher_priorities_are_sent_when_little_is_left() {
        let mut uplink = Uplink::within(1_600);
        let take = |uplink: &mut Uplink, at, priority| {
            std::iter::repeat_with(|| uplink.take(Time::from_millis(at), 10, priority))
                .take_while(|it| *it)
                .count()
        };
        assert_eq!(take(&mut uplink, 10, SendPriority::Third), 140);
        assert_eq!(
            (take(&mut uplink, 20, SendPriority::Second), take(&mut uplink, 30, SendPriority::First)),
            (10, 10)
        );
        assert_eq!(take(&mut uplink, 1_000, SendPriority::First), 0, "a full second must pass");
        assert_eq!(
            take(&mut uplink, 1_070, SendPriority::First),
            160,
            "a second later the whole budget is there again"
        );
    }

    #[test]
    fn a_rate_limit_refills_with_time() {
        let mut bucket = MessageRateLimit::new(10, 20);
        let mut take =
            |at| std::iter::repeat_with(|| bucket.take(Time::from_millis(at))).take_while(|it| *it).count();
        assert_eq!((take(10), take(20), take(520), take(99_000)), (20, 0, 5, 20));
    }

    proptest! {
        #[test]
        fn no_second_exceeds_the_budget(steps in proptest::collection::vec((0u64..400, 1u64..3_000), 1..200)) {
            let mut uplink = Uplink::within(10_000);
            let (mut now, mut sent) = (0, Vec::new());
            for (pause, bytes) in steps {
                now += pause;
                if uplink.take(Time::from_millis(now), bytes, SendPriority::First) {
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

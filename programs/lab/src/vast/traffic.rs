//! What peers send and receive, second by second.

use machine::{Address, Time};
use overlay::Sent;
use std::collections::BTreeMap;

/// The most bytes of one peer in one second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Most {
    /// How many.
    pub bytes: u64,
    /// The end of that second.
    pub at: Time,
}

/// The busiest seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busiest {
    /// Sent, by the paper's sizes.
    pub paper: Most,
    /// Sent, in our encoding.
    pub wire: Most,
    /// Sent, in our encoding, headers included.
    pub line: Most,
    /// Received, by the paper's sizes.
    pub received: Most,
}

/// What a peer has sent and received so far.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    paper: u64,
    wire: u64,
    line: u64,
    received: u64,
}

/// Counts the bytes of everybody who sits there, whether they have joined yet or not.
#[derive(Debug, Default)]
pub struct Meter {
    before: BTreeMap<Address, Counts>,
    busiest: Busiest,
}

impl Meter {
    /// Somebody sits down who has sent nothing; their seat has received so much before.
    pub fn begin(&mut self, who: Address, received: u64) {
        self.before.insert(who, Counts { received, ..Counts::default() });
    }

    /// They stand up.
    pub fn end(&mut self, who: Address) {
        self.before.remove(&who);
    }

    /// Everybody who sits there.
    pub fn everybody(&self) -> Vec<Address> {
        self.before.keys().copied().collect()
    }

    /// A second is over, in which somebody came to have sent and received so much.
    pub fn second(&mut self, now: Time, who: Address, sent: &Sent, received: u64) {
        let (paper, wire) = (sent.paper.iter().sum(), sent.wire.iter().sum());
        let counts = Counts { paper, wire, line: sent.line(), received };
        let before = self.before.insert(who, counts).unwrap_or_default();
        self.busiest.paper.take(now, paper - before.paper);
        self.busiest.wire.take(now, wire - before.wire);
        self.busiest.line.take(now, counts.line - before.line);
        self.busiest.received.take(now, received - before.received);
    }

    /// The busiest seconds so far.
    pub const fn busiest(&self) -> Busiest {
        self.busiest
    }
}

impl Most {
    const fn take(&mut self, at: Time, bytes: u64) {
        if self.bytes < bytes {
            *self = Self { bytes, at };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_counts_from_the_second_before() {
        let (who, at) = (Address(1), |second: u64| Time::from_millis(second * 1_000));
        let sent = |bytes: u64| {
            let mut sent = Sent::default();
            (sent.messages[2], sent.paper[2], sent.wire[2]) = (1, 4 * bytes, bytes);
            sent
        };
        let mut meter = Meter::default();
        meter.begin(who, 1_000);
        for (second, bytes, received) in [(1, 30, 1_010), (2, 50, 1_500), (3, 75, 1_501)] {
            meter.second(at(second), who, &sent(bytes), received);
        }
        let busiest = meter.busiest();
        assert_eq!((busiest.wire.bytes, busiest.wire.at), (30, at(1)));
        assert_eq!((busiest.paper.bytes, busiest.line.bytes), (120, 30 + u64::from(overlay::HEADERS)));
        assert_eq!((busiest.received.bytes, busiest.received.at), (490, at(2)), "not what came before");
        meter.end(who);
        assert!(meter.everybody().is_empty());
    }
}

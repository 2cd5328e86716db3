//! Bytes that peers send and receive, second by second.

use machine::{Address, Time};
use overlay::SentTraffic;
use std::collections::BTreeMap;

/// The busiest second of any peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusiestSecond {
    /// Bytes of that peer in that second.
    pub bytes: u64,
    /// Time at which that second ended.
    pub at: Time,
}

/// The busiest seconds of any peer, by how bytes are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct BusiestSeconds {
    /// Bytes sent, by the paper's sizes.
    pub paper: BusiestSecond,
    /// Bytes sent, in our encoding.
    pub wire: BusiestSecond,
    /// Bytes sent, in our encoding, headers included.
    pub line: BusiestSecond,
    /// Bytes received, by the paper's sizes.
    pub received: BusiestSecond,
}

/// Bytes that a peer has sent and received so far.
#[derive(Clone, Copy, Debug, Default)]
struct ByteCounts {
    paper: u64,
    wire: u64,
    line: u64,
    received: u64,
}

/// Counts the bytes of all peers that have a slot, also of those that are still joining.
#[derive(Debug, Default)]
pub struct TrafficMeter {
    before: BTreeMap<Address, ByteCounts>,
    busiest: BusiestSeconds,
}

impl TrafficMeter {
    /// A new peer takes a slot, which has received `received` bytes before.
    pub fn begin(&mut self, who: Address, received: u64) {
        self.before.insert(who, ByteCounts { received, ..ByteCounts::default() });
    }

    /// A peer leaves its slot.
    pub fn end(&mut self, who: Address) {
        self.before.remove(&who);
    }

    /// Addresses of all peers that have a slot.
    pub fn addresses(&self) -> Vec<Address> {
        self.before.keys().copied().collect()
    }

    /// Called for each peer at the end of every second, with its totals so far.
    pub fn second(&mut self, now: Time, who: Address, sent: &SentTraffic, received: u64) {
        let (paper, wire) = (sent.paper.iter().sum(), sent.wire.iter().sum());
        let counts = ByteCounts { paper, wire, line: sent.bytes_with_headers(), received };
        let before = self.before.insert(who, counts).unwrap_or_default();
        self.busiest.paper.take(now, paper - before.paper);
        self.busiest.wire.take(now, wire - before.wire);
        self.busiest.line.take(now, counts.line - before.line);
        self.busiest.received.take(now, received - before.received);
    }

    /// The busiest seconds so far.
    pub const fn busiest(&self) -> BusiestSeconds {
        self.busiest
    }
}

impl BusiestSecond {
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
            let mut sent = SentTraffic::default();
            (sent.messages[2], sent.paper[2], sent.wire[2]) = (1, 4 * bytes, bytes);
            sent
        };
        let mut meter = TrafficMeter::default();
        meter.begin(who, 1_000);
        for (second, bytes, received) in [(1, 30, 1_010), (2, 50, 1_500), (3, 75, 1_501)] {
            meter.second(at(second), who, &sent(bytes), received);
        }
        let busiest = meter.busiest();
        assert_eq!((busiest.wire.bytes, busiest.wire.at), (30, at(1)));
        assert_eq!((busiest.paper.bytes, busiest.line.bytes), (120, 30 + u64::from(overlay::HEADERS)));
        assert_eq!(
            (busiest.received.bytes, busiest.received.at),
            (490, at(2)),
            "bytes received before do not count"
        );
        meter.end(who);
        assert!(meter.addresses().is_empty());
    }
}

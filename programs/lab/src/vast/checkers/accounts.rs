//! I10: peers have sent what their accounts say, byte for byte, and none exceeds its budget for long.

use super::lasting::LastingFaults;
use super::{Inspection, OverlayViolations};
use machine::{Address, Span, Time};
use std::collections::BTreeMap;

/// Time for which no peer may exceed the cap. A shorter burst does no harm: a joining peer has much to send.
const BURST: Span = Span::from_secs(5);

#[derive(Debug, Default)]
pub struct AccountsChecker {
    /// Cap in bytes per second, headers included, if there is one.
    cap: Option<u64>,
    /// Bytes that each peer had sent at the last inspection, with its time.
    before: BTreeMap<Address, (Time, u64)>,
    over: LastingFaults<Address>,
}

impl AccountsChecker {
    pub fn new(cap: Option<u64>) -> Self {
        Self { cap, ..Self::default() }
    }

    pub(super) fn check(&mut self, inspection: &Inspection<'_>, violations: &mut OverlayViolations) {
        for (who, it) in inspection.present {
            let (sent, left) = (it.peer.sent(), it.left);
            let (paper, wire) = (sent.paper.iter().sum::<u64>(), sent.wire.iter().sum::<u64>());
            if (paper, wire) != (left.paper, left.wire) {
                violations.note("accounts", || {
                    format!(
                        "{}: {who:?} says it sent {wire} bytes, and {} left it",
                        inspection.now, left.wire
                    )
                });
            }
        }
        let left = inspection.present.iter().map(|(&who, it)| (who, it.left.line));
        for who in self.too_much(inspection.now, left.collect()) {
            violations
                .note("accounts", || format!("{}: {who:?} sends too much for too long", inspection.now));
        }
    }

    /// The peers that have exceeded the cap for too long, from what each has sent so far.
    fn too_much(&mut self, now: Time, left: BTreeMap<Address, u64>) -> Vec<Address> {
        let Some(cap) = self.cap else { return Vec::new() };
        let is_over = |(who, bytes): &(&Address, &u64)| {
            // A peer that has sent less than before has started a new life: it is not compared.
            let before = self.before.get(who).filter(|it| it.1 <= **bytes);
            before.is_some_and(|&(at, before)| {
                u128::from(cap) * u128::from(now.since(at).as_micros())
                    < u128::from(**bytes - before) * 1_000_000
            })
        };
        let over: Vec<Address> = left.iter().filter(is_over).map(|it| *it.0).collect();
        self.before = left.into_iter().map(|(who, bytes)| (who, (now, bytes))).collect();
        self.over.longer_than(BURST, now, over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_allowed_and_a_long_excess_is_not() {
        let mut accounts = AccountsChecker::new(Some(1_000));
        let (steady, greedy, burst) = (Address(1), Address(2), Address(3));
        let mut found = Vec::new();
        for second in 1..=10 {
            let left =
                [(steady, second * 1_000), (greedy, second * 1_001), (burst, 90_000.min(second * 30_000))];
            let now = Time::from_millis(second * 1_000);
            found.extend(accounts.too_much(now, left.into()).into_iter().map(|it| (second, it)));
        }
        assert_eq!(found, [(8, greedy)]);
    }
}

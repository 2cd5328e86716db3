//! I10: peers have sent what they say, byte for byte, and none sends more than it may for long.

use super::lasting::Lasting;
use super::{Look, Violations};
use machine::{Address, Span, Time};
use std::collections::BTreeMap;

/// Nobody may send more than the cap for this long. A burst is no harm: who joins has much to say.
const BURST: Span = Span::from_secs(5);

#[derive(Debug, Default)]
pub struct Accounts {
    /// Bytes per second with headers, if there is a limit.
    cap: Option<u64>,
    /// What each had sent, and when.
    before: BTreeMap<Address, (Time, u64)>,
    over: Lasting<Address>,
}

impl Accounts {
    pub fn new(cap: Option<u64>) -> Self {
        Self { cap, ..Self::default() }
    }

    pub(super) fn check(&mut self, look: &Look<'_>, violations: &mut Violations) {
        for (who, it) in look.sitting {
            let (sent, left) = (it.peer.sent(), it.left);
            let (paper, wire) = (sent.paper.iter().sum::<u64>(), sent.wire.iter().sum::<u64>());
            if (paper, wire) != (left.paper, left.wire) {
                violations.note("accounts", || {
                    format!("{}: {who:?} says it sent {wire} bytes, and {} left it", look.now, left.wire)
                });
            }
        }
        let left = look.sitting.iter().map(|(&who, it)| (who, it.left.line));
        for who in self.too_much(look.now, left.collect()) {
            violations.note("accounts", || format!("{}: {who:?} sends too much for too long", look.now));
        }
    }

    /// Those who have sent more than the cap for too long, by what each has sent so far.
    fn too_much(&mut self, now: Time, left: BTreeMap<Address, u64>) -> Vec<Address> {
        let Some(cap) = self.cap else { return Vec::new() };
        let is_over = |(who, bytes): &(&Address, &u64)| {
            // Whoever has sent less than before lives again.
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
    fn a_burst_is_no_harm_and_too_much_for_too_long_is() {
        let mut accounts = Accounts::new(Some(1_000));
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

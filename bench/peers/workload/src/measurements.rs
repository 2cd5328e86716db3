//! What clients measure, the same for all systems.

use crate::meter::UdpTotals;
use crate::{Stamp, Update};
use serde::{Deserialize, Serialize};

/// An avatar counts as visible if a client was told of a move that is at most this old, in tenths of a millisecond: moves
/// are made every 100 ms, and arrive up to two ticks later.
const VISIBLE_FOR: u32 = 2_500;

/// What a crowd of clients measured. `node/workload.mjs` writes the same fields.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ClientsReport {
    /// Duration of the measurement, in seconds.
    pub seconds: f64,
    /// Moves sent.
    pub moves: u64,
    /// Moves of others that arrived; one that arrives again does not count.
    pub updates: u64,
    /// Mean number of others of whom a client was told lately.
    pub visible: f64,
    /// Median time from a move to its arrival at another client, in milliseconds.
    pub age_p50_ms: f64,
    /// Time from a move to its arrival that 99 of 100 do not exceed, in milliseconds.
    pub age_p99_ms: f64,
    /// Median round trip of a ping, in milliseconds.
    pub ping_p50_ms: f64,
    /// Round trip of a ping that 99 of 100 do not exceed, in milliseconds.
    pub ping_p99_ms: f64,
    /// Packets and their payload, where the clients count them; the runner counts TCP's.
    pub udp: Option<UdpTotals>,
}

/// Counters of a crowd of clients.
pub(crate) struct Measurements {
    clients: usize,
    /// The last move that each client was told of each avatar, by client, then by avatar.
    last: Vec<Stamp>,
    pub moves: u64,
    updates: u64,
    /// Ages of moves and round trips of pings, in tenths of a millisecond.
    ages: Vec<u32>,
    pings: Vec<u32>,
}

impl Measurements {
    pub fn new(clients: usize) -> Self {
        let last = vec![Stamp::default(); clients * clients];
        Self { clients, last, moves: 0, updates: 0, ages: Vec::new(), pings: Vec::new() }
    }

    /// Measuring begins: forgets what was counted, not what clients know.
    pub fn reset(&mut self) {
        (self.moves, self.updates) = (0, 0);
        self.ages.clear();
        self.pings.clear();
    }

    /// An update arrives; `timed` if the client reads often enough to know when.
    pub fn on_update(&mut self, client: usize, update: Update, now: Stamp, timed: bool) {
        let Some(last) = self.last.get_mut(client * self.clients + usize::from(update.avatar)) else {
            return;
        };
        if !update.to.at.is_after(*last) {
            return;
        }
        *last = update.to.at;
        self.updates += 1;
        if timed {
            self.ages.push(now.since(update.to.at));
        }
    }

    pub fn on_pong(&mut self, sent: Stamp, now: Stamp) {
        self.pings.push(now.since(sent));
    }

    /// Mean number of others of whom a client was told lately.
    pub fn visible(&self, now: Stamp) -> f64 {
        let lately = |it: &&Stamp| it.0 != 0 && now.since(**it) <= VISIBLE_FOR;
        self.last.iter().filter(lately).count() as f64 / self.clients as f64
    }

    pub fn report(&mut self, seconds: f64, visible: f64, udp: UdpTotals) -> ClientsReport {
        self.ages.sort_unstable();
        self.pings.sort_unstable();
        ClientsReport {
            seconds,
            moves: self.moves,
            updates: self.updates,
            visible,
            age_p50_ms: quantile_ms(&self.ages, 0.5),
            age_p99_ms: quantile_ms(&self.ages, 0.99),
            ping_p50_ms: quantile_ms(&self.pings, 0.5),
            ping_p99_ms: quantile_ms(&self.pings, 0.99),
            udp: Some(udp),
        }
    }
}

/// The value that this part of an ascending list does not exceed; tenths of a millisecond become milliseconds. 0 if the
/// list is empty: the runner then says that nothing arrived.
fn quantile_ms(sorted: &[u32], part: f64) -> f64 {
    let index = (part * sorted.len() as f64) as usize;
    sorted.get(index).map_or(0.0, |&it| f64::from(it) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Move;

    #[test]
    fn a_move_that_arrives_twice_or_too_late_counts_once() {
        let mut measurements = Measurements::new(2);
        for at in [10, 10, 30, 20, 30] {
            let to = Move { at: Stamp(at), ..Move::default() };
            measurements.on_update(0, Update { avatar: 1, to }, Stamp(50), true);
        }
        let visible = measurements.visible(Stamp(2_530));
        let report = measurements.report(1.0, visible, UdpTotals::default());
        assert_eq!((report.updates, report.age_p50_ms, report.visible), (2, 4.0, 0.5));
        assert_eq!(measurements.visible(Stamp(2_531)), 0.0);
    }
}

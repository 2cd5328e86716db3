//! Measurements of bots: answers and traffic.

use super::BotHandle;
use super::live_counts::{BotPlace, LiveCounts};
use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinSet;
use zone::{Outcome, PlayerEvent, SearchReason};

/// Measurements from the events of all players' machines.
#[derive(Debug)]
pub(super) struct BotMeasurements {
    pub(super) latency: Histogram<u64>,
    pub(super) acked: u64,
    pub(super) refused: u64,
    pub(super) entered: u64,
    pub(super) closed: u64,
}

impl BotMeasurements {
    pub(super) fn new() -> anyhow::Result<Self> {
        let latency = Histogram::new_with_bounds(1, 600_000_000, 3).map_err(anyhow::Error::msg)?;
        Ok(Self { latency, acked: 0, refused: 0, entered: 0, closed: 0 })
    }

    /// The latency that this share of all answers does not exceed, in milliseconds.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        self.latency.value_at_quantile(part) as f64 / 1e3
    }
}

/// Adds up the events of a player's machine, on the thread that runs it.
pub(super) struct EventCounter {
    measurements: Arc<Mutex<BotMeasurements>>,
    /// A player who walks or is put into another zone does not count: no primary was silent.
    searches: bool,
    world: BotPlace,
}

impl EventCounter {
    pub(super) fn new(measurements: Arc<Mutex<BotMeasurements>>, counts: Arc<LiveCounts>) -> Self {
        Self { measurements, searches: true, world: BotPlace::world(counts) }
    }

    pub(super) fn add(&mut self, event: &PlayerEvent) {
        if let PlayerEvent::Notice(_) | PlayerEvent::Corrected(_) = event {
            return; // Most events are such, and count for nothing.
        }
        let mut it = self.measurements.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            PlayerEvent::Answered(_, outcome, took) => {
                it.acked += 1;
                it.refused += u64::from(*outcome != Outcome::Done);
                // The histogram begins at one microsecond.
                it.latency.saturating_record(took.as_micros().max(1));
            }
            PlayerEvent::Searching(why) => self.searches |= *why == SearchReason::HomeSilent,
            PlayerEvent::Entered(_) => {
                it.entered += u64::from(std::mem::take(&mut self.searches));
                self.world.enter();
            }
            PlayerEvent::Closed(_) => {
                it.closed += 1;
                self.world.leave();
            }
            _ => (),
        }
    }
}

/// Traffic and poses of all bots together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrafficTotals {
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) udp_bytes: u64,
    pub(super) packets_out: u64,
    pub(super) udp_bytes_out: u64,
    pub(super) poses: u64,
}

impl TrafficTotals {
    /// Totals so far over the connections of these bots, all of one moment: a bot that is read later would be counted for longer.
    pub(super) async fn over(bots: &[BotHandle]) -> Self {
        let mut sum = Self::default();
        let mut poses = JoinSet::new();
        for bot in bots {
            let traffic = &bot.counters.traffic;
            let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
            sum.bytes += read(&traffic.bytes_in);
            sum.packets += read(&traffic.packets_in);
            sum.udp_bytes += read(&traffic.udp_bytes_in);
            sum.packets_out += read(&traffic.packets_out);
            sum.udp_bytes_out += read(&traffic.udp_bytes_out);
            let player = bot.player.clone();
            poses.spawn(async move { player.inspect(node::ClientNode::poses).await });
        }
        sum.poses = poses.join_all().await.into_iter().flatten().sum();
        sum
    }
}

//! What bots experience: answers, and traffic.

use client::Stay;
use hdrhistogram::Histogram;
use node::Client as Node;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use zone::{Happening, Outcome};

/// What the players' machines told of all bots.
#[derive(Debug)]
pub(super) struct Experience {
    pub(super) latency: Histogram<u64>,
    pub(super) acked: u64,
    pub(super) refused: u64,
    pub(super) entered: u64,
    pub(super) closed: u64,
}

impl Experience {
    pub(super) fn new() -> anyhow::Result<Self> {
        let latency = Histogram::new_with_bounds(1, 600_000_000, 3).map_err(anyhow::Error::msg)?;
        Ok(Self { latency, acked: 0, refused: 0, entered: 0, closed: 0 })
    }

    /// The latency that this part of all answers does not exceed, in milliseconds.
    pub(super) fn quantile(&self, part: f64) -> f64 {
        self.latency.value_at_quantile(part) as f64 / 1e3
    }
}

/// Adds up what a player's machine tells, until it ends.
pub(super) async fn listen(
    mut happenings: mpsc::UnboundedReceiver<Happening>,
    experience: Arc<Mutex<Experience>>,
) {
    // Walking into another zone does not count: no server was silent.
    let mut searches = true;
    while let Some(happening) = happenings.recv().await {
        let mut it = experience.lock().unwrap_or_else(PoisonError::into_inner);
        match happening {
            Happening::Answered(_, outcome, took) => {
                it.acked += 1;
                it.refused += u64::from(outcome != Outcome::Done);
                it.latency.saturating_record(took.as_micros().max(1));
            }
            Happening::Searching => searches = true,
            Happening::Entered(_) => it.entered += u64::from(std::mem::take(&mut searches)),
            Happening::Closed(_) => it.closed += 1,
            _ => (),
        }
    }
}

/// What passed over all connections.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) udp_bytes: u64,
    pub(super) packets_out: u64,
    pub(super) udp_bytes_out: u64,
    pub(super) poses: u64,
}

impl Passed {
    /// What has passed so far over the connections of these bots.
    pub(super) async fn over(stays: &[Stay]) -> Self {
        let mut sum = Self::default();
        for stay in stays {
            let traffic = &stay.counts.traffic;
            let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
            sum.bytes += read(&traffic.bytes_in);
            sum.packets += read(&traffic.packets_in);
            sum.udp_bytes += read(&traffic.udp_bytes_in);
            sum.packets_out += read(&traffic.packets_out);
            sum.udp_bytes_out += read(&traffic.udp_bytes_out);
            sum.poses += stay.player.look(Node::poses).await.unwrap_or(0);
        }
        sum
    }
}

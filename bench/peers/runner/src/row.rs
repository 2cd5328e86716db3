//! A row: the figures of one system with one number of clients.

use crate::system::System;
use serde::Serialize;

/// Bytes of the headers of IP and UDP.
pub const UDP_HEADERS: f64 = 28.0;

/// Bytes of the headers of IP and TCP, with the timestamps that Linux sends.
pub const TCP_HEADERS: f64 = 52.0;

/// The measurement of one system with one number of clients.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub system: System,
    pub clients: u16,
    #[serde(flatten)]
    pub figures: Figures,
    /// Texts about what fell behind; empty if nothing did.
    pub notes: Vec<String>,
}

/// Figures, per client and second where they are not times. Down is to a client.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Figures {
    /// Mean number of other avatars that a client is told about.
    pub visible: f64,
    /// Moves sent.
    pub moves: f64,
    /// Updates that arrived.
    pub updates: f64,
    /// Microseconds of the server's processor.
    pub cpu_us: f64,
    pub packets_down: f64,
    pub packets_up: f64,
    /// Bytes with the headers of IP and of UDP or TCP.
    pub bytes_down: f64,
    pub bytes_up: f64,
    /// Round trip of a ping: median, and what 99 of 100 do not exceed.
    pub ping_p50_ms: f64,
    pub ping_p99_ms: f64,
    /// Time from a move to its arrival at another client; NaN where it is not measured.
    pub age_p50_ms: f64,
    pub age_p99_ms: f64,
}

impl Figures {
    /// Microseconds of the server's processor for each update that arrived.
    pub fn cpu_us_per_update(&self) -> f64 {
        self.cpu_us / self.updates
    }

    /// Each figure divided by that of `other`.
    pub fn ratios(&self, other: &Self) -> Ratios {
        Ratios {
            cpu: self.cpu_us / other.cpu_us,
            cpu_per_update: self.cpu_us_per_update() / other.cpu_us_per_update(),
            updates: self.updates / other.updates,
            packets_down: self.packets_down / other.packets_down,
            packets_up: self.packets_up / other.packets_up,
            bytes_down: self.bytes_down / other.bytes_down,
            bytes_up: self.bytes_up / other.bytes_up,
            ping_p50: self.ping_p50_ms / other.ping_p50_ms,
            ping_p99: self.ping_p99_ms / other.ping_p99_ms,
            age_p50: self.age_p50_ms / other.age_p50_ms,
            age_p99: self.age_p99_ms / other.age_p99_ms,
        }
    }

    /// Texts about what is less than the workload asks for.
    pub fn behind(&self, system: System) -> Vec<String> {
        let mut notes = Vec::new();
        if self.moves < 0.95 * f64::from(workload::MOVES_PER_SECOND) {
            notes.push(format!("clients moved {:.1} times a second", self.moves));
        }
        if self.visible < 0.85 * workload::VISIBLE {
            notes.push(format!("clients were told of {:.1} others", self.visible));
        }
        let due = f64::from(workload::MOVES_PER_SECOND) * self.visible;
        if !system.grades() && self.updates < 0.9 * due {
            notes.push(format!("{:.0} updates instead of {due:.0}", self.updates));
        }
        if 100.0 < self.ping_p50_ms {
            notes.push(format!("round trips took {:.0} ms", self.ping_p50_ms));
        }
        notes
    }
}

/// The figures of one row divided by those of another.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratios {
    pub cpu: f64,
    pub cpu_per_update: f64,
    pub updates: f64,
    pub packets_down: f64,
    pub packets_up: f64,
    pub bytes_down: f64,
    pub bytes_up: f64,
    pub ping_p50: f64,
    pub ping_p99: f64,
    pub age_p50: f64,
    pub age_p99: f64,
}

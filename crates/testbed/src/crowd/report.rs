//! What a crowd reports.

use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CrowdReport {
    /// How many bots there were.
    pub clients: usize,
    /// Actions that were answered.
    pub actions_acked: u64,
    /// Of these, those that were refused.
    pub actions_refused: u64,
    /// Half of the answers took less.
    pub action_latency_p50_ms: f64,
    /// One in a hundred took longer.
    pub action_latency_p99_ms: f64,
    /// The longest.
    pub action_latency_max_ms: f64,
    /// Actions answered per second, all together.
    pub actions_per_second: f64,
    /// Poses that arrived, per bot and second.
    pub updates_per_client_second: f64,
    /// Bytes of frames that arrived, per bot and second.
    pub bytes_per_client_second: f64,
    /// UDP packets (or WebSocket messages) that arrived, per bot and second.
    pub packets_per_client_second: f64,
    /// UDP bytes that arrived, per bot and second.
    pub udp_bytes_per_client_second: f64,
    /// UDP packets that left, per bot and second.
    pub packets_out_per_client_second: f64,
    /// UDP bytes that left, per bot and second.
    pub udp_bytes_out_per_client_second: f64,
    /// How often a bot came back in after its server was silent.
    pub reconnects: u64,
    /// Connections that were dialled again.
    pub redials: u64,
    /// Actions that were neither done nor refused by the end, and sessions lost.
    pub errors: u64,
    /// For how long, in seconds.
    pub seconds: f64,
}

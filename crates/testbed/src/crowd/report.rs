//! The report of a crowd.

use serde::{Deserialize, Serialize};

/// The measurements of a crowd.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CrowdReport {
    /// Number of bots that had a session.
    pub clients: usize,
    /// Number of bots that were in the world at the end.
    pub in_world: usize,
    /// Number of bots that were in the lobby's queue at the end.
    pub queued: usize,
    /// Actions that were answered, refusals included.
    pub actions_acked: u64,
    /// Answered actions that were refused.
    pub actions_refused: u64,
    /// Median of the answers' latency, in milliseconds.
    pub action_latency_p50_ms: f64,
    /// 99th percentile of the answers' latency, in milliseconds.
    pub action_latency_p99_ms: f64,
    /// The longest latency, in milliseconds.
    pub action_latency_max_ms: f64,
    /// Actions answered per second, all bots together.
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
    /// Number of times a bot entered again after its primary was silent.
    pub reconnects: u64,
    /// Connections that were made again.
    pub redials: u64,
    /// Actions that were neither done nor refused by the end, and sessions lost.
    pub errors: u64,
    /// Duration of the measurement, in seconds.
    pub seconds: f64,
}

//! Threads that must not be late: zones, and whatever carries their beacons.

use std::sync::atomic::{AtomicBool, Ordering};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

static SAID: AtomicBool = AtomicBool::new(false);

/// Puts the current thread before all ordinary ones, where the system allows it. Where it does not, a loaded
/// machine may delay beacons, and a backup may suspect a primary that is only slow: safe, but a needless failover.
pub fn raise() {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::RoundRobin);
    let lowest = ThreadPriority::Crossplatform(1_u8.try_into().expect("one is a priority"));
    if set_thread_priority_and_policy(thread_native_id(), lowest, policy).is_err()
        && !SAID.swap(true, Ordering::Relaxed)
    {
        tracing::info!("no leave to raise a thread's priority; on a busy machine failovers may be needless");
    }
}

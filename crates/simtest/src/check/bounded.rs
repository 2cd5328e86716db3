//! Queues stay below their limits.

use crate::simulated_world::SimulatedWorld;
use crate::violation::Violations;
use machine::{Address, Span};
use std::collections::BTreeMap;
use zone::ReplicaLoad;
use zone::config::{AHEAD_MAX, TAIL_MAX, UNANNOUNCED_BYTES_MAX};

const NAME: &str = "bounded";

/// Bytes that may be written beyond the limit of unacknowledged bytes: a primary looks at it before an event, not after
/// it, and admits players whatever waits.
const SLACK_BYTES: usize = 1024 * 1024;

/// Records that a tail may grow by between two cuts: a backup cuts it every few milliseconds, not with every record.
const SLACK_RECORDS: u64 = 512;

/// The longest time for which a backup waits for a silent primary, however late that was.
const GRACE_MAX: Span = Span::from_millis(1_500);

/// Number of looks in a row, with progress in between, at which a tail must be too long before it counts as uncut: a
/// tail is cut when something is announced or written to disk.
const LOOKS: u32 = 3;

/// Looks at the queues of every replica, now and then.
#[derive(Debug, Default)]
pub struct BoundedChecker {
    tails: BTreeMap<Address, TailProgress>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TailProgress {
    progress: u64,
    looks: u32,
}

impl BoundedChecker {
    /// Looks at the queues of every replica.
    pub fn look(&mut self, world: &SimulatedWorld, out: &mut Violations) {
        for (host, replica) in world.replicas() {
            self.look_at(host, replica.load(), out);
        }
    }

    fn look_at(&mut self, host: Address, load: ReplicaLoad, out: &mut Violations) {
        let ReplicaLoad { pending_bytes, ahead, tail, repeated_entries, grace, .. } = load;
        if GRACE_MAX < grace {
            out.add(NAME, format!("{host:?} waits for its primary for {grace}"));
        }
        if 0 < repeated_entries {
            out.add(
                NAME,
                format!("{host:?} showed everything to players who were in, {repeated_entries} times"),
            );
        }
        if UNANNOUNCED_BYTES_MAX + SLACK_BYTES < pending_bytes {
            out.add(NAME, format!("{pending_bytes} bytes of records wait in {host:?}"));
        }
        if AHEAD_MAX < ahead {
            out.add(NAME, format!("{ahead} actions of one player wait in {host:?}"));
        }
        if self.is_uncut(host, load) {
            out.add(NAME, format!("{host:?} keeps {tail} records in memory"));
        }
    }

    fn is_uncut(&mut self, host: Address, load: ReplicaLoad) -> bool {
        let before = self.tails.entry(host).or_default();
        let long = (TAIL_MAX as u64) + SLACK_RECORDS + load.needed < load.tail;
        let progress = before.progress < load.progress;
        // Without progress there was no occasion to cut.
        let looks = if !long { 0 } else { before.looks + u32::from(progress) };
        *before = TailProgress { progress: load.progress, looks };
        LOOKS <= looks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: ReplicaLoad = ReplicaLoad {
        jobs: 0,
        locks: 0,
        pending_bytes: UNANNOUNCED_BYTES_MAX,
        ahead: AHEAD_MAX,
        tail: TAIL_MAX as u64 + SLACK_RECORDS + 5,
        needed: 5,
        progress: 1,
        repeated_entries: 0,
        grace: GRACE_MAX,
    };

    fn violations(loads: &[ReplicaLoad]) -> Vec<String> {
        let (mut bounded, mut out) = (BoundedChecker::default(), Violations::new(1));
        for load in loads {
            bounded.look_at(Address(1), *load, &mut out);
        }
        out.into_vec().into_iter().map(|it| it.detail).collect()
    }

    #[test]
    fn whatever_is_full_is_not_too_full() {
        let later = (1..9).map(|progress| ReplicaLoad { progress, ..FULL });
        assert!(violations(&later.collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn every_queue_has_its_limit() {
        let bytes = ReplicaLoad { pending_bytes: UNANNOUNCED_BYTES_MAX + SLACK_BYTES + 1, ..FULL };
        assert!(violations(&[bytes])[0].contains("bytes of records wait"));
        assert!(violations(&[ReplicaLoad { ahead: 65, ..FULL }])[0].contains("65 actions of one player"));
        let patient = ReplicaLoad { grace: GRACE_MAX + Span::from_millis(1), ..FULL };
        assert!(violations(&[patient])[0].contains("waits for its primary for 1501ms"));
        assert!(violations(&[ReplicaLoad { repeated_entries: 1, ..FULL }])[0].contains("who were in"));
        let long = |progress| ReplicaLoad { tail: FULL.tail + 1, progress, ..FULL };
        assert!(violations(&[long(2), long(3)]).is_empty(), "it may be about to be cut");
        assert!(violations(&[long(2), long(2), long(2)]).is_empty(), "it sleeps");
        assert!(violations(&[long(2), long(3), long(4)])[0].contains("4614 records in memory"));
    }
}

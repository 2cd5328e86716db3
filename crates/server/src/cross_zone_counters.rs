//! Counters of what happens between zones, increased when a primary writes its records to disk.

use std::sync::atomic::{AtomicU64, Ordering};
use zone::{Change, PostItem, Record};

/// Counters of a host since it started. Records that a host did not write before it died are not counted.
#[derive(Debug, Default)]
pub struct CrossZoneCounters {
    transfers: AtomicU64,
    events: AtomicU64,
}

impl CrossZoneCounters {
    /// Objects transferred to another zone.
    pub fn transfers(&self) -> u64 {
        self.transfers.load(Ordering::Relaxed)
    }

    /// Events with participants in other zones, counted by the coordinator.
    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Counts the records that a primary writes.
    pub fn count(&self, zone: u32, records: &[Vec<u8>]) {
        let departed = |it: &Change| matches!(it, Change::Departed { .. });
        let decided = |it: &Change| matches!(it, Change::Posted { item: PostItem::Decided(_), .. });
        let (mut transfers, mut events) = (0, 0);
        for record in records.iter().filter_map(|it| Record::from_bytes(it)) {
            transfers += record.changes.iter().filter(|it| departed(it)).count() as u64;
            events += u64::from(record.changes.iter().any(decided));
        }
        // The usual batch has neither: spare the two look-ups of metrics.
        if 0 < transfers + events {
            self.transfers.fetch_add(transfers, Ordering::Relaxed);
            self.events.fetch_add(events, Ordering::Relaxed);
            let zone = zone.to_string();
            metrics::counter!("ecumene_transfers_total", "zone" => zone.clone()).increment(transfers);
            metrics::counter!("ecumene_cross_zone_events_total", "zone" => zone).increment(events);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Time;
    use space::{Epoch, ObjectId, ZoneId};
    use zone::{Cause, DecidedEvent, EventId};

    fn record(changes: Vec<Change>) -> Vec<u8> {
        let record = Record {
            index: 1,
            epoch: Epoch(1),
            cut: 0,
            time: Time::ZERO,
            cause: Cause::Leadership,
            changes,
            notices: Vec::new(),
            motions: Vec::new(),
        };
        record.to_bytes()
    }

    #[test]
    fn an_event_counts_once_for_all_participants_and_a_transfer_when_it_is_done() {
        let object = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter: 7 };
        let event = EventId { zone: ZoneId(1), epoch: Epoch(1), number: 1 };
        let whole = DecidedEvent { event, time: Time::ZERO, writes: Vec::new(), notices: Vec::new() };
        let posted = |to| Change::Posted { to, number: 1, item: PostItem::Decided(whole.clone()) };
        let departed = Change::Departed { object, to: ZoneId(2), incarnation: 2 };
        let counters = CrossZoneCounters::default();
        counters.count(1, &[record(vec![posted(ZoneId(2)), posted(ZoneId(3))]), record(vec![departed])]);
        counters.count(1, &[record(vec![Change::Offered { object, to: ZoneId(2) }]), b"no record".to_vec()]);
        assert_eq!((counters.transfers(), counters.events()), (1, 1));
    }
}

//! The tail of the record log in memory: records that the backup, the disk and returning players may still need.

use crate::record::Index;
use space::Epoch;
use std::collections::VecDeque;
use std::sync::Arc;

/// One record as bytes, with its epoch.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// Epoch in which it was written.
    pub epoch: Epoch,
    /// The encoded record, shared with the messages and disk requests that carry it.
    pub bytes: Arc<[u8]>,
}

/// The newest records of a zone's log.
#[derive(Clone, Debug, Default)]
pub struct RecordLog {
    /// Number of the last record before the tail, and its epoch; 0 before the first record.
    base: (Index, u32),
    tail: VecDeque<StoredRecord>,
}

impl RecordLog {
    /// A log whose tail starts after this record.
    pub const fn after(index: Index, epoch: Epoch) -> Self {
        Self { base: (index, epoch.0), tail: VecDeque::new() }
    }

    /// Number of the last record; 0 before the first.
    pub fn head(&self) -> Index {
        self.base.0 + self.tail.len() as u64
    }

    /// Number of the last record that is no longer in memory.
    pub const fn base(&self) -> Index {
        self.base.0
    }

    /// Number of records in memory.
    pub fn tail(&self) -> u64 {
        self.tail.len() as u64
    }

    /// Epoch and number of the last record: of two logs of a zone, the one with the greater pair is ahead.
    pub fn end(&self) -> (Epoch, Index) {
        let epoch = self.tail.back().map_or(Epoch(self.base.1), |it| it.epoch);
        (epoch, self.head())
    }

    pub(crate) fn push(&mut self, epoch: Epoch, bytes: Arc<[u8]>) {
        self.tail.push_back(StoredRecord { epoch, bytes });
    }

    /// A record; `None` if it is not in memory.
    pub fn get(&self, index: Index) -> Option<&StoredRecord> {
        let place = index.checked_sub(self.base.0 + 1)?;
        self.tail.get(usize::try_from(place).ok()?)
    }

    /// The bytes of the records from `first` on that fit into so many bytes. A record that is larger comes alone.
    pub fn batch(&self, first: Index, bytes_max: usize) -> Vec<&Arc<[u8]>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(record) = self.get(first + batch.len() as Index) {
            bytes += record.bytes.len();
            if !batch.is_empty() && bytes_max < bytes {
                break;
            }
            batch.push(&record.bytes);
        }
        batch
    }

    /// Whether this very record is in the log: a log that has it has everything before it, too.
    pub fn has(&self, epoch: Epoch, index: Index) -> bool {
        (index, epoch.0) == self.base || self.get(index).is_some_and(|it| it.epoch == epoch)
    }

    /// Forgets every record up to `index`.
    pub fn forget_to(&mut self, index: Index) {
        while self.base.0 < index
            && let Some(old) = self.tail.pop_front()
        {
            self.base = (self.base.0 + 1, old.epoch.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_knows_what_it_holds() {
        let mut log = RecordLog::after(10, Epoch(2));
        for epoch in [2, 2, 3] {
            log.push(Epoch(epoch), Arc::from([0_u8]));
        }
        assert_eq!((log.head(), log.end()), (13, (Epoch(3), 13)));
        assert!(log.has(Epoch(2), 10) && log.has(Epoch(2), 12) && log.has(Epoch(3), 13));
        assert!(!log.has(Epoch(2), 13) && !log.has(Epoch(3), 14) && !log.has(Epoch(2), 9));
        log.forget_to(12);
        assert!(
            log.has(Epoch(2), 12) && !log.has(Epoch(2), 11) && log.get(12).is_none() && log.get(13).is_some()
        );
        log.forget_to(99);
        assert_eq!(log.end(), (Epoch(3), 13));
    }

    #[test]
    fn a_batch_holds_what_fits_and_at_least_one_record() {
        let mut log = RecordLog::after(0, Epoch(1));
        for size in [3, 3, 3, 50, 1] {
            log.push(Epoch(1), Arc::from(vec![0_u8; size]));
        }
        let sizes = |first| log.batch(first, 8).iter().map(|it| it.len()).collect::<Vec<_>>();
        assert_eq!([sizes(1), sizes(3), sizes(4), sizes(5)], [vec![3, 3], vec![3], vec![50], vec![1]]);
        assert!(sizes(6).is_empty());
    }
}

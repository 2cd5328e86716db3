//! The tail of the record log in memory: what the backup, the disk and returning players may still need.

use crate::record::Index;
use space::Epoch;
use std::collections::VecDeque;
use std::sync::Arc;

/// One record, as bytes.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its epoch.
    pub epoch: Epoch,
    /// Its bytes, shared by whoever sends them.
    pub bytes: Arc<[u8]>,
}

/// The newest records.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The number of the last record before the tail, and its epoch.
    base: (Index, Epoch0),
    tail: VecDeque<Stored>,
}

/// The epoch before any record.
type Epoch0 = u32;

impl Log {
    /// A log whose tail starts after this record.
    pub const fn after(index: Index, epoch: Epoch) -> Self {
        Self { base: (index, epoch.0), tail: VecDeque::new() }
    }

    /// The number of the last record.
    pub fn head(&self) -> Index {
        self.base.0 + self.tail.len() as u64
    }

    /// The number of the last record that is no longer here.
    pub const fn base(&self) -> Index {
        self.base.0
    }

    /// How many records are here.
    pub fn tail(&self) -> u64 {
        self.tail.len() as u64
    }

    /// Where the log stands: the last record's epoch and number.
    pub fn standing(&self) -> (Epoch, Index) {
        let epoch = self.tail.back().map_or(Epoch(self.base.1), |it| it.epoch);
        (epoch, self.head())
    }

    /// Appends a record.
    pub(crate) fn push(&mut self, epoch: Epoch, bytes: Arc<[u8]>) {
        self.tail.push_back(Stored { epoch, bytes });
    }

    /// A record of the tail.
    pub fn get(&self, index: Index) -> Option<&Stored> {
        let place = index.checked_sub(self.base.0 + 1)?;
        self.tail.get(usize::try_from(place).ok()?)
    }

    /// Whether this very record is in the log: whoever has it has everything before it, too.
    pub fn has(&self, epoch: Epoch, index: Index) -> bool {
        (index, epoch.0) == self.base || self.get(index).is_some_and(|it| it.epoch == epoch)
    }

    /// Forgets everything up to `index`.
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
        let mut log = Log::after(10, Epoch(2));
        for epoch in [2, 2, 3] {
            log.push(Epoch(epoch), Arc::from([0_u8]));
        }
        assert_eq!((log.head(), log.standing()), (13, (Epoch(3), 13)));
        assert!(log.has(Epoch(2), 10) && log.has(Epoch(2), 12) && log.has(Epoch(3), 13));
        assert!(!log.has(Epoch(2), 13) && !log.has(Epoch(3), 14) && !log.has(Epoch(2), 9));
        log.forget_to(12);
        assert!(
            log.has(Epoch(2), 12) && !log.has(Epoch(2), 11) && log.get(12).is_none() && log.get(13).is_some()
        );
        log.forget_to(99);
        assert_eq!(log.standing(), (Epoch(3), 13));
    }
}

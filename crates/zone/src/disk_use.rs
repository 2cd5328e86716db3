//! What a replica's disk was given, and how far it is. The disk serves one request after the other.

use crate::record::Index;
use machine::Ticket;
use std::collections::VecDeque;

/// The requests to a disk, and the records that it has.
#[derive(Debug, Default)]
pub(crate) struct DiskUse {
    tickets: u64,
    /// Records up to this were handed to the disk.
    pub(crate) written: Index,
    /// Records up to this survive a crash.
    pub(crate) persisted: Index,
    /// Appends and snapshots that the disk has not finished, and the record up to which each persists the log.
    under_way: VecDeque<(Ticket, Index)>,
    /// The last snapshot handed to the disk stands for this record.
    pub(crate) kept: Index,
}

impl DiskUse {
    pub(crate) const fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Returns whether the disk works on an append or a snapshot.
    pub(crate) fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Notes a request that persists the log up to a record. Returns its ticket.
    pub(crate) fn begin(&mut self, up_to: Index) -> Ticket {
        let ticket = self.ticket();
        self.under_way.push_back((ticket, up_to));
        ticket
    }

    /// The log is replaced: requests about the old one do not count any more, and nothing of the new one is on disk.
    pub(crate) fn restart(&mut self, index: Index) {
        self.under_way.clear();
        (self.written, self.persisted, self.kept) = (index, 0, index);
    }

    /// The disk finished a request. Returns whether more records, or a snapshot, survive a crash now.
    pub(crate) fn done(&mut self, ticket: Ticket) -> bool {
        let mut any = false;
        // The disk works in order, so a later ticket means that earlier ones are done, too.
        while let Some((_, index)) = self.under_way.pop_front_if(|it| it.0 <= ticket) {
            self.persisted = self.persisted.max(index);
            any = true;
        }
        any
    }
}

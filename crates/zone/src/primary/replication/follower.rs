//! The follower: the replica that gets the primary's records. It is the backup, or is to become it.

use crate::record::Index;
use machine::{Address, Span, Time};
use space::Epoch;

/// The backup, or a replica that is brought up to date to become it.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) address: Address,
    /// The primary's epoch when this follower was recruited. Acknowledgements of older epochs may cover other records.
    pub(super) since: Epoch,
    /// True if the first acknowledgement has come. It says where to begin; no record is sent before it.
    pub(super) confirmed: bool,
    /// The last records that were sent to it, are in its memory, and are on its disk.
    pub(super) sent: Index,
    pub(super) acked: Index,
    pub(super) synced: Index,
    /// When the follower was last known to be alive.
    pub(super) heard: Time,
    /// How late it is, and for how long it waits for a silent primary, as it told last.
    pub(super) late: Span,
    pub(super) grace: Span,
    /// When it was last sent an invitation to follow, or a part of a snapshot.
    pub(super) invited: Time,
}

/// An acknowledgement, and the epoch it was sent in.
#[derive(Clone, Copy, Debug)]
pub(in crate::primary) struct Acknowledgement {
    pub(in crate::primary) epoch: Epoch,
    /// The last record in the follower's memory.
    pub(in crate::primary) index: Index,
    /// The last record on the follower's disk.
    pub(in crate::primary) synced: Index,
}

impl Follower {
    pub(super) const fn new(address: Address, at: Index, since: Epoch, now: Time) -> Self {
        Self {
            address,
            since,
            confirmed: false,
            sent: at,
            acked: at,
            synced: 0,
            heard: now,
            late: Span::ZERO,
            grace: Span::ZERO,
            invited: now,
        }
    }

    /// Notes how far the follower's disk is. A datagram of an earlier epoch may be about other records.
    pub(super) fn note_synced(&mut self, synced: Index, epoch: Epoch) {
        if self.confirmed && self.since <= epoch {
            self.synced = self.synced.max(synced.min(self.sent));
        }
    }

    /// Takes in an acknowledgement. Returns whether it is the first, which says where to begin.
    pub(super) fn acknowledge(&mut self, acked: Acknowledgement, now: Time) -> bool {
        let first = !std::mem::replace(&mut self.confirmed, true);
        self.heard = now;
        if first {
            (self.acked, self.sent) = (acked.index, acked.index);
        }
        // Never beyond `sent`: what a follower stored in an earlier epoch may not be what was sent now.
        self.acked = self.acked.max(acked.index.min(self.sent));
        self.synced = self.synced.max(acked.synced);
        assert!(self.acked <= self.sent, "a follower acknowledges what it was sent");
        first
    }
}

/// A snapshot on its way to a recruit, sent part by part.
#[derive(Debug)]
pub(super) struct OutgoingSnapshot {
    pub(super) index: Index,
    pub(super) bytes: Vec<u8>,
    /// The bytes before this one were sent.
    pub(super) offset: usize,
}

/// The disks and replicas that a primary waits for before a record is safe.
#[derive(Debug)]
pub(super) enum ReplicationMode {
    /// The primary's own disk only.
    Alone,
    /// The primary's own disk. A new backup is brought up to date meanwhile.
    Recruiting(Follower, Option<OutgoingSnapshot>),
    /// The primary's own disk *and* the new backup, whose swap is about to be sent or on its way. No record is safe by
    /// the disk alone from before the swap was sent: if it succeeds unheard and this primary dies, the backup has all.
    Naming(Follower, NamingStage),
    /// The backup, which the directory names.
    Paired(Follower),
}

/// The steps by which a new backup is named in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamingStage {
    /// The follower still lacks announced records.
    CatchingUp,
    /// The swap was sent and may happen.
    Swapping,
}

impl ReplicationMode {
    pub(super) const fn backup(&self) -> Option<Address> {
        match self {
            Self::Paired(follower) => Some(follower.address),
            _ => None,
        }
    }

    /// Records after this one may still have to be sent to the follower.
    pub(super) const fn needed_after(&self) -> Index {
        match self {
            Self::Alone => Index::MAX,
            Self::Recruiting(follower, _) | Self::Naming(follower, _) | Self::Paired(follower) => {
                follower.acked
            }
        }
    }

    /// The snapshot has arrived at the recruit.
    pub(super) fn end_snapshot(&mut self) {
        if let Self::Recruiting(_, copy) = self {
            *copy = None;
        }
    }

    pub(super) const fn follower(&mut self) -> Option<&mut Follower> {
        match self {
            Self::Alone => None,
            Self::Recruiting(follower, _) | Self::Naming(follower, _) | Self::Paired(follower) => {
                Some(follower)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_of_an_earlier_epoch_says_nothing_about_the_disk() {
        let mut follower = Follower::new(Address(7), 90, Epoch(4), Time::ZERO);
        follower.note_synced(80, Epoch(4)); // It has not confirmed where its log ends.
        assert_eq!(follower.synced, 0);
        follower.acknowledge(Acknowledgement { epoch: Epoch(4), index: 90, synced: 85 }, Time::ZERO);
        follower.note_synced(100, Epoch(3));
        assert_eq!(follower.synced, 85);
        follower.note_synced(100, Epoch(4)); // More than it was sent.
        assert_eq!(follower.synced, 90);
    }
}

//! The replica that gets the primary's records: a backup, or one that is to become it.

use crate::record::Index;
use machine::{Address, Time};
use space::Epoch;

/// A replica that gets the primary's records.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) address: Address,
    /// Acknowledgements of an older epoch are of an older time.
    pub(super) since: Epoch,
    /// Nothing is sent before the first acknowledgement says where to begin.
    pub(super) confirmed: bool,
    pub(super) sent: Index,
    pub(super) acked: Index,
    pub(super) synced: Index,
    /// When it last answered anything.
    pub(super) heard: Time,
    /// When it was last sent something to begin with.
    pub(super) invited: Time,
}

/// An acknowledgement, and the epoch it was sent in.
#[derive(Clone, Copy, Debug)]
pub(in crate::primary) struct Acked {
    pub(in crate::primary) epoch: Epoch,
    /// In memory up to here.
    pub(in crate::primary) index: Index,
    /// On disk up to here.
    pub(in crate::primary) synced: Index,
}

impl Follower {
    pub(super) const fn new(address: Address, at: Index, since: Epoch, now: Time) -> Self {
        Self { address, since, confirmed: false, sent: at, acked: at, synced: 0, heard: now, invited: now }
    }

    /// Takes an acknowledgement in; whether it is the first, which says where to begin.
    pub(super) fn take(&mut self, acked: Acked, now: Time) -> bool {
        let first = !std::mem::replace(&mut self.confirmed, true);
        self.heard = now;
        if first {
            (self.acked, self.sent) = (acked.index, acked.index);
        }
        self.acked = self.acked.max(acked.index.min(self.sent));
        self.synced = self.synced.max(acked.synced);
        assert!(self.acked <= self.sent, "a follower acknowledges what it was sent");
        first
    }
}

/// A snapshot on its way.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) index: Index,
    pub(super) bytes: Vec<u8>,
    pub(super) offset: usize,
}

/// Whom the primary waits for.
#[derive(Debug)]
pub(super) enum Mode {
    /// Its own disk.
    Alone,
    /// Its own disk; a new backup is being brought up to date.
    Recruiting(Follower, Option<Copy>),
    /// Its own disk *and* the new backup, whose swap is about to be sent or on its way. Commits alone ended before the
    /// swap was sent: if it succeeds unheard and this primary dies, the backup has everything.
    Naming(Follower, Naming),
    /// Its backup.
    Paired(Follower),
}

/// How far the naming of a backup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Waiting until the backup has everything that was announced.
    CatchingUp,
    /// The swap was sent and may happen.
    Swapping,
}

impl Mode {
    pub(super) const fn backup(&self) -> Option<Address> {
        match self {
            Self::Paired(follower) => Some(follower.address),
            _ => None,
        }
    }

    /// Records after this may still have to be sent.
    pub(super) const fn needed_after(&self) -> Index {
        match self {
            Self::Alone => Index::MAX,
            Self::Recruiting(follower, _) | Self::Naming(follower, _) | Self::Paired(follower) => {
                follower.acked
            }
        }
    }

    /// The snapshot has arrived.
    pub(super) fn end_copy(&mut self) {
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

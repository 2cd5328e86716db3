//! The home: the replica that the player believes, and how much of its zone's records the player has heard.

use crate::msg::ToPlayer;
use crate::record::Index;
use machine::{Address, Time};
use space::{Epoch, ObjectId, ZoneId};
use std::collections::BTreeMap;

pub(super) struct Home {
    address: Option<Address>,
    /// The zone of the last home. Stays while the player searches.
    zone: ZoneId,
    /// The highest epoch heard of, per zone.
    epochs: BTreeMap<ZoneId, Epoch>,
    /// The epoch in which the home let the player in.
    entered: Epoch,
    /// Number of owners of the avatar so far: an earlier one is not believed.
    incarnation: u32,
    /// Number of the last record heard of; 0 if of none.
    seen: Index,
    /// Whether the zone has lost some of what the player has seen.
    may_know_less: bool,
    /// Own time at which the home was heard last.
    heard: Time,
    /// Value of `heard` before the silence that was excused last.
    excused: Option<Time>,
}

impl Home {
    pub const fn new() -> Self {
        Self {
            address: None,
            zone: ZoneId(0),
            epochs: BTreeMap::new(),
            entered: Epoch(0),
            incarnation: 0,
            seen: 0,
            may_know_less: false,
            heard: Time::ZERO,
            excused: None,
        }
    }

    pub const fn address(&self) -> Option<Address> {
        self.address
    }

    pub fn is(&self, address: Address) -> bool {
        self.address == Some(address)
    }

    pub const fn zone(&self) -> ZoneId {
        self.zone
    }

    /// The highest epoch of the home's zone heard.
    pub fn epoch(&self) -> Epoch {
        self.epoch_of(self.zone)
    }

    pub fn epoch_of(&self, zone: ZoneId) -> Epoch {
        self.epochs.get(&zone).copied().unwrap_or(Epoch(0))
    }

    /// Whether a message must not be believed. Only the home reports events, in the epoch in which it let the player in
    /// or a later one; other replicas may only let the player in or refuse to, and not in an epoch that is over.
    pub fn is_stale(
        &self,
        from: Address,
        (zone, epoch): (ZoneId, Epoch),
        msg: &ToPlayer,
        me: Option<ObjectId>,
    ) -> bool {
        match msg {
            ToPlayer::Entered { avatar, incarnation, .. } => {
                let earlier = me == Some(*avatar) && *incarnation < self.incarnation;
                epoch < self.epoch_of(zone) || earlier
            }
            ToPlayer::Closed(_) => epoch < self.epoch_of(zone),
            // It says nothing about the world, and a replica without a role may not know the newest epoch.
            ToPlayer::NotHere { .. } => false,
            // Datagrams overtake, so the home's own epochs may be heard out of order.
            _ => !self.is(from) || epoch < self.entered,
        }
    }

    /// A replica that is believed speaks in this epoch.
    pub fn raise_epoch(&mut self, zone: ZoneId, epoch: Epoch) {
        let known = self.epochs.entry(zone).or_insert(epoch);
        *known = (*known).max(epoch);
    }

    /// A zone lets the player in. Records of another zone, and those after a loss, are counted anew.
    pub fn enter(&mut self, zone: ZoneId, epoch: Epoch, incarnation: u32, lost: bool) {
        if lost || self.zone != zone {
            self.seen = 0;
        }
        (self.zone, self.entered, self.incarnation, self.may_know_less) = (zone, epoch, incarnation, lost);
    }

    pub const fn move_to(&mut self, address: Address) {
        self.address = Some(address);
    }

    pub const fn forget(&mut self) {
        self.address = None;
    }

    pub const fn hear(&mut self, now: Time) {
        self.heard = now;
    }

    pub const fn heard(&self) -> Time {
        self.heard
    }

    /// Excuses a silence. Returns false for one that was excused before.
    pub fn excuse_silence(&mut self) -> bool {
        self.excused.replace(self.heard) != Some(self.heard)
    }

    pub const fn may_know_less(&self) -> bool {
        self.may_know_less
    }

    /// The last record heard of, to hear what was missed since.
    pub fn seen(&self) -> Option<(ZoneId, Epoch, Index)> {
        (0 < self.seen).then(|| (self.zone, self.epoch(), self.seen))
    }

    pub fn see(&mut self, index: Index) {
        self.seen = self.seen.max(index);
    }

    /// Whether the notices of this record were not told before. After a switch, records are told again; those of a
    /// neighbour have no number here, and are not told again.
    pub const fn is_news(&self, index: Index) -> bool {
        self.seen < index || index == 0
    }
}

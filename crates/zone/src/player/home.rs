//! The replica that the player believes, and how much of its zone's records the player has heard.

use crate::msg::Down;
use crate::record::Index;
use machine::{Address, Time};
use space::{Epoch, ObjectId, ZoneId};
use std::collections::BTreeMap;

pub(super) struct Home {
    address: Option<Address>,
    /// Stays while the zone's replica is being looked for.
    zone: ZoneId,
    /// The highest epoch heard of, per zone.
    epochs: BTreeMap<ZoneId, Epoch>,
    /// The epoch in which the home let the player in.
    entered: Epoch,
    /// Number of owners the avatar has had: an earlier owner is not believed.
    incarnation: u32,
    /// The last record heard of.
    seen: Index,
    /// Whether the zone has lost some of what the player has seen.
    may_know_less: bool,
    /// When the home was heard last.
    heard: Time,
    /// When the home was heard last before a silence that was forgiven.
    forgiven: Option<Time>,
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
            forgiven: None,
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

    /// Whether this must not be believed. Only the home tells what happens, in the epoch in which it let the player in or
    /// a later one; other replicas may only offer themselves, and not in an epoch that is over.
    pub fn is_stale(
        &self,
        from: Address,
        (zone, epoch): (ZoneId, Epoch),
        down: &Down,
        me: Option<ObjectId>,
    ) -> bool {
        match down {
            Down::Entered { avatar, incarnation, .. } => {
                let earlier = me == Some(*avatar) && *incarnation < self.incarnation;
                epoch < self.epoch_of(zone) || earlier
            }
            Down::Closed(_) => epoch < self.epoch_of(zone),
            Down::NotHere { .. } => false,
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

    /// Forgives a silence. Gives false for one that was forgiven before.
    pub fn forgive(&mut self) -> bool {
        self.forgiven.replace(self.heard) != Some(self.heard)
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

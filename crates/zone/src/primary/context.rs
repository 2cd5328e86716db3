//! The context that every part of a primary works with: the replica's core, the outbox, and the leadership. A context
//! can send to clients, replicas and other zones, and commits nothing; see `turn` for what commits.

use crate::carrier_update::CarrierUpdate;
use crate::core::{Core, ReplicaEvent, ReplicaOutbox};
use crate::mesh::BetweenZones;
use crate::msg::{BetweenReplicas, ToPlayer, ZoneMsg};
use crate::note::Note;
use crate::rule::Rule;
use machine::{Address, Lane, Time};
use space::{Epoch, ZoneId};

/// The replica's core, the outbox for its outputs, the epoch and the backup.
pub(crate) struct PrimaryContext<'a> {
    pub(super) core: &'a mut Core,
    pub(super) out: &'a mut ReplicaOutbox,
    pub(super) epoch: Epoch,
    /// The backup that must acknowledge, if there is one.
    pub(super) backup: Option<Address>,
}

impl PrimaryContext<'_> {
    /// The same context, for a shorter while.
    pub(super) const fn reborrow(&mut self) -> PrimaryContext<'_> {
        PrimaryContext { core: self.core, out: self.out, epoch: self.epoch, backup: self.backup }
    }

    pub(super) const fn zone(&self) -> ZoneId {
        self.core.config.zone
    }

    pub(super) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The replica's own clock, for timeouts. Players and records have `world_now`.
    pub(super) const fn now(&self) -> Time {
        self.core.now
    }

    pub(super) fn world_now(&mut self) -> Time {
        self.core.world_now()
    }

    pub(super) const fn enforces(&self, rule: Rule) -> bool {
        self.core.enforces(rule)
    }

    pub(super) fn note(&mut self, note: impl FnOnce() -> Note) {
        self.core.note(self.out, note);
    }

    /// Tells the carrier where an object is, or which client gets poses.
    pub(super) fn update_carrier(&mut self, update: CarrierUpdate) {
        self.out.raise(ReplicaEvent::Carrier(update));
    }

    /// Sends a message to one client.
    pub(super) fn send_client(&mut self, to: Address, msg: ToPlayer) {
        self.send_clients([to], msg);
    }

    /// Sends one message to many clients.
    pub(super) fn send_clients(&mut self, to: impl IntoIterator<Item = Address>, msg: ToPlayer) {
        let msg = ZoneMsg::ToPlayer(self.zone(), self.epoch(), msg);
        self.out.send_many(to, Lane::Sure, msg);
    }

    /// Sends a message to another replica of this zone.
    pub(super) fn send_replica(&mut self, to: Address, lane: Lane, msg: BetweenReplicas) {
        self.core.send_replica(to, lane, self.epoch, msg, self.out);
    }

    /// Sends a message to the primary of another zone. While that primary is unknown or out of reach, the message is
    /// dropped, and the zone's replicas are asked which of them is primary.
    pub(super) fn send_zone(&mut self, zone: ZoneId, lane: Lane, mesh: BetweenZones) {
        match self.core.remote_primaries.address(zone).filter(|it| self.core.links.contains_key(it)) {
            Some(address) => self.send_zone_replica(address, lane, mesh),
            None => self.seek(zone),
        }
    }

    /// Sends a message to a replica of another zone.
    pub(super) fn send_zone_replica(&mut self, to: Address, lane: Lane, mesh: BetweenZones) {
        let msg = self.mesh_msg(mesh);
        self.out.send(to, lane, msg);
    }

    /// Asks all replicas of a zone which of them is primary, unless they were asked a moment ago.
    pub(super) fn seek(&mut self, zone: ZoneId) {
        if !self.core.remote_primaries.should_seek(zone, self.core.now) {
            return;
        }
        let msg = self.mesh_msg(BetweenZones::Seek);
        let links = self.core.links.keys().copied();
        let replicas = links.filter(|&it| (self.core.config.zone_of)(it) == Some(zone));
        self.out.send_many(replicas, Lane::Sure, msg);
    }

    /// Every message carries the sender's world time, so that no zone's clock falls far behind another's: an object
    /// that changes zones would be in two places at once, by two clocks.
    fn mesh_msg(&self, mesh: BetweenZones) -> ZoneMsg {
        ZoneMsg::BetweenZones(self.zone(), self.epoch(), self.core.world_time(self.core.now), mesh)
    }
}

//! What every part of a primary works with: the replica's core, the outbox, and the reign. A context can speak to
//! everybody and commits nothing; see `turn` for what commits.

use crate::carrier_update::CarrierUpdate;
use crate::core::{Core, Event, Out};
use crate::entry::Reign;
use crate::mesh::Mesh;
use crate::msg::{Down, Msg, Peer};
use crate::note::Note;
use crate::rule::Rule;
use machine::{Address, Lane, Time};
use space::{Epoch, ZoneId};

/// The replica's core, where effects go, and the reign.
pub(crate) struct Ctx<'a> {
    pub(super) core: &'a mut Core,
    pub(super) out: &'a mut Out,
    /// The epoch, and the backup that must acknowledge, if there is one.
    pub(super) reign: Reign,
}

impl Ctx<'_> {
    /// The same context, for a shorter while.
    pub(super) const fn reborrow(&mut self) -> Ctx<'_> {
        Ctx { core: self.core, out: self.out, reign: self.reign }
    }

    pub(super) const fn zone(&self) -> ZoneId {
        self.core.config.zone
    }

    pub(super) const fn epoch(&self) -> Epoch {
        self.reign.epoch
    }

    /// The replica's own time.
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

    /// Tells the carrier where things are and who listens.
    pub(super) fn update_carrier(&mut self, update: CarrierUpdate) {
        self.out.raise(Event::Carrier(update));
    }

    /// Says something to a client.
    pub(super) fn say(&mut self, to: Address, down: Down) {
        self.say_all([to], down);
    }

    /// Says the same to many clients.
    pub(super) fn say_all(&mut self, to: impl IntoIterator<Item = Address>, down: Down) {
        let msg = Msg::Down(self.zone(), self.epoch(), down);
        self.out.send_many(to, Lane::Sure, msg);
    }

    /// Says something to another replica of this zone.
    pub(super) fn send_replica(&mut self, to: Address, lane: Lane, msg: Peer) {
        self.core.send_peer(to, lane, self.reign.epoch, msg, self.out);
    }

    /// Says something to the primary of another zone, or asks who that is.
    pub(super) fn tell_zone(&mut self, zone: ZoneId, lane: Lane, mesh: Mesh) {
        match self.core.peers.address(zone).filter(|it| self.core.links.contains_key(it)) {
            Some(address) => self.tell_replica(address, lane, mesh),
            None => self.seek(zone),
        }
    }

    /// Says something to a replica of another zone.
    pub(super) fn tell_replica(&mut self, to: Address, lane: Lane, mesh: Mesh) {
        let msg = self.mesh_msg(mesh);
        self.out.send(to, lane, msg);
    }

    /// Asks all replicas of a zone which of them decides, now and then.
    pub(super) fn seek(&mut self, zone: ZoneId) {
        if !self.core.peers.seeks(zone, self.core.now) {
            return;
        }
        let msg = self.mesh_msg(Mesh::Seek);
        let links = self.core.links.keys().copied();
        let replicas = links.filter(|&it| (self.core.config.zone_of)(it) == Some(zone));
        self.out.send_many(replicas, Lane::Sure, msg);
    }

    /// Every message says how late it is here, so that no zone falls far behind another: an object that changes zones
    /// would be in two places at once, by two clocks.
    fn mesh_msg(&self, mesh: Mesh) -> Msg {
        Msg::Mesh(self.zone(), self.epoch(), self.core.world_time(self.core.now), mesh)
    }
}

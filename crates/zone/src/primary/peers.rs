//! Who decides in the other zones. Nobody is told: whoever wants to know asks all replicas of a zone, and the one that
//! decides answers. Every message says its zone and epoch, so each one is news; and how late it is there, so that no zone
//! is far behind another: what goes over would be in two places at once, by two clocks.

use super::Primary;
use crate::core::{Core, Out, Purpose};
use crate::mesh::Mesh;
use crate::msg::Msg;
use crate::plant::Plant;
use machine::{Address, Lane, Span, Time};
use space::{Epoch, ZoneId};
use std::collections::BTreeMap;

/// How often the affairs with other zones are looked after.
pub(super) const TICK: Span = Span::from_millis(50);

/// Between two questions who decides in a zone.
const SEEK_EVERY: Span = Span::from_millis(100);

/// A zone that was silent for this long may have another primary.
pub(super) const SILENT: Span = Span::from_millis(1_000);

/// The primary of another zone, as far as is known.
#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    epoch: Option<Epoch>,
    address: Option<Address>,
    heard: Time,
    sought: Option<Time>,
}

/// The primaries of other zones.
#[derive(Debug, Default)]
pub(super) struct Peers(BTreeMap<ZoneId, Peer>);

impl Peers {
    /// Where a zone's primary is.
    pub(super) fn address(&self, zone: ZoneId) -> Option<Address> {
        self.0.get(&zone)?.address
    }

    /// Whether a zone's primary was heard a short while ago.
    pub(super) fn is_there(&self, zone: ZoneId, now: Time) -> bool {
        self.0.get(&zone).is_some_and(|it| it.address.is_some() && now.since(it.heard) < SILENT)
    }
}

impl Primary {
    /// Says something to the primary of another zone, or asks who that is.
    pub(super) fn tell_zone(&mut self, core: &Core, zone: ZoneId, lane: Lane, mesh: Mesh, out: &mut Out) {
        match self.peers.address(zone).filter(|it| core.links.contains_key(it)) {
            Some(address) => out.send(address, lane, self.said(core, mesh)),
            None => self.seek(core, zone, out),
        }
    }

    fn said(&self, core: &Core, mesh: Mesh) -> Msg {
        Msg::Mesh(self.zone, self.epoch, core.world_time(core.now), mesh)
    }

    /// Asks who decides in a zone, now and then.
    pub(super) fn seek(&mut self, core: &Core, zone: ZoneId, out: &mut Out) {
        let peer = self.peers.0.entry(zone).or_default();
        if peer.sought.is_some_and(|it| core.now.since(it) < SEEK_EVERY) {
            return;
        }
        peer.sought = Some(core.now);
        let replicas = core.links.keys().copied().filter(|&it| (core.config.zone_of)(it) == Some(zone));
        out.send_many(replicas, Lane::Sure, self.said(core, Mesh::Seek));
    }

    /// Another zone says something.
    pub(crate) fn on_mesh(
        &mut self,
        core: &mut Core,
        from: Address,
        (zone, epoch, time): (ZoneId, Epoch, Time),
        mesh: Mesh,
        out: &mut Out,
    ) {
        if !self.believes(core, from, zone, epoch, out) {
            return;
        }
        core.hear_time(time);
        match mesh {
            Mesh::Seek => self.tell_zone(core, zone, Lane::Sure, Mesh::Here, out),
            Mesh::Here => (),
            Mesh::Post { first, items } => self.on_post(core, zone, first, items, out),
            Mesh::Posted { upto } => self.on_posted(core, zone, upto),
            Mesh::Lock(wanted) => self.on_lock(core, zone, wanted, out),
            Mesh::Granted { event, attempt, time, objects } => {
                self.on_granted(core, zone, (event, attempt), (time, objects), out);
            }
            Mesh::Denied { event, attempt, why } => self.on_denied(core, event, attempt, why, out),
            Mesh::Release { event, attempt } => self.on_release(core, zone, event, attempt, out),
            Mesh::Ask { event, attempt } => self.on_ask(core, zone, event, attempt, out),
            Mesh::Watch => self.on_watch(core, zone, out),
            Mesh::Ghosts(ghosts) => self.on_ghosts(core, zone, ghosts, out),
            Mesh::Told(told) => self.on_ghosts_told(core, zone, told, out),
            Mesh::Motions(motions) => self.on_ghost_motions(core, zone, &motions, out),
        }
        self.seen_to(core, out);
    }

    /// Takes in who speaks; whether they are to be believed.
    fn believes(
        &mut self,
        core: &mut Core,
        from: Address,
        zone: ZoneId,
        epoch: Epoch,
        out: &mut Out,
    ) -> bool {
        if (core.config.zone_of)(from) != Some(zone) || zone == self.zone {
            return false;
        }
        let fenced = !core.config.plants.has(Plant::MeshUnfenced);
        let peer = self.peers.0.entry(zone).or_default();
        if peer.epoch.is_some_and(|known| epoch < known) && fenced {
            return false;
        }
        // Also in a new reign of the same replica: what it knew beyond its log it has forgotten.
        let new = (peer.epoch, peer.address) != (Some(epoch), Some(from));
        (peer.epoch, peer.address, peer.heard) = (Some(epoch), Some(from), core.now);
        if new {
            self.meet(core, zone, out);
        }
        true
    }

    /// A zone has a primary that has not heard from us.
    fn meet(&mut self, core: &mut Core, zone: ZoneId, out: &mut Out) {
        self.post_again(core, zone, out);
        if self.borders.is_neighbour(zone) {
            self.watch(core, zone, out);
        }
    }

    pub(super) fn peer_lost(&mut self, address: Address) {
        for (&zone, peer) in self.peers.0.iter_mut().filter(|it| it.1.address == Some(address)) {
            peer.address = None;
            self.borders.unwatched(zone);
        }
    }

    /// A replica of another zone can be reached (again).
    pub(super) fn peer_linked(&mut self, core: &mut Core, address: Address, out: &mut Out) {
        let Some(zone) = (core.config.zone_of)(address).filter(|&it| it != self.zone) else { return };
        if self.peers.address(zone).is_none() && self.borders.is_neighbour(zone) {
            out.send(address, Lane::Sure, self.said(core, Mesh::Seek));
        }
    }

    /// Looks after everything between zones.
    pub(super) fn look_abroad(&mut self, core: &mut Core, out: &mut Out) {
        core.wake_after(Purpose::Abroad, TICK);
        if !core.config.is_meshed() {
            return;
        }
        self.seek_silent(core, out);
        self.look_after_borders(core, out);
        self.look_after_post(core, out);
        self.look_after_grants(core, out);
        self.look_after_jobs(core, out);
        self.offer_strayed(core, out);
        self.past.forget(core.now);
        self.seen_to(core, out);
    }

    fn seek_silent(&mut self, core: &Core, out: &mut Out) {
        for zone in self.borders.neighbours() {
            if !self.peers.is_there(zone, core.now) {
                self.seek(core, zone, out);
            }
        }
    }
}

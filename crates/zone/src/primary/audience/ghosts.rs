//! Neighbouring zones tell the primary about their objects near the border. The primary keeps these as ghosts, and tells its
//! own clients.

use super::Audience;
use crate::carrier_update::CarrierUpdate;
use crate::mesh::{BorderUpdate, ObjectSnapshot};
use crate::msg::{ShownObject, ToPlayer};
use crate::object_table::Object;
use crate::primary::context::PrimaryContext;
use crate::rule::Rule;
use game::{Hearers, Viewer};
use machine::Address;
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId, ZoneId};
use std::collections::BTreeMap;

impl Audience {
    /// A neighbour sends all its objects near our border.
    pub(in crate::primary) fn on_ghosts(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        zone: ZoneId,
        ghosts: Vec<ObjectSnapshot>,
    ) {
        let Some(gone) = self.borders.begin_refresh(zone, &ghosts, cx.now()) else { return };
        for object in gone {
            self.hide_ghost(cx, object);
        }
        for snapshot in ghosts {
            self.receive_ghost(cx, zone, snapshot);
        }
    }

    /// A neighbour sends what one of its records changed near our border, or which objects came near.
    pub(in crate::primary) fn on_border_update(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        zone: ZoneId,
        update: BorderUpdate,
    ) {
        self.tell_notices(cx, &update.notices);
        if !self.borders.confirm(zone, cx.now()) {
            return; // We wait for all its objects; they will include this change.
        }
        for snapshot in update.shown {
            self.receive_ghost(cx, zone, snapshot);
        }
        for (object, incarnation, version) in update.gone {
            self.ghost_gone(cx, zone, object, (incarnation, version));
        }
        for (object, incarnation, to) in update.moved {
            self.borders.change_owner(object, incarnation, to, cx.now());
        }
    }

    /// An owner stops telling us about its object: it is not near any more. The highest incarnation means that the
    /// object was removed.
    fn ghost_gone(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        zone: ZoneId,
        object: ObjectId,
        (incarnation, version): (u32, u32),
    ) {
        self.borders.forget_early(object);
        let of_zone = self.borders.owner(object) == Some(zone);
        let ghost = self.ghosts().get(object).filter(|it| of_zone && it.version <= version);
        let Some(known) = ghost.map(|it| it.incarnation) else { return };
        if incarnation == u32::MAX {
            self.lose_ghost(cx, object, version);
        } else if known <= incarnation {
            self.hide_ghost(cx, object);
        }
    }

    /// A neighbour sends the motions of its objects.
    pub(in crate::primary) fn on_ghost_motions(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        zone: ZoneId,
        motions: &[(ObjectId, Motion)],
    ) {
        if !self.borders.confirm(zone, cx.now()) {
            return;
        }
        for (object, motion) in motions {
            if self.borders.move_ghost(zone, *object, motion) {
                cx.update_carrier(CarrierUpdate::Carry(*object, *motion));
            }
        }
    }

    fn receive_ghost(&mut self, cx: &mut PrimaryContext<'_>, owner: ZoneId, snapshot: ObjectSnapshot) {
        let object = snapshot.object;
        if self.borders.update_ghost(cx, owner, snapshot) {
            self.show_ghost(cx, object);
        }
    }

    /// Shows a ghost's new state to the clients that know it.
    fn show_ghost(&self, cx: &mut PrimaryContext<'_>, object: ObjectId) {
        let Some(it) = self.ghosts().get(object) else { return };
        let mut audiences: BTreeMap<Viewer, Vec<Address>> = BTreeMap::new();
        for &address in self.views.clients(object) {
            let Some(viewer) = self.sessions.viewer(address, object) else { continue };
            audiences.entry(viewer).or_default().push(address);
        }
        for (viewer, audience) in audiences {
            let Some(shown) = cx.core.config.rules.show(&it.state, viewer) else { continue };
            let (incarnation, version, motion) = (it.incarnation, it.version, it.motion);
            let shown =
                vec![ShownObject { object, incarnation, version, motion, shown: ByteBuf::from(shown) }];
            cx.send_clients(
                audience,
                ToPlayer::Told { index: 0, shown, gone: Vec::new(), notices: Vec::new() },
            );
        }
    }

    /// Sends our clients the notices of another zone's event.
    fn tell_notices(&self, cx: &mut PrimaryContext<'_>, notices: &[(Hearers, ByteBuf)]) {
        for (to, notice) in notices {
            let audience = self.hearers(cx.core, *to);
            let notices = vec![notice.clone()];
            cx.send_clients(
                audience,
                ToPlayer::Told { index: 0, shown: Vec::new(), gone: Vec::new(), notices },
            );
        }
    }

    /// An object of ours has a new owner. It stays visible as a ghost.
    pub(in crate::primary) fn leave_ghost(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        object: Object,
        owner: ZoneId,
    ) {
        if let Some((owner, snapshot)) = self.borders.keep_departed(object, owner, cx.now()) {
            self.receive_ghost(cx, owner, snapshot);
        }
    }

    /// Hides a ghost that is not near any more, or about which its owner says nothing.
    fn hide_ghost(&mut self, cx: &mut PrimaryContext<'_>, object: ObjectId) {
        self.borders.remove(object);
        cx.update_carrier(CarrierUpdate::Remove(object));
        for client in self.views.forget_object(object) {
            cx.send_client(client, ToPlayer::Views { shown: Vec::new(), hidden: vec![object] });
        }
    }

    /// Removes a ghost whose object was removed from the world.
    pub(super) fn lose_ghost(&mut self, cx: &mut PrimaryContext<'_>, object: ObjectId, version: u32) {
        self.borders.remove(object);
        cx.update_carrier(CarrierUpdate::Remove(object));
        let gone = vec![(object, version)];
        let update = ToPlayer::Told { index: 0, shown: Vec::new(), gone, notices: Vec::new() };
        for client in self.views.forget_object(object) {
            cx.send_client(client, update.clone());
        }
    }

    /// Hides ghosts whose owner says nothing about them any more.
    pub(super) fn forget_ghosts(&mut self, cx: &mut PrimaryContext<'_>) {
        if !cx.enforces(Rule::ForgetSilentGhosts) {
            return;
        }
        for object in self.borders.silent(cx.now()) {
            self.hide_ghost(cx, object);
        }
    }
}

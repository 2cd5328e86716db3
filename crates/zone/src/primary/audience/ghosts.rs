//! What neighbouring zones tell of their objects near the border, and what our clients see of it.

use super::Audience;
use crate::carrier_update::CarrierUpdate;
use crate::mesh::{Known, Told};
use crate::msg::{Down, Shown};
use crate::primary::context::Ctx;
use crate::rule::Rule;
use crate::table::Object;
use game::{Hearers, Viewer};
use machine::Address;
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId, ZoneId};
use std::collections::BTreeMap;

impl Audience {
    /// A neighbour tells of everything near our border.
    pub(in crate::primary) fn on_ghosts(&mut self, cx: &mut Ctx<'_>, zone: ZoneId, ghosts: Vec<Known>) {
        let Some(gone) = self.borders.begin(zone, &ghosts, cx.now()) else { return };
        for object in gone {
            self.hide_ghost(cx, object);
        }
        for known in ghosts {
            self.see_ghost(cx, zone, known);
        }
    }

    /// A neighbour tells what became true near our border.
    pub(in crate::primary) fn on_ghosts_told(&mut self, cx: &mut Ctx<'_>, zone: ZoneId, told: Told) {
        self.tell_notices(cx, &told.notices);
        if !self.borders.confirm(zone, cx.now()) {
            return; // We do not have everything: it will come, with this.
        }
        for known in told.shown {
            self.see_ghost(cx, zone, known);
        }
        for (object, incarnation, version) in told.gone {
            self.ghost_gone(cx, zone, object, (incarnation, version));
        }
        for (object, incarnation, to) in told.moved {
            self.borders.change_owner(object, incarnation, to, cx.now());
        }
    }

    /// An owner does not tell of its object any more. With the highest incarnation the object has ceased to be.
    fn ghost_gone(
        &mut self,
        cx: &mut Ctx<'_>,
        zone: ZoneId,
        object: ObjectId,
        (incarnation, version): (u32, u32),
    ) {
        self.borders.forget_early(object);
        let of_zone = self.borders.owner(object) == Some(zone);
        let known = self.ghosts().get(object).filter(|it| of_zone && it.version <= version);
        let Some(known) = known.map(|it| it.incarnation) else { return };
        if incarnation == u32::MAX {
            self.lose_ghost(cx, object, version);
        } else if known <= incarnation {
            self.hide_ghost(cx, object);
        }
    }

    /// A neighbour tells how its objects move.
    pub(in crate::primary) fn on_ghost_motions(
        &mut self,
        cx: &mut Ctx<'_>,
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

    fn see_ghost(&mut self, cx: &mut Ctx<'_>, owner: ZoneId, known: Known) {
        let object = known.object;
        if self.borders.see(cx, owner, known) {
            self.show_ghost(cx, object);
        }
    }

    /// Shows a ghost's new state to the clients that know it.
    fn show_ghost(&self, cx: &mut Ctx<'_>, object: ObjectId) {
        let Some(it) = self.ghosts().get(object) else { return };
        let mut audiences: BTreeMap<Viewer, Vec<Address>> = BTreeMap::new();
        for &address in self.views.viewers(object) {
            let Some(viewer) = self.sessions.viewer(address, object) else { continue };
            audiences.entry(viewer).or_default().push(address);
        }
        for (viewer, audience) in audiences {
            let Some(shown) = cx.core.config.rules.show(&it.state, viewer) else { continue };
            let (incarnation, version, motion) = (it.incarnation, it.version, it.motion);
            let shown = vec![Shown { object, incarnation, version, motion, shown: ByteBuf::from(shown) }];
            cx.say_all(audience, Down::Told { index: 0, shown, gone: Vec::new(), notices: Vec::new() });
        }
    }

    /// Our clients hear the notices of another zone's event.
    fn tell_notices(&self, cx: &mut Ctx<'_>, notices: &[(Hearers, ByteBuf)]) {
        for (to, notice) in notices {
            let audience = self.hearers(cx.core, *to);
            let notices = vec![notice.clone()];
            cx.say_all(audience, Down::Told { index: 0, shown: Vec::new(), gone: Vec::new(), notices });
        }
    }

    /// An object of ours has a new owner; it stays in sight as a ghost.
    pub(in crate::primary) fn leave_ghost(&mut self, cx: &mut Ctx<'_>, object: Object, owner: ZoneId) {
        if let Some((owner, known)) = self.borders.leave(object, owner, cx.now()) {
            self.see_ghost(cx, owner, known);
        }
    }

    /// A ghost is not near any more, or its owner does not tell of it.
    fn hide_ghost(&mut self, cx: &mut Ctx<'_>, object: ObjectId) {
        self.borders.remove(object);
        cx.update_carrier(CarrierUpdate::Remove(object));
        for viewer in self.views.forget_object(object) {
            cx.say(viewer, Down::Views { shown: Vec::new(), hidden: vec![object] });
        }
    }

    /// A ghost's object has ceased to be.
    pub(super) fn lose_ghost(&mut self, cx: &mut Ctx<'_>, object: ObjectId, version: u32) {
        self.borders.remove(object);
        cx.update_carrier(CarrierUpdate::Remove(object));
        let gone = vec![(object, version)];
        let told = Down::Told { index: 0, shown: Vec::new(), gone, notices: Vec::new() };
        for viewer in self.views.forget_object(object) {
            cx.say(viewer, told.clone());
        }
    }

    /// Hides ghosts of which no owner tells any more.
    pub(super) fn forget_ghosts(&mut self, cx: &mut Ctx<'_>) {
        if !cx.enforces(Rule::ForgetSilentGhosts) {
            return;
        }
        for object in self.borders.silent(cx.now()) {
            self.hide_ghost(cx, object);
        }
    }
}

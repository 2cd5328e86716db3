//! The clients' views: the objects that each client knows, and the clients that must be told when an object changes.

use super::Audience;
use crate::config::VIEW_SLACK_PERCENT;
use crate::core::Core;
use crate::msg::{ShownObject, ToPlayer};
use crate::object_table::Object;
use crate::primary::context::PrimaryContext;
use crate::primary::execution::VisibleObjects;
use game::Objects;
use machine::{Address, Time};
use rustc_hash::FxHashMap;
use serde_bytes::ByteBuf;
use space::{Distance, ObjectId, Position};
use std::collections::{BTreeMap, BTreeSet};

/// The objects that each client knows, and the clients that know each object: one relation, looked up from both ends.
#[derive(Debug, Default)]
pub(super) struct ClientViews {
    known: BTreeMap<Address, BTreeSet<ObjectId>>,
    clients: FxHashMap<ObjectId, Vec<Address>>,
}

impl ClientViews {
    pub(super) fn add(&mut self, client: Address, object: ObjectId) {
        if self.known.entry(client).or_default().insert(object) {
            self.clients.entry(object).or_default().push(client);
        }
    }

    fn remove(&mut self, client: Address, object: ObjectId) {
        if self.known.get_mut(&client).is_some_and(|it| it.remove(&object)) {
            self.drop_client(client, object);
        }
    }

    /// Forgets a client and its view.
    pub(super) fn forget_client(&mut self, client: Address) {
        for object in self.known.remove(&client).unwrap_or_default() {
            self.drop_client(client, object);
        }
    }

    /// Forgets an object; returns the clients that knew it.
    pub(super) fn forget_object(&mut self, object: ObjectId) -> Vec<Address> {
        let clients = self.clients.remove(&object).unwrap_or_default();
        for client in &clients {
            if let Some(known) = self.known.get_mut(client) {
                known.remove(&object);
            }
        }
        clients
    }

    pub(super) fn clients(&self, object: ObjectId) -> &[Address] {
        self.clients.get(&object).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_known(&self, object: ObjectId) -> bool {
        self.clients.contains_key(&object)
    }

    fn knows(&self, client: Address, object: ObjectId) -> bool {
        self.known.get(&client).is_some_and(|it| it.contains(&object))
    }

    fn known(&self, client: Address) -> impl Iterator<Item = ObjectId> {
        self.known.get(&client).into_iter().flatten().copied()
    }

    fn drop_client(&mut self, client: Address, object: ObjectId) {
        let Some(clients) = self.clients.get_mut(&object) else { return };
        clients.retain(|&it| it != client);
        if clients.is_empty() {
            self.clients.remove(&object);
        }
    }
}

impl Audience {
    /// Updates the views of all clients as objects move, and stops objects that walk out of the world.
    pub(in crate::primary) fn update_views(&mut self, cx: &mut PrimaryContext<'_>) {
        let now = cx.world_now();
        self.stop_at_the_edge(cx, now);
        cx.core.state.objects.refresh(now);
        self.borders.refresh(now);
        for (address, avatar) in self.sessions.entered() {
            self.update_view(cx, address, avatar, now);
            self.update_contacts(cx, address, avatar, now);
        }
    }

    /// The first view of a client that has just entered.
    pub(super) fn initial_view(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        address: Address,
        avatar: ObjectId,
    ) -> Vec<ShownObject> {
        let now = cx.world_now();
        cx.core.state.objects.refresh(now);
        self.borders.refresh(now);
        self.views.forget_client(address);
        let Some(centre) = self.place_of(cx.core, avatar, now) else { return Vec::new() };
        let objects = self.announced_near(cx.core, centre, cx.core.config.view(), now);
        self.add_to_view(cx.core, address, &objects)
    }

    fn update_view(&mut self, cx: &mut PrimaryContext<'_>, address: Address, avatar: ObjectId, now: Time) {
        let Some(centre) = self.place_of(cx.core, avatar, now) else { return };
        let around = self.around(cx.core, centre, now);
        let is_fresh = |it: &&(ObjectId, bool)| {
            it.1 && !self.views.knows(address, it.0) && self.unannounced.is_announced(it.0)
        };
        let fresh: Vec<_> = around.iter().filter(is_fresh).map(|it| it.0).collect();
        let hidden = self.out_of_sight(cx.core, (address, avatar), &around);
        let shown = self.add_to_view(cx.core, address, &fresh);
        for &object in &hidden {
            self.views.remove(address, object);
        }
        if !shown.is_empty() || !hidden.is_empty() {
            cx.send_client(address, ToPlayer::Views { shown, hidden });
        }
    }

    /// The objects so near a place that they may stay in a view, sorted by name; true for those that come into it.
    fn around(&self, core: &Core, centre: Position, now: Time) -> Vec<(ObjectId, bool)> {
        let view = core.config.view();
        let far = with_slack(view);
        let mut around = Vec::new();
        let in_sight = VisibleObjects(&core.state.objects, self.ghosts());
        in_sight.visit(centre, far, now, &mut |object, motion| {
            let place = motion.position_at(now);
            if centre.is_within(far, place) {
                around.push((object, centre.is_within(view, place)));
            }
        });
        around.sort_unstable();
        // An object that is here and a ghost counts as near if either is.
        around.dedup_by(|again, first| {
            first.1 |= again.0 == first.0 && again.1;
            again.0 == first.0
        });
        around
    }

    /// The objects of a client's view that are not around its avatar any more.
    fn out_of_sight(
        &self,
        core: &Core,
        (address, avatar): (Address, ObjectId),
        around: &[(ObjectId, bool)],
    ) -> Vec<ObjectId> {
        let mut around = around.iter().map(|it| it.0).peekable();
        let mut is_around = |object: ObjectId| {
            while around.next_if(|&it| it < object).is_some() {}
            around.peek() == Some(&object)
        };
        let mut hidden: Vec<_> = self.views.known(address).filter(|&it| !is_around(it)).collect();
        hidden.retain(|&it| {
            let is_here = self.object(core, it).is_some();
            // Gone, and no record that waits will say so: the view must.
            it != avatar && (is_here || self.unannounced.is_announced(it))
        });
        hidden
    }

    /// The objects near a place whose changes are all announced, sorted by name.
    fn announced_near(&self, core: &Core, centre: Position, view: Distance, now: Time) -> Vec<ObjectId> {
        let mut near = Vec::new();
        let in_sight = VisibleObjects(&core.state.objects, self.ghosts());
        in_sight.visit(centre, view, now, &mut |object, motion| {
            if centre.is_within(view, motion.position_at(now)) && self.unannounced.is_announced(object) {
                near.push(object);
            }
        });
        near.sort_unstable();
        near.dedup();
        near
    }

    fn add_to_view(&mut self, core: &Core, address: Address, objects: &[ObjectId]) -> Vec<ShownObject> {
        let mut shown = Vec::new();
        for &object in objects {
            let Some(viewer) = self.sessions.viewer(address, object) else { continue };
            let Some(it) = self.object(core, object) else { continue };
            let Some(bytes) = core.config.rules.show(&it.state, viewer) else { continue };
            let (incarnation, version, motion) = (it.incarnation, it.version, it.motion);
            self.views.add(address, object);
            shown.push(ShownObject { object, incarnation, version, motion, shown: ByteBuf::from(bytes) });
        }
        shown
    }

    /// The clients whose avatars are near a place, sorted by address.
    pub(super) fn clients_near(&self, core: &mut Core, place: Position, reach: Distance) -> Vec<Address> {
        let now = core.world_now();
        let mut clients = Vec::new();
        core.state.objects.visit(place, reach, now, &mut |object, motion| {
            if place.is_within(reach, motion.position_at(now)) {
                clients.extend(self.sessions.of_avatar(object));
            }
        });
        clients.sort_unstable();
        clients.dedup();
        clients
    }

    /// An object of this zone, or the ghost of another zone's object.
    fn object<'a>(&'a self, core: &'a Core, object: ObjectId) -> Option<&'a Object> {
        core.state.objects.get(object).or_else(|| self.ghosts().get(object))
    }

    fn place_of(&self, core: &Core, object: ObjectId, now: Time) -> Option<Position> {
        self.object(core, object).map(|it| it.motion.position_at(now))
    }
}

/// A distance a little beyond the view. An object leaves a view only there, so that one on the edge does not flicker.
pub(super) fn with_slack(view: Distance) -> Distance {
    let far = u64::from(view.millimetres()) * u64::from(100 + VIEW_SLACK_PERCENT) / 100;
    u32::try_from(far).ok().and_then(|it| Distance::new(it).ok()).unwrap_or(Distance::MAX)
}

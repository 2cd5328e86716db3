//! Announcing: a record that is safe becomes updates for clients, for neighbouring zones and for the carrier.

use super::Audience;
use crate::carrier_update::CarrierUpdate;
use crate::core::Core;
use crate::mesh::{ObjectSnapshot, ObjectWrite};
use crate::msg::{ShownObject, ToPlayer};
use crate::primary::context::PrimaryContext;
use crate::primary::execution::newer;
use crate::record::{Cause, Change, Index, Record};
use game::{Hearers, PlayerId, Viewer};
use machine::Address;
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId};
use std::collections::BTreeMap;

/// One client's part of an event, as indices into lists that all clients share. Clients with equal parts get one
/// message.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ClientUpdate {
    /// The index of a change in the record, and the viewer to whom it is shown.
    shown: Vec<(usize, Viewer)>,
    /// Removed objects, each with the version after its last.
    gone: Vec<(ObjectId, u32)>,
    /// Indices of notices in the record.
    notices: Vec<usize>,
}

type ClientUpdates = BTreeMap<Address, ClientUpdate>;

impl Audience {
    /// Announces every record up to `safe`, one after the other. Returns the players whose actions had notices, each with
    /// the number of messages that these are.
    pub(in crate::primary) fn announce_to(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        safe: Index,
    ) -> Vec<(PlayerId, usize)> {
        let mut heard = Vec::new();
        self.unannounced.advance(safe);
        while let Some(record) = self.unannounced.pop() {
            let hearers = self.announce(cx, &record);
            if let Cause::Act(player, _) = record.cause
                && 0 < hearers
            {
                heard.push((player, hearers));
            }
        }
        heard
    }

    /// Announces a record. Returns the number of its notices, each counted once per client that hears it.
    fn announce(&mut self, cx: &mut PrimaryContext<'_>, record: &Record) -> usize {
        let mut updates = ClientUpdates::new();
        for (place, change) in record.changes.iter().enumerate() {
            match change {
                Change::Put { object, motion, .. } => {
                    // Its state is public from here on: clients that come near are shown it.
                    self.unannounced.count_announced(*object);
                    show_to_carrier(cx, *object, motion);
                    self.add_put(cx.core, place, (*object, motion), &mut updates);
                }
                Change::Removed { object, version } => {
                    self.unannounced.count_announced(*object);
                    cx.update_carrier(CarrierUpdate::Remove(*object));
                    self.detach_removed_avatar(cx, *object);
                    for client in self.views.forget_object(*object) {
                        updates.entry(client).or_default().gone.push((*object, *version));
                    }
                }
                Change::Elsewhere(written) => self.add_elsewhere(cx, place, written, &mut updates),
                _ => (),
            }
        }
        let hearers = self.add_notices(cx.core, record, &mut updates);
        // A result comes after the objects that its action changed.
        self.tell_clients(cx, record, updates);
        self.tell_results(cx, record);
        if cx.core.config.is_meshed() {
            self.tell_travellers(cx, record);
            self.tell_neighbours(cx, record);
        }
        hearers
    }

    /// Adds an object's new state for every client that knows the object, or is near if it is new.
    fn add_put(
        &mut self,
        core: &mut Core,
        place: usize,
        (object, motion): (ObjectId, &Motion),
        updates: &mut ClientUpdates,
    ) {
        let now = core.world_now();
        if !self.views.is_known(object) {
            // Objects move between updates of the index: bring it up to date before asking what is near.
            core.state.objects.refresh(now);
            for client in self.clients_near(core, motion.position_at(now), core.config.view()) {
                self.views.add(client, object);
            }
        }
        self.add_for_clients(place, object, updates);
    }

    fn add_for_clients(&self, place: usize, object: ObjectId, updates: &mut ClientUpdates) {
        for &address in self.views.clients(object) {
            let Some(viewer) = self.sessions.viewer(address, object) else { continue };
            updates.entry(address).or_default().shown.push((place, viewer));
        }
    }

    /// Adds the change that an event makes to another zone's object: clients here see it together with the rest.
    fn add_elsewhere(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        place: usize,
        written: &ObjectWrite,
        updates: &mut ClientUpdates,
    ) {
        let ObjectWrite { zone, object, incarnation, version, motion, state, .. } = written;
        let Some(known) = self.borders.ghosts().get(*object) else { return };
        // A removal carries incarnation 0: it means the object as it is known here.
        let incarnation = (*incarnation).max(known.incarnation);
        if (incarnation, *version) <= (known.incarnation, known.version) {
            return;
        }
        let Some(state) = state else {
            for client in self.views.clients(*object).to_vec() {
                updates.entry(client).or_default().gone.push((*object, *version));
            }
            return self.lose_ghost(cx, *object, *version);
        };
        let motion = newer(&known.motion, *motion);
        let known =
            ObjectSnapshot { object: *object, incarnation, version: *version, motion, state: state.clone() };
        self.add_for_clients(place, *object, updates);
        self.borders.change(cx, *zone, known);
    }

    fn add_notices(&self, core: &mut Core, record: &Record, updates: &mut ClientUpdates) -> usize {
        let mut hearers = 0;
        for (place, (to, _)) in record.notices.iter().enumerate() {
            for address in self.hearers(core, *to) {
                updates.entry(address).or_default().notices.push(place);
                hearers += 1;
            }
        }
        hearers
    }

    /// The addresses of the clients that hear a notice.
    pub(super) fn hearers(&self, core: &mut Core, to: Hearers) -> Vec<Address> {
        match to {
            Hearers::Player(avatar) => self.sessions.of_avatar(avatar).into_iter().collect(),
            Hearers::Near(place, reach) => {
                let now = core.world_now();
                core.state.objects.refresh(now);
                self.clients_near(core, place, reach)
            }
        }
    }

    /// Sends one message to all clients with the same part of the event.
    fn tell_clients(&self, cx: &mut PrimaryContext<'_>, record: &Record, updates: ClientUpdates) {
        let mut audiences: BTreeMap<ClientUpdate, Vec<Address>> = BTreeMap::new();
        for (address, update) in updates {
            audiences.entry(update).or_default().push(address);
        }
        for (update, audience) in audiences {
            let shown = update.shown.iter();
            let shown: Vec<_> = shown
                .filter_map(|&(place, viewer)| self.shown_change(cx.core, &record.changes[place], viewer))
                .collect();
            let notices: Vec<_> = update.notices.iter().map(|&it| record.notices[it].1.clone()).collect();
            if shown.is_empty() && update.gone.is_empty() && notices.is_empty() {
                continue;
            }
            cx.send_clients(
                audience,
                ToPlayer::Told { index: record.index, shown, gone: update.gone, notices },
            );
        }
    }

    /// A change as the game shows it to a viewer; `None` if it is hidden from that viewer.
    fn shown_change(&self, core: &Core, change: &Change, viewer: Viewer) -> Option<ShownObject> {
        let (object, incarnation, version, motion, state) = match change {
            Change::Put { object, incarnation, version, motion, state } => {
                (*object, *incarnation, *version, *motion, state)
            }
            Change::Elsewhere(ObjectWrite { object, version, state: Some(state), .. }) => {
                let ghost = self.borders.ghosts().get(*object)?;
                (*object, ghost.incarnation, *version, ghost.motion, state)
            }
            _ => return None,
        };
        let shown = ByteBuf::from(core.config.rules.show(state, viewer)?);
        Some(ShownObject { object, incarnation, version, motion, shown })
    }

    fn tell_results(&self, cx: &mut PrimaryContext<'_>, record: &Record) {
        for change in &record.changes {
            let Change::Acted { player, number, outcome, .. } = change else { continue };
            let Some(address) = self.sessions.of_player(*player) else { continue };
            let result = ToPlayer::Result { number: *number, outcome: outcome.clone(), index: record.index };
            cx.send_client(address, result);
        }
    }

    // Players who change zones.

    fn tell_travellers(&mut self, cx: &mut PrimaryContext<'_>, record: &Record) {
        for change in &record.changes {
            match change {
                Change::Departed { object, .. } => self.tell_departed(cx, *object),
                Change::Brought { player, .. } => self.tell_arrived(cx, *player),
                _ => (),
            }
        }
    }

    /// A departure is safe: its player plays in another zone now.
    fn tell_departed(&mut self, cx: &mut PrimaryContext<'_>, object: ObjectId) {
        if let Some(address) = self.sessions.with_avatar(object) {
            cx.send_client(address, ToPlayer::NotHere { primary: None });
            self.detach(cx, address);
        }
        // An object that stays near as a ghost is still carried.
        if self.borders.owner(object).is_none() {
            cx.update_carrier(CarrierUpdate::Remove(object));
        }
    }

    /// An arrival is safe: its player plays here now.
    fn tell_arrived(&mut self, cx: &mut PrimaryContext<'_>, player: PlayerId) {
        let address = self.arrivals.remove(&player);
        let Some(address) = address.filter(|it| cx.core.links.contains_key(it)) else { return };
        if self.sessions.of_player(player).is_none() {
            self.attach(cx, address, player, super::ResumePoint::default());
            self.admit_waiting(cx);
        }
    }

    // The carrier.

    /// Shows all objects to the carrier of a new primary, which knows none.
    pub(in crate::primary) fn show_all_to_carrier(&self, cx: &mut PrimaryContext<'_>) {
        let mut objects: Vec<_> = cx.core.state.objects.iter().map(|it| (it.id, it.motion)).collect();
        // Sorted, so that the order does not depend on the table.
        objects.sort_unstable_by_key(|it| it.0);
        for (object, motion) in objects {
            cx.update_carrier(CarrierUpdate::Carry(object, motion));
        }
    }
}

/// Shows an announced object to the carrier, with its moves since the record was committed; but not with a motion that
/// a later event set, which is not announced yet.
fn show_to_carrier(cx: &mut PrimaryContext<'_>, object: ObjectId, announced: &Motion) {
    let newest = cx.core.state.objects.get(object).map(|it| it.motion);
    let motion = newest.filter(|it| it.generation == announced.generation).unwrap_or(*announced);
    cx.update_carrier(CarrierUpdate::Carry(object, motion));
}

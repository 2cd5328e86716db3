//! From a record that is safe to what clients see, neighbours hear and carriers carry.

use super::Audience;
use crate::carrier_update::CarrierUpdate;
use crate::core::Core;
use crate::mesh::{Known, Written};
use crate::msg::{Down, Shown};
use crate::primary::context::Ctx;
use crate::primary::execution::newer;
use crate::record::{Change, Index, Record};
use game::{Hearers, PlayerId, Viewer};
use machine::Address;
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId};
use std::collections::BTreeMap;

/// What one client is told of an event: places in lists that all clients share. Clients that are told the same share
/// one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    /// Which change, as seen by which viewer.
    shown: Vec<(usize, Viewer)>,
    gone: Vec<(ObjectId, u32)>,
    notices: Vec<usize>,
}

type Shares = BTreeMap<Address, Share>;

impl Audience {
    /// Announces every record up to `committed`, one after the other.
    pub(in crate::primary) fn announce_to(&mut self, cx: &mut Ctx<'_>, committed: Index) {
        self.unannounced.advance(committed);
        while let Some(record) = self.unannounced.pop() {
            self.announce(cx, &record);
        }
    }

    fn announce(&mut self, cx: &mut Ctx<'_>, record: &Record) {
        let mut shares = Shares::new();
        for (place, change) in record.changes.iter().enumerate() {
            match change {
                Change::Put { object, motion, .. } => {
                    self.unannounced.settle(*object);
                    show_to_carrier(cx, *object, motion);
                    self.share_put(cx.core, place, (*object, motion), &mut shares);
                }
                Change::Removed { object, version } => {
                    self.unannounced.settle(*object);
                    cx.update_carrier(CarrierUpdate::Remove(*object));
                    self.send_away(cx, *object);
                    for viewer in self.views.forget_object(*object) {
                        shares.entry(viewer).or_default().gone.push((*object, *version));
                    }
                }
                Change::Elsewhere(written) => self.share_elsewhere(cx, place, written, &mut shares),
                _ => (),
            }
        }
        self.share_notices(cx.core, record, &mut shares);
        self.tell_clients(cx, record, shares);
        self.tell_results(cx, record);
        if cx.core.config.is_meshed() {
            self.tell_travellers(cx, record);
            self.tell_neighbours(cx, record);
        }
    }

    /// Every client that knows an object hears of its new state; so does every client near a new one.
    fn share_put(
        &mut self,
        core: &mut Core,
        place: usize,
        (object, motion): (ObjectId, &Motion),
        shares: &mut Shares,
    ) {
        let now = core.world_now();
        if !self.views.is_known(object) {
            core.state.objects.refresh(now);
            for viewer in self.viewers_near(core, motion.position_at(now), core.config.view()) {
                self.views.know(viewer, object);
            }
        }
        self.share_with_viewers(place, object, shares);
    }

    fn share_with_viewers(&self, place: usize, object: ObjectId, shares: &mut Shares) {
        for &address in self.views.viewers(object) {
            let Some(viewer) = self.sessions.viewer(address, object) else { continue };
            shares.entry(address).or_default().shown.push((place, viewer));
        }
    }

    /// An event changed another zone's object, too: our clients see it together with the rest.
    fn share_elsewhere(&mut self, cx: &mut Ctx<'_>, place: usize, written: &Written, shares: &mut Shares) {
        let Written { zone, object, incarnation, version, motion, state, .. } = written;
        let Some(known) = self.borders.ghosts().get(*object) else { return };
        let incarnation = (*incarnation).max(known.incarnation);
        if (incarnation, *version) <= (known.incarnation, known.version) {
            return;
        }
        let Some(state) = state else {
            for viewer in self.views.viewers(*object).to_vec() {
                shares.entry(viewer).or_default().gone.push((*object, *version));
            }
            return self.lose_ghost(cx, *object, *version);
        };
        let motion = newer(&known.motion, *motion);
        let known = Known { object: *object, incarnation, version: *version, motion, state: state.clone() };
        self.share_with_viewers(place, *object, shares);
        self.borders.change(cx, *zone, known);
    }

    fn share_notices(&self, core: &mut Core, record: &Record, shares: &mut Shares) {
        for (place, (to, _)) in record.notices.iter().enumerate() {
            for address in self.hearers(core, *to) {
                shares.entry(address).or_default().notices.push(place);
            }
        }
    }

    /// The clients that hear a notice.
    pub(super) fn hearers(&self, core: &mut Core, to: Hearers) -> Vec<Address> {
        match to {
            Hearers::Player(avatar) => self.sessions.of_avatar(avatar).into_iter().collect(),
            Hearers::Near(place, reach) => {
                let now = core.world_now();
                core.state.objects.refresh(now);
                self.viewers_near(core, place, reach)
            }
        }
    }

    /// One message for all clients that are told the same.
    fn tell_clients(&self, cx: &mut Ctx<'_>, record: &Record, shares: Shares) {
        let mut audiences: BTreeMap<Share, Vec<Address>> = BTreeMap::new();
        for (address, share) in shares {
            audiences.entry(share).or_default().push(address);
        }
        for (share, audience) in audiences {
            let shown = share.shown.iter();
            let shown: Vec<_> = shown
                .filter_map(|&(place, viewer)| self.seen(cx.core, &record.changes[place], viewer))
                .collect();
            let notices: Vec<_> = share.notices.iter().map(|&it| record.notices[it].1.clone()).collect();
            if shown.is_empty() && share.gone.is_empty() && notices.is_empty() {
                continue;
            }
            cx.say_all(audience, Down::Told { index: record.index, shown, gone: share.gone, notices });
        }
    }

    /// A change as a viewer may see it.
    fn seen(&self, core: &Core, change: &Change, viewer: Viewer) -> Option<Shown> {
        let (object, incarnation, version, motion, state) = match change {
            Change::Put { object, incarnation, version, motion, state } => {
                (*object, *incarnation, *version, *motion, state)
            }
            Change::Elsewhere(Written { object, version, state: Some(state), .. }) => {
                let ghost = self.borders.ghosts().get(*object)?;
                (*object, ghost.incarnation, *version, ghost.motion, state)
            }
            _ => return None,
        };
        let shown = ByteBuf::from(core.config.rules.show(state, viewer)?);
        Some(Shown { object, incarnation, version, motion, shown })
    }

    fn tell_results(&self, cx: &mut Ctx<'_>, record: &Record) {
        for change in &record.changes {
            let Change::Acted { player, number, outcome, .. } = change else { continue };
            let Some(address) = self.sessions.of_player(*player) else { continue };
            let result = Down::Result { number: *number, outcome: outcome.clone(), index: record.index };
            cx.say(address, result);
        }
    }

    // Players who change zones.

    fn tell_travellers(&mut self, cx: &mut Ctx<'_>, record: &Record) {
        for change in &record.changes {
            match change {
                Change::Departed { object, .. } => self.tell_departed(cx, *object),
                Change::Brought { player, .. } => self.tell_arrived(cx, *player),
                _ => (),
            }
        }
    }

    /// A departure is safe: its player plays elsewhere now.
    fn tell_departed(&mut self, cx: &mut Ctx<'_>, object: ObjectId) {
        if let Some(address) = self.sessions.with_avatar(object) {
            cx.say(address, Down::NotHere { primary: None });
            self.detach(cx, address);
        }
        if self.borders.owner(object).is_none() {
            cx.update_carrier(CarrierUpdate::Remove(object));
        }
    }

    /// An arrival is safe: its player plays here now.
    fn tell_arrived(&mut self, cx: &mut Ctx<'_>, player: PlayerId) {
        let address = self.arrivals.remove(&player);
        let Some(address) = address.filter(|it| cx.core.links.contains_key(it)) else { return };
        if self.sessions.of_player(player).is_none() {
            self.attach(cx, address, player, super::Seen::default());
            self.admit_waiting(cx);
        }
    }

    // The carrier.

    /// Shows everything there is to a carrier that knows nothing.
    pub(in crate::primary) fn show_all_to_carrier(&self, cx: &mut Ctx<'_>) {
        let mut objects: Vec<_> = cx.core.state.objects.iter().map(|it| (it.id, it.motion)).collect();
        objects.sort_unstable_by_key(|it| it.0);
        for (object, motion) in objects {
            cx.update_carrier(CarrierUpdate::Carry(object, motion));
        }
    }
}

/// Moves since the record was committed are told, too, unless a later event that is not announced yet set the motion.
fn show_to_carrier(cx: &mut Ctx<'_>, object: ObjectId, announced: &Motion) {
    let newest = cx.core.state.objects.get(object).map(|it| it.motion);
    let motion = newest.filter(|it| it.generation == announced.generation).unwrap_or(*announced);
    cx.update_carrier(CarrierUpdate::Carry(object, motion));
}

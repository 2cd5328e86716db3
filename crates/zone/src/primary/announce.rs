//! From a record that is safe to what players see and carriers carry.

use super::Primary;
use crate::core::{Core, Event, Out, Stage};
use crate::mesh::{Known, Written};
use crate::msg::{Down, Msg, Shown};
use crate::record::{Change, Index, Record};
use game::{Hearers, Viewer};
use machine::{Address, Lane, Time};
use serde_bytes::ByteBuf;
use space::{Motion, ObjectId};
use std::collections::BTreeMap;

/// A record that was written and not told.
pub(super) struct Pending {
    pub(super) record: Record,
    pub(super) bytes: usize,
}

/// What one player is told of an event: places in lists that all of them share. Players who are told the same
/// share one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Share {
    /// Which change, as seen by which viewer.
    shown: Vec<(usize, Viewer)>,
    gone: Vec<(ObjectId, u32)>,
    notices: Vec<usize>,
}

impl Primary {
    /// Tells whoever it concerns that a record is true.
    pub(super) fn announce(&mut self, core: &mut Core, record: &Record, out: &mut Out) {
        let mut shares: BTreeMap<Address, Share> = BTreeMap::new();
        for (place, change) in record.changes.iter().enumerate() {
            match change {
                Change::Put { object, motion, .. } => {
                    self.settle(*object);
                    self.stage_put(core, *object, motion, out);
                    self.share_put(core, place, *object, motion, &mut shares);
                }
                Change::Removed { object, version } => {
                    self.settle(*object);
                    out.raise(Event::Stage(Stage::Vanished(*object)));
                    self.send_away(core, *object, out);
                    for viewer in self.views.forget_object(*object) {
                        shares.entry(viewer).or_default().gone.push((*object, *version));
                    }
                }
                Change::Elsewhere(written) => {
                    self.share_elsewhere(core.now, place, written, &mut shares, out)
                }
                _ => (),
            }
        }
        self.share_notices(core, record, &mut shares);
        self.tell(core, record, shares, out);
        self.tell_result(record, out);
        if core.config.is_meshed() {
            self.announce_abroad(core, record, out);
        }
    }

    /// What a record means to other zones and to who comes from there or goes.
    fn announce_abroad(&mut self, core: &mut Core, record: &Record, out: &mut Out) {
        for change in &record.changes {
            match change {
                Change::Departed { object, .. } => self.tell_departed(*object, out),
                Change::Brought { player, .. } => self.tell_arrived(core, *player, out),
                _ => (),
            }
        }
        self.tell_neighbours(core, record, out);
    }

    /// What an event made of another zone's object: our players see it together with the rest.
    fn share_elsewhere(
        &mut self,
        now: Time,
        place: usize,
        written: &Written,
        shares: &mut BTreeMap<Address, Share>,
        out: &mut Out,
    ) {
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
            self.lose_ghost(*object, *version, out);
            return;
        };
        let known = Known {
            object: *object,
            incarnation,
            version: *version,
            motion: super::write::newer(&known.motion, *motion),
            state: state.clone(),
        };
        for &address in self.views.viewers(*object) {
            let Some(viewer) = self.clients.viewer(address, *object) else { continue };
            shares.entry(address).or_default().shown.push((place, viewer));
        }
        self.change_ghost(now, *zone, known, out);
    }

    /// Shows a ghost's new state to whoever knows it.
    pub(super) fn show_ghost(&mut self, core: &Core, object: ObjectId, out: &mut Out) {
        let Some(it) = self.borders.ghosts().get(object) else { return };
        let mut audiences: BTreeMap<Viewer, Vec<Address>> = BTreeMap::new();
        for &address in self.views.viewers(object) {
            let Some(viewer) = self.clients.viewer(address, object) else { continue };
            audiences.entry(viewer).or_default().push(address);
        }
        for (viewer, audience) in audiences {
            let Some(shown) = core.config.rules.show(&it.state, viewer) else { continue };
            let (incarnation, version, motion) = (it.incarnation, it.version, it.motion);
            let shown = vec![Shown { object, incarnation, version, motion, shown: ByteBuf::from(shown) }];
            let told = Down::Told { index: 0, shown, gone: Vec::new(), notices: Vec::new() };
            out.send_many(audience, Lane::Sure, Msg::Down(self.zone, self.epoch, told));
        }
    }

    /// What our players hear of another zone's event.
    pub(super) fn hear_notices(&mut self, core: &mut Core, notices: &[(Hearers, ByteBuf)], out: &mut Out) {
        for (to, notice) in notices {
            let told =
                Down::Told { index: 0, shown: Vec::new(), gone: Vec::new(), notices: vec![notice.clone()] };
            let audience = self.hearers(core, *to);
            out.send_many(audience, Lane::Sure, Msg::Down(self.zone, self.epoch, told));
        }
    }

    fn settle(&mut self, object: ObjectId) {
        if let Some(count) = self.unsettled.get_mut(&object) {
            *count -= 1;
            if *count == 0 {
                self.unsettled.remove(&object);
            }
        }
    }

    /// Whether everything written about an object has been told.
    pub(super) fn is_settled(&self, object: ObjectId) -> bool {
        !self.unsettled.contains_key(&object)
    }

    /// Everybody who knows an object hears of its new state; so does everybody near a new one.
    fn share_put(
        &mut self,
        core: &mut Core,
        place: usize,
        object: ObjectId,
        motion: &Motion,
        shares: &mut BTreeMap<Address, Share>,
    ) {
        let now = core.world_now();
        if !self.views.is_known(object) {
            core.state.objects.refresh(now);
            for viewer in self.viewers_near(core, motion.position_at(now), core.config.view()) {
                self.views.know(viewer, object);
            }
        }
        for &address in self.views.viewers(object) {
            let Some(viewer) = self.clients.viewer(address, object) else { continue };
            shares.entry(address).or_default().shown.push((place, viewer));
        }
    }

    fn share_notices(&mut self, core: &mut Core, record: &Record, shares: &mut BTreeMap<Address, Share>) {
        for (place, (to, _)) in record.notices.iter().enumerate() {
            for address in self.hearers(core, *to) {
                shares.entry(address).or_default().notices.push(place);
            }
        }
    }

    pub(super) fn hearers(&mut self, core: &mut Core, to: Hearers) -> Vec<Address> {
        match to {
            Hearers::Player(avatar) => self.clients.of_avatar(avatar).into_iter().collect(),
            Hearers::Near(place, reach) => {
                let now = core.world_now();
                core.state.objects.refresh(now);
                self.viewers_near(core, place, reach)
            }
        }
    }

    /// One message for all who are told the same.
    fn tell(&mut self, core: &Core, record: &Record, shares: BTreeMap<Address, Share>, out: &mut Out) {
        let mut audiences: BTreeMap<Share, Vec<Address>> = BTreeMap::new();
        for (address, share) in shares {
            audiences.entry(share).or_default().push(address);
        }
        for (share, audience) in audiences {
            let shown = share.shown.iter();
            let shown = shown.filter_map(|&(place, viewer)| self.seen(core, &record.changes[place], viewer));
            let shown: Vec<_> = shown.collect();
            let notices: Vec<_> = share.notices.iter().map(|&it| record.notices[it].1.clone()).collect();
            if shown.is_empty() && share.gone.is_empty() && notices.is_empty() {
                continue;
            }
            let told = Down::Told { index: record.index, shown, gone: share.gone, notices };
            out.send_many(audience, Lane::Sure, Msg::Down(core.config.zone, self.epoch, told));
        }
    }

    fn tell_result(&self, record: &Record, out: &mut Out) {
        for change in &record.changes {
            let Change::Acted { player, number, outcome, .. } = change else { continue };
            let Some(address) = self.clients.of_player(*player) else { continue };
            let result = Down::Result { number: *number, outcome: outcome.clone(), index: record.index };
            self.say(address, result, out);
        }
    }

    // The carrier's view: motions of what has been told.

    /// Everything there is, for a carrier that knows nothing.
    pub(super) fn stage_all(&self, core: &Core, out: &mut Out) {
        let mut objects: Vec<_> = core.state.objects.iter().map(|it| (it.id, it.motion)).collect();
        objects.sort_unstable_by_key(|it| it.0);
        for (object, motion) in objects {
            out.raise(Event::Stage(Stage::Appeared(object, motion)));
        }
    }

    fn stage_put(&self, core: &Core, object: ObjectId, told: &Motion, out: &mut Out) {
        // Moves since then are told, too, unless a later event that is not told yet has set the motion.
        let newest = core.state.objects.get(object).map(|it| it.motion);
        let motion = newest.filter(|it| it.generation == told.generation).unwrap_or(*told);
        out.raise(Event::Stage(Stage::Appeared(object, motion)));
    }

    /// A move, which no record has to tell first; but not of what nobody may know of yet.
    pub(super) fn stage_motion(&self, object: ObjectId, motion: &Motion, out: &mut Out) {
        if self.is_settled(object) {
            out.raise(Event::Stage(Stage::Moved(object, *motion)));
        }
    }

    /// Notices that a player who comes back has missed.
    pub(super) fn tell_missed(&mut self, core: &mut Core, address: Address, seen: Index, out: &mut Out) {
        const MISSED_MAX: u64 = 256;
        let from = seen.max(self.announced.saturating_sub(MISSED_MAX)).max(core.log.base());
        for index in from + 1..=self.announced {
            let Some(record) = core.log.get(index).and_then(|it| Record::from_bytes(&it.bytes)) else {
                continue;
            };
            let heard =
                |it: &Hearers, this: &mut Self, core: &mut Core| this.hearers(core, *it).contains(&address);
            let mut notices: Vec<ByteBuf> = Vec::new();
            for (to, notice) in &record.notices {
                if heard(to, self, core) {
                    notices.push(notice.clone());
                }
            }
            if !notices.is_empty() {
                self.say(address, Down::Told { index, shown: Vec::new(), gone: Vec::new(), notices }, out);
            }
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
}

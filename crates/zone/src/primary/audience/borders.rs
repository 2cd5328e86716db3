//! What there is beyond the border: the ghosts of the neighbours' objects, and what each neighbour knows of ours.
//!
//! A neighbour that watches gets everything near its region, then every change as it becomes true, then how objects
//! move, ten times a second. Ghosts are no part of the zone's state: they are lost with the reign and asked for again.

use super::views::with_slack;
use crate::carrier_update::CarrierUpdate;
use crate::config::{Config, HYSTERESIS, STRAY_MAX};
use crate::mesh::{Known, Mesh};
use crate::primary::context::Ctx;
use crate::primary::execution::wider;
use crate::table::{Object, Table};
use machine::{Address, Lane, Span, Time};
use rustc_hash::FxHashMap;
use space::{Distance, Motion, ObjectId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// A ghost whose new owner has not told of it for this long is not shown any more.
const UNCONFIRMED_MAX: Span = Span::from_millis(700);

/// A neighbour that tells nothing for this long: its ghosts are not shown any more.
const SILENT_MAX: Span = Span::from_millis(2_000);

/// A neighbour that tells nothing for this long is asked for everything anew, and again after the second time.
const WATCH_AFTER: Span = Span::from_millis(700);
const WATCH_AGAIN: Span = Span::from_millis(300);

/// A neighbour, and what each side knows of the other.
#[derive(Debug, Default)]
pub(super) struct Neighbour {
    /// It watches, and knows these objects of ours.
    pub(super) watches: Option<BTreeSet<ObjectId>>,
    /// When it told us something; nothing while we have not got everything.
    heard: Option<Time>,
    /// When we asked.
    asked: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Ghost {
    owner: ZoneId,
    /// Since when its owner has not told of it, if it has not.
    unconfirmed: Option<Time>,
}

/// What there is beyond the border.
#[derive(Debug, Default)]
pub(in crate::primary) struct Borders {
    pub(super) neighbours: BTreeMap<ZoneId, Neighbour>,
    table: Table,
    ghosts: FxHashMap<ObjectId, Ghost>,
    /// What a new owner said of an object that is still ours, as far as we know.
    early: BTreeMap<ObjectId, (ZoneId, Known)>,
    /// When the borders were last looked at, and when all motions were last told.
    pub(super) looked: Time,
    pub(super) refreshed: Time,
}

/// How far beyond a border a zone must know: as far as its players see, wherever they stray.
pub(super) fn depth(config: &Config) -> Distance {
    wider(wider(with_slack(config.view()), STRAY_MAX), HYSTERESIS)
}

impl Borders {
    pub(super) fn new(config: &Config) -> Self {
        let near = config.map.neighbours(config.zone, depth(config)).unwrap_or_default();
        let neighbours = near.into_iter().map(|it| (it, Neighbour::default())).collect();
        Self { neighbours, ..Self::default() }
    }

    // Neighbours.

    pub(in crate::primary) fn is_neighbour(&self, zone: ZoneId) -> bool {
        self.neighbours.contains_key(&zone)
    }

    pub(in crate::primary) fn neighbours(&self) -> Vec<ZoneId> {
        self.neighbours.keys().copied().collect()
    }

    /// A replica of a neighbour can be reached (again): if its primary is not known, it is asked.
    pub(in crate::primary) fn greet(&self, cx: &mut Ctx<'_>, address: Address) {
        let Some(zone) = (cx.core.config.zone_of)(address).filter(|&it| it != cx.zone()) else { return };
        if cx.core.peers.address(zone).is_none() && self.is_neighbour(zone) {
            cx.tell_replica(address, Lane::Sure, Mesh::Seek);
        }
    }

    /// The connection to a neighbour is gone: it does not watch any more, and we must ask anew.
    pub(in crate::primary) fn unwatched(&mut self, zone: ZoneId) {
        if let Some(it) = self.neighbours.get_mut(&zone) {
            *it = Neighbour { heard: it.heard, ..Neighbour::default() };
        }
    }

    /// Asks a neighbour for everything near our border.
    pub(in crate::primary) fn watch(&mut self, cx: &mut Ctx<'_>, zone: ZoneId) {
        if let Some(neighbour) = self.neighbours.get_mut(&zone) {
            (neighbour.heard, neighbour.asked) = (None, Some(cx.now()));
            cx.tell_zone(zone, Lane::Sure, Mesh::Watch);
        }
    }

    /// Asks a neighbour that was silent for a while.
    pub(super) fn watch_if_silent(&mut self, cx: &mut Ctx<'_>, zone: ZoneId) {
        let Some(neighbour) = self.neighbours.get(&zone) else { return };
        let silent = neighbour.heard.is_none_or(|it| WATCH_AFTER < cx.now().since(it));
        let asked = neighbour.asked.is_some_and(|it| cx.now().since(it) < WATCH_AGAIN);
        if silent && !asked && cx.core.peers.address(zone).is_some() {
            self.watch(cx, zone);
        }
    }

    /// A neighbour tells something; whether we have got everything that it told before.
    pub(super) fn confirm(&mut self, zone: ZoneId, now: Time) -> bool {
        let Some(it) = self.neighbours.get_mut(&zone).filter(|it| it.heard.is_some()) else { return false };
        it.heard = Some(now);
        true
    }

    /// A neighbour tells everything, of these objects. Says which ghosts of its are gone; `None` if it is no neighbour.
    pub(super) fn begin(&mut self, zone: ZoneId, told: &[Known], now: Time) -> Option<BTreeSet<ObjectId>> {
        self.neighbours.get_mut(&zone)?.heard = Some(now);
        self.early.retain(|_, it| it.0 != zone);
        let told: BTreeSet<_> = told.iter().map(|it| it.object).collect();
        let is_gone = |it: &(&ObjectId, &Ghost)| it.1.owner == zone && !told.contains(it.0);
        Some(self.ghosts.iter().filter(is_gone).map(|it| *it.0).collect())
    }

    // Ghosts.

    /// The neighbours' objects, as far as they are known.
    pub(super) const fn ghosts(&self) -> &Table {
        &self.table
    }

    /// All ghosts, and whose they are.
    pub(in crate::primary) fn all(&self) -> Vec<(ZoneId, Object)> {
        self.table.iter().filter_map(|it| Some((self.owner(it.id)?, it.clone()))).collect()
    }

    pub(super) fn refresh(&mut self, now: Time) {
        self.table.refresh(now);
    }

    pub(super) fn owner(&self, object: ObjectId) -> Option<ZoneId> {
        self.ghosts.get(&object).map(|it| it.owner)
    }

    /// Takes in what a neighbour says of its object; whether it is news for those who know the ghost.
    pub(super) fn see(&mut self, cx: &mut Ctx<'_>, owner: ZoneId, known: Known) -> bool {
        let Known { object, incarnation, version, .. } = known;
        if let Some(own) = cx.core.state.objects.get(object) {
            // It was said before the object came; or the object has a new owner, and we do not know yet.
            if own.incarnation < incarnation {
                self.early.insert(object, (owner, known));
            }
            return false;
        }
        let before = self.table.get(object).map(|it| (it.incarnation, it.version, it.motion));
        if before.is_some_and(|it| (incarnation, version) < (it.0, it.1)) {
            return false;
        }
        let is_news = before.is_none_or(|it| (it.0, it.1) < (incarnation, version));
        let motion = match before {
            Some((.., old)) if old.is_newer_than(&known.motion) => old,
            _ => known.motion,
        };
        self.keep(cx, Ghost { owner, unconfirmed: None }, Known { motion, ..known });
        is_news
    }

    /// An event in which we took part has changed a ghost. That is no word of its owner, who may know that the object is
    /// too far from here to tell of it.
    pub(super) fn change(&mut self, cx: &mut Ctx<'_>, owner: ZoneId, known: Known) {
        let before = self.ghosts.get(&known.object).filter(|it| it.owner == owner);
        let unconfirmed = before.map_or(Some(cx.now()), |it| it.unconfirmed);
        self.keep(cx, Ghost { owner, unconfirmed }, known);
    }

    fn keep(&mut self, cx: &mut Ctx<'_>, ghost: Ghost, known: Known) {
        let Known { object, incarnation, version, motion, state } = known;
        self.ghosts.insert(object, ghost);
        self.table.put(Object { id: object, incarnation, version, motion, state });
        cx.update_carrier(CarrierUpdate::Carry(object, motion));
    }

    /// An object was ours a moment ago and has a new owner. It stays in sight as a ghost. What its new owner said of it
    /// before we knew is to be taken in now.
    pub(super) fn leave(&mut self, object: Object, owner: ZoneId, now: Time) -> Option<(ZoneId, Known)> {
        let id = object.id;
        self.ghosts.insert(id, Ghost { owner, unconfirmed: Some(now) });
        self.table.put(object);
        self.early.remove(&id)
    }

    /// A ghost gets another owner, who will tell of it if it stays near.
    pub(super) fn change_owner(&mut self, object: ObjectId, incarnation: u32, to: ZoneId, now: Time) {
        let earlier = self.table.get(object).is_some_and(|it| it.incarnation < incarnation);
        if let Some(ghost) = self.ghosts.get_mut(&object).filter(|_| earlier) {
            *ghost = Ghost { owner: to, unconfirmed: Some(now) };
        }
    }

    /// An owner says how its object moves; whether that is news.
    pub(super) fn move_ghost(&mut self, zone: ZoneId, object: ObjectId, motion: &Motion) -> bool {
        let is_news = self.table.get(object).is_some_and(|it| motion.is_newer_than(&it.motion));
        let moves = is_news && self.owner(object) == Some(zone);
        if moves {
            self.table.set_motion(object, *motion);
        }
        moves
    }

    /// There is no such ghost any more.
    pub(in crate::primary) fn remove(&mut self, object: ObjectId) {
        self.forget_early(object);
        self.ghosts.remove(&object);
        self.table.remove(object);
    }

    /// What was said too early about an object does not count any more.
    pub(super) fn forget_early(&mut self, object: ObjectId) {
        self.early.remove(&object);
    }

    /// Ghosts of which no owner tells any more.
    pub(super) fn silent(&self, now: Time) -> BTreeSet<ObjectId> {
        let silent = |zone: ZoneId| {
            let heard = self.neighbours.get(&zone).and_then(|it| it.heard.or(it.asked));
            heard.is_none_or(|it| SILENT_MAX < now.since(it))
        };
        let is_old = |ghost: &Ghost| match ghost.unconfirmed {
            Some(since) => UNCONFIRMED_MAX < now.since(since),
            None => silent(ghost.owner),
        };
        self.ghosts.iter().filter(|it| is_old(it.1)).map(|it| *it.0).collect()
    }
}

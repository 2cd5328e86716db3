//! Both sides of the border: the ghosts of the neighbours' objects, and the objects of ours that each neighbour knows.
//!
//! A neighbour that watches gets all objects near its region, then every change as it is announced, and ten times a
//! second the motions. Ghosts are no part of the zone's state: a new primary has none and asks its neighbours for them.

use super::client_views::with_slack;
use crate::carrier_update::CarrierUpdate;
use crate::config::{HYSTERESIS, STRAY_MAX, ZoneConfig};
use crate::mesh::{BetweenZones, ObjectSnapshot};
use crate::object_table::{Object, ObjectTable};
use crate::primary::context::PrimaryContext;
use crate::primary::execution::wider;
use machine::{Address, Lane, Span, Time};
use rustc_hash::FxHashMap;
use space::{Distance, Motion, ObjectId, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// A ghost whose owner has changed, and whose new owner says nothing about it for this long, is hidden.
const UNCONFIRMED_MAX: Span = Span::from_millis(700);

/// The ghosts of a neighbour that is silent for this long are hidden; while it is asked again and again, they stay.
const SILENT_MAX: Span = Span::from_millis(2_000);

/// The primary asks a neighbour that is silent for `WATCH_AFTER` for all its objects near the border, and again every
/// `WATCH_AGAIN`.
const WATCH_AFTER: Span = Span::from_millis(700);
const WATCH_AGAIN: Span = Span::from_millis(300);

/// A neighbouring zone, and how far each side knows the other's objects.
#[derive(Debug, Default)]
pub(super) struct NeighbourZone {
    /// The objects of ours that the neighbour knows; `None` while it does not watch.
    pub(super) watches: Option<BTreeSet<ObjectId>>,
    /// When the neighbour was last heard; `None` while we have not got all its objects near the border.
    heard: Option<Time>,
    /// When we last asked for all its objects.
    asked_at: Option<Time>,
}

/// The owner of a ghost's object, and whether that owner tells us about it.
#[derive(Clone, Copy, Debug)]
struct GhostStatus {
    owner: ZoneId,
    /// Since when we wait for the first word of this owner; `None` if it has told us of the object.
    unconfirmed: Option<Time>,
}

/// The neighbours, and the ghosts of their objects.
#[derive(Debug, Default)]
pub(in crate::primary) struct Borders {
    pub(super) neighbours: BTreeMap<ZoneId, NeighbourZone>,
    table: ObjectTable,
    ghosts: FxHashMap<ObjectId, GhostStatus>,
    /// Words of a new owner about an object that is still ours as far as we know: the answer to our offer is on its
    /// way.
    early: BTreeMap<ObjectId, (ZoneId, ObjectSnapshot)>,
    /// When the neighbours were last told what changed, and when they were last told all motions.
    pub(super) looked: Time,
    pub(super) refreshed: Time,
}

/// The distance beyond its border that a zone must know: as far as its players see, from the farthest place they may
/// stray to.
pub(super) fn depth(config: &ZoneConfig) -> Distance {
    wider(wider(with_slack(config.view()), STRAY_MAX), HYSTERESIS)
}

impl Borders {
    pub(super) fn new(config: &ZoneConfig) -> Self {
        let near = config.map.neighbours(config.zone, depth(config)).unwrap_or_default();
        let neighbours = near.into_iter().map(|it| (it, NeighbourZone::default())).collect();
        Self { neighbours, ..Self::default() }
    }

    // Neighbours.

    pub(in crate::primary) fn is_neighbour(&self, zone: ZoneId) -> bool {
        self.neighbours.contains_key(&zone)
    }

    pub(in crate::primary) fn neighbours(&self) -> Vec<ZoneId> {
        self.neighbours.keys().copied().collect()
    }

    /// A replica of a neighbour can be reached (again): while that zone's primary is unknown, the replica is asked for
    /// it.
    pub(in crate::primary) fn seek_primary_at(&self, cx: &mut PrimaryContext<'_>, address: Address) {
        let Some(zone) = (cx.core.config.zone_of)(address).filter(|&it| it != cx.zone()) else { return };
        if cx.core.remote_primaries.address(zone).is_none() && self.is_neighbour(zone) {
            cx.send_zone_replica(address, Lane::Sure, BetweenZones::Seek);
        }
    }

    /// The link to a neighbour's primary is gone: it does not watch any more, and we must ask anew.
    pub(in crate::primary) fn on_neighbour_lost(&mut self, zone: ZoneId) {
        if let Some(it) = self.neighbours.get_mut(&zone) {
            // `heard` stays: the ghosts are shown on until the neighbour has been silent for too long.
            *it = NeighbourZone { heard: it.heard, ..NeighbourZone::default() };
        }
    }

    /// Asks a neighbour for all its objects near our border.
    pub(in crate::primary) fn watch(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId) {
        if let Some(neighbour) = self.neighbours.get_mut(&zone) {
            (neighbour.heard, neighbour.asked_at) = (None, Some(cx.now()));
            cx.send_zone(zone, Lane::Sure, BetweenZones::Watch);
        }
    }

    /// Asks a neighbour that was silent for a while for all its objects, unless it was asked a moment ago.
    pub(super) fn watch_if_silent(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId) {
        let Some(neighbour) = self.neighbours.get(&zone) else { return };
        let silent = neighbour.heard.is_none_or(|it| WATCH_AFTER < cx.now().since(it));
        let asked_at = neighbour.asked_at.is_some_and(|it| cx.now().since(it) < WATCH_AGAIN);
        if silent && !asked_at && cx.core.remote_primaries.address(zone).is_some() {
            self.watch(cx, zone);
        }
    }

    /// Notes that a neighbour was heard. Returns whether we have got all its objects, so that a change can be applied.
    pub(super) fn confirm(&mut self, zone: ZoneId, now: Time) -> bool {
        let Some(it) = self.neighbours.get_mut(&zone).filter(|it| it.heard.is_some()) else { return false };
        it.heard = Some(now);
        true
    }

    /// A neighbour sends all its objects near the border. Returns its ghosts that are not among them; `None` if the
    /// zone is no neighbour.
    pub(super) fn begin_refresh(
        &mut self,
        zone: ZoneId,
        told: &[ObjectSnapshot],
        now: Time,
    ) -> Option<BTreeSet<ObjectId>> {
        self.neighbours.get_mut(&zone)?.heard = Some(now);
        self.early.retain(|_, it| it.0 != zone);
        let told: BTreeSet<_> = told.iter().map(|it| it.object).collect();
        let is_gone = |it: &(&ObjectId, &GhostStatus)| it.1.owner == zone && !told.contains(it.0);
        Some(self.ghosts.iter().filter(is_gone).map(|it| *it.0).collect())
    }

    // Ghosts.

    /// The ghosts, as objects at places.
    pub(super) const fn ghosts(&self) -> &ObjectTable {
        &self.table
    }

    /// All ghosts, each with the zone that owns the object.
    pub(in crate::primary) fn all(&self) -> Vec<(ZoneId, Object)> {
        self.table.iter().filter_map(|it| Some((self.owner(it.id)?, it.clone()))).collect()
    }

    pub(super) fn refresh(&mut self, now: Time) {
        self.table.refresh(now);
    }

    pub(super) fn owner(&self, object: ObjectId) -> Option<ZoneId> {
        self.ghosts.get(&object).map(|it| it.owner)
    }

    /// Takes in an owner's word about its object. Returns whether clients that know the ghost must be told.
    pub(super) fn update_ghost(
        &mut self,
        cx: &mut PrimaryContext<'_>,
        owner: ZoneId,
        snapshot: ObjectSnapshot,
    ) -> bool {
        let ObjectSnapshot { object, incarnation, version, .. } = snapshot;
        if let Some(own) = cx.core.state.objects.get(object) {
            // The word is older than the object's arrival here; or the object has a new owner, and we do not know yet.
            if own.incarnation < incarnation {
                self.early.insert(object, (owner, snapshot));
            }
            return false;
        }
        let before = self.table.get(object).map(|it| (it.incarnation, it.version, it.motion));
        if before.is_some_and(|it| (incarnation, version) < (it.0, it.1)) {
            return false;
        }
        let is_news = before.is_none_or(|it| (it.0, it.1) < (incarnation, version));
        let motion = match before {
            // Motions travel as datagrams, and may be ahead of this.
            Some((.., old)) if old.is_newer_than(&snapshot.motion) => old,
            _ => snapshot.motion,
        };
        self.store_ghost(cx, GhostStatus { owner, unconfirmed: None }, ObjectSnapshot { motion, ..snapshot });
        is_news
    }

    /// An event in which we took part has changed a ghost. That is no word of its owner: the owner may find the object
    /// too far from here to tell us about it.
    pub(super) fn change(&mut self, cx: &mut PrimaryContext<'_>, owner: ZoneId, snapshot: ObjectSnapshot) {
        let before = self.ghosts.get(&snapshot.object).filter(|it| it.owner == owner);
        let unconfirmed = before.map_or(Some(cx.now()), |it| it.unconfirmed);
        self.store_ghost(cx, GhostStatus { owner, unconfirmed }, snapshot);
    }

    fn store_ghost(&mut self, cx: &mut PrimaryContext<'_>, ghost: GhostStatus, snapshot: ObjectSnapshot) {
        let ObjectSnapshot { object, incarnation, version, motion, state } = snapshot;
        self.ghosts.insert(object, ghost);
        self.table.put(Object { id: object, incarnation, version, motion, state });
        cx.update_carrier(CarrierUpdate::Carry(object, motion));
    }

    /// Keeps an object that has just departed as a ghost. Returns what its new owner said about it too early, to be
    /// taken in now.
    pub(super) fn keep_departed(
        &mut self,
        object: Object,
        owner: ZoneId,
        now: Time,
    ) -> Option<(ZoneId, ObjectSnapshot)> {
        let id = object.id;
        self.ghosts.insert(id, GhostStatus { owner, unconfirmed: Some(now) });
        self.table.put(object);
        self.early.remove(&id)
    }

    /// A ghost's object gets another owner, which will tell us about it if it stays near.
    pub(super) fn change_owner(&mut self, object: ObjectId, incarnation: u32, to: ZoneId, now: Time) {
        let earlier = self.table.get(object).is_some_and(|it| it.incarnation < incarnation);
        if let Some(ghost) = self.ghosts.get_mut(&object).filter(|_| earlier) {
            *ghost = GhostStatus { owner: to, unconfirmed: Some(now) };
        }
    }

    /// Takes in an owner's motion of its object. Returns whether it is newer than the one known.
    pub(super) fn move_ghost(&mut self, zone: ZoneId, object: ObjectId, motion: &Motion) -> bool {
        let is_news = self.table.get(object).is_some_and(|it| motion.is_newer_than(&it.motion));
        let moves = is_news && self.owner(object) == Some(zone);
        if moves {
            self.table.set_motion(object, *motion);
        }
        moves
    }

    /// Forgets a ghost, and what was said about its object too early.
    pub(in crate::primary) fn remove(&mut self, object: ObjectId) {
        self.forget_early(object);
        self.ghosts.remove(&object);
        self.table.remove(object);
    }

    /// Forgets what was said about an object too early.
    pub(super) fn forget_early(&mut self, object: ObjectId) {
        self.early.remove(&object);
    }

    /// Ghosts whose owner says nothing about them any more.
    pub(super) fn silent(&self, now: Time) -> BTreeSet<ObjectId> {
        let silent = |zone: ZoneId| {
            let heard = self.neighbours.get(&zone).and_then(|it| it.heard.or(it.asked_at));
            heard.is_none_or(|it| SILENT_MAX < now.since(it))
        };
        let is_old = |ghost: &GhostStatus| match ghost.unconfirmed {
            Some(since) => UNCONFIRMED_MAX < now.since(since),
            None => silent(ghost.owner),
        };
        self.ghosts.iter().filter(|it| is_old(it.1)).map(|it| *it.0).collect()
    }
}

//! The primary tells neighbouring zones about its own objects near the border.

use super::Audience;
use super::borders::depth;
use crate::config::STRAY_MAX;
use crate::core::Core;
use crate::mesh::{BetweenZones, BorderUpdate, ObjectSnapshot, PostItem};
use crate::object_table::Object;
use crate::primary::context::PrimaryContext;
use crate::primary::execution::wider;
use crate::record::{Cause, Change, Record};
use game::Hearers;
use machine::{Lane, LatestKey, Span, Time};
use space::{Distance, Motion, ObjectId, Polygon, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The interval at which neighbours are told which objects came near their border, and how objects move.
const LOOK_EVERY: Span = Span::from_millis(100);

/// The interval at which neighbours are told all motions again: a datagram may be lost.
const REFRESH_EVERY: Span = Span::from_millis(1_000);

/// The most bytes of objects in one message, and the most bytes of an object besides its state.
const PART_MAX: usize = 256 * 1024;
const KNOWN_WEIGHT: usize = 96;

/// Motions per message: they travel as a datagram.
const MOTIONS_MAX: usize = 24;

impl Audience {
    /// A neighbour wants all our objects near its border, and then every change.
    pub(in crate::primary) fn on_watch(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId) {
        let Some(region) = cx.core.config.map.polygon(zone) else { return };
        let Some(neighbour) = self.borders.neighbours.get_mut(&zone) else { return };
        let (now, reach) = (cx.core.world_time(cx.core.now), depth(&cx.core.config));
        let near = |it: &&Object| is_near(region, reach, &it.motion, now) && it.id != game::WORLD;
        // An object with unannounced changes comes later, with their announcement: its state here is not safe yet.
        let announced = |it: &&Object| self.unannounced.is_announced(it.id);
        let objects = cx.core.state.objects.iter().filter(near).filter(announced);
        let mut shown: Vec<_> = objects.map(ObjectSnapshot::of).collect();
        shown.sort_unstable_by_key(|it| it.object);
        neighbour.watches = Some(shown.iter().map(|it| it.object).collect());
        // The first message replaces everything that the neighbour knew, the others add to it.
        let mut parts = parts_of(shown).into_iter();
        cx.send_zone(zone, Lane::Sure, BetweenZones::Ghosts(parts.next().unwrap_or_default()));
        for shown in parts {
            cx.send_zone(
                zone,
                Lane::Sure,
                BetweenZones::BorderUpdate(BorderUpdate { shown, ..BorderUpdate::default() }),
            );
        }
    }

    /// Sends the neighbours that watch their part of a safe record; notices go from the zone that decided the event to every zone
    /// that may have hearers and took no part in it, watching or not.
    pub(super) fn tell_neighbours(&mut self, cx: &mut PrimaryContext<'_>, record: &Record) {
        if self.borders.neighbours.is_empty() {
            return;
        }
        let now = cx.world_now();
        let announcer = BorderAnnouncer { core: cx.core, record, now };
        let mut updates: BTreeMap<ZoneId, BorderUpdate> = BTreeMap::new();
        for change in &record.changes {
            for (&zone, neighbour) in &mut self.borders.neighbours {
                if let Some(watched) = &mut neighbour.watches {
                    announcer.add_change(zone, watched, change, &mut updates);
                }
            }
        }
        self.add_border_notices(cx.core, record, &mut updates);
        for (zone, update) in updates {
            cx.send_zone(zone, Lane::Sure, BetweenZones::BorderUpdate(update));
        }
    }

    /// Adds notices that players of other zones hear. Zones that took part in the event tell their own players.
    fn add_border_notices(&self, core: &Core, record: &Record, updates: &mut BTreeMap<ZoneId, BorderUpdate>) {
        if record.notices.is_empty() || matches!(record.cause, Cause::Joint(_)) {
            return;
        }
        let took_part = |zone: ZoneId| {
            let decided = |it: &Change| matches!(it, Change::Posted { to, item: PostItem::Decided(_), .. } if *to == zone);
            record.changes.iter().any(decided)
        };
        let mut zones = Vec::new();
        for (to, notice) in &record.notices {
            zones.clear();
            match to {
                Hearers::Near(place, reach) => {
                    core.config.map.zones_touching(*place, wider(*reach, STRAY_MAX), &mut zones)
                }
                Hearers::Player(avatar) => zones.extend(self.owner(core, *avatar)),
            }
            for &zone in zones.iter().filter(|&&it| it != core.config.zone && !took_part(it)) {
                updates.entry(zone).or_default().notices.push((*to, notice.clone()));
            }
        }
    }

    /// Tells the neighbours which objects came near a border or left it and how they move, and hides silent ghosts.
    pub(in crate::primary) fn maintain_borders(&mut self, cx: &mut PrimaryContext<'_>) {
        // At multiples, because a turn that is a little early must not make it wait for the next.
        let number = |it: Time| it.as_micros() / LOOK_EVERY.as_micros();
        if number(cx.now()) <= number(self.borders.looked) && self.borders.looked != Time::ZERO {
            return;
        }
        self.borders.looked = cx.now();
        for zone in self.borders.neighbours() {
            self.update_neighbour(cx, zone);
            self.borders.watch_if_silent(cx, zone);
        }
        if self.refreshes(cx.now()) {
            self.borders.refreshed = cx.now();
        }
        self.motions.clear_untold();
        self.forget_ghosts(cx);
    }

    /// Returns whether all motions are due to be told again.
    fn refreshes(&self, now: Time) -> bool {
        REFRESH_EVERY <= now.since(self.borders.refreshed)
    }

    fn update_neighbour(&mut self, cx: &mut PrimaryContext<'_>, zone: ZoneId) {
        let watched = self.borders.neighbours.get_mut(&zone).and_then(|it| it.watches.take());
        let Some(mut knows) = watched else { return };
        let now = cx.world_now();
        let Some(update) = self.came_and_went(cx.core, zone, &knows, now) else { return };
        for (object, ..) in &update.gone {
            knows.remove(object);
        }
        knows.extend(update.shown.iter().map(|it| it.object));
        let refreshes = self.refreshes(cx.now());
        // A motion that an event set is not told before the event is.
        let moves = |it: &Object| {
            (self.motions.is_untold(it.id) || refreshes) && self.unannounced.is_announced(it.id)
        };
        let known = knows.iter().filter_map(|&it| cx.core.state.objects.get(it));
        let motions: Vec<_> = known.filter(|it| moves(it)).map(|it| (it.id, it.motion)).collect();
        if let Some(neighbour) = self.borders.neighbours.get_mut(&zone) {
            neighbour.watches = Some(knows);
        }
        tell_in_parts(cx, zone, update);
        stream_to(cx, zone, &motions);
    }

    /// The objects that came near a zone's border, and those that left it. They leave at a greater distance than they
    /// come at, so that an object on the edge does not flicker.
    fn came_and_went(
        &self,
        core: &Core,
        zone: ZoneId,
        knows: &BTreeSet<ObjectId>,
        now: Time,
    ) -> Option<BorderUpdate> {
        let region = core.config.map.polygon(zone)?;
        let reach = depth(&core.config);
        let far = wider(reach, STRAY_MAX);
        let mut update = BorderUpdate::default();
        for it in core.state.objects.iter().filter(|it| it.id != game::WORLD) {
            if knows.contains(&it.id) {
                if !is_near(region, far, &it.motion, now) {
                    update.gone.push((it.id, it.incarnation, it.version));
                }
            } else if self.unannounced.is_announced(it.id) && is_near(region, reach, &it.motion, now) {
                update.shown.push(ObjectSnapshot::of(it));
            }
        }
        update.shown.sort_unstable_by_key(|it| it.object);
        update.gone.sort_unstable();
        Some(update)
    }
}

/// Turns a safe record into updates for the neighbours.
struct BorderAnnouncer<'a> {
    core: &'a Core,
    record: &'a Record,
    now: Time,
}

impl BorderAnnouncer<'_> {
    /// Adds one change to the update of a zone that watches these objects.
    fn add_change(
        &self,
        zone: ZoneId,
        watched: &mut BTreeSet<ObjectId>,
        change: &Change,
        updates: &mut BTreeMap<ZoneId, BorderUpdate>,
    ) {
        match change {
            Change::Put { object, incarnation, version, motion, state } if *object != game::WORLD => {
                // A known object that came near since is found by `came_and_went`; here, new ones and those that just
                // arrived.
                let newly = *version == 1 || self.record.index == self.core.state.head || 1 < *incarnation;
                if watched.contains(object) || newly && self.comes_near(zone, motion) {
                    watched.insert(*object);
                    let (object, state, motion) = (*object, state.clone(), self.newest(*object, motion));
                    let (incarnation, version) = (*incarnation, *version);
                    let snapshot = ObjectSnapshot { object, incarnation, version, motion, state };
                    updates.entry(zone).or_default().shown.push(snapshot);
                }
            }
            Change::Removed { object, version } if watched.remove(object) => {
                updates.entry(zone).or_default().gone.push((*object, u32::MAX, *version));
            }
            Change::Departed { object, to, incarnation } if watched.remove(object) => {
                let update = updates.entry(zone).or_default();
                if *to == zone {
                    // The zone owns the object now: the ghost that we told it of must go.
                    update.gone.push((*object, *incarnation, u32::MAX));
                } else {
                    update.moved.push((*object, *incarnation, *to));
                }
            }
            _ => (),
        }
    }

    fn comes_near(&self, zone: ZoneId, motion: &Motion) -> bool {
        let (config, reach) = (&self.core.config, depth(&self.core.config));
        config.map.polygon(zone).is_some_and(|it| is_near(it, reach, motion, self.now))
    }

    /// An object's motion with its moves since the record, unless a later event set the motion.
    fn newest(&self, object: ObjectId, motion: &Motion) -> Motion {
        let newest = self.core.state.objects.get(object).map(|it| it.motion);
        newest.filter(|it| it.generation == motion.generation).unwrap_or(*motion)
    }
}

fn is_near(region: &Polygon, reach: Distance, motion: &Motion, now: Time) -> bool {
    region.meets_disc(motion.position_at(now), reach)
}

fn tell_in_parts(cx: &mut PrimaryContext<'_>, zone: ZoneId, mut update: BorderUpdate) {
    for shown in parts_of(std::mem::take(&mut update.shown)) {
        cx.send_zone(
            zone,
            Lane::Sure,
            BetweenZones::BorderUpdate(BorderUpdate { shown, ..BorderUpdate::default() }),
        );
    }
    if update != BorderUpdate::default() {
        cx.send_zone(zone, Lane::Sure, BetweenZones::BorderUpdate(update));
    }
}

/// Streams motions to a zone. An empty message is sent, too: it says that this zone is alive.
fn stream_to(cx: &mut PrimaryContext<'_>, zone: ZoneId, motions: &[(ObjectId, Motion)]) {
    let chunks = motions.chunks(MOTIONS_MAX).map(<[_]>::to_vec);
    let chunks = if motions.is_empty() { vec![Vec::new()] } else { chunks.collect() };
    for (part, motions) in chunks.into_iter().enumerate() {
        // A key per part, apart from the keys of all other messages.
        let lane = Lane::Latest(LatestKey(1 << 32 | part as u64));
        cx.send_zone(zone, lane, BetweenZones::Motions(motions));
    }
}

/// Splits objects into messages of at most `PART_MAX` bytes, or of one object.
fn parts_of(objects: Vec<ObjectSnapshot>) -> Vec<Vec<ObjectSnapshot>> {
    let mut parts: Vec<Vec<ObjectSnapshot>> = Vec::new();
    let mut weight = 0;
    for it in objects {
        weight += it.state.len() + KNOWN_WEIGHT;
        match parts.last_mut() {
            Some(part) if weight <= PART_MAX => part.push(it),
            _ => {
                weight = it.state.len() + KNOWN_WEIGHT;
                parts.push(vec![it]);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_bytes::ByteBuf;
    use space::Epoch;

    #[test]
    fn many_objects_are_split_into_several_messages() {
        let snapshot = |counter: u32| ObjectSnapshot {
            object: ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter },
            incarnation: 1,
            version: 1,
            motion: Motion::default(),
            state: ByteBuf::from(vec![0; 1_000 + counter as usize % 7]),
        };
        let all: Vec<_> = (0..2_000).map(snapshot).collect();
        let parts = parts_of(all.clone());
        assert!(
            7 < parts.len() && parts.iter().all(|it| !it.is_empty() && it.len() < 300),
            "{}",
            parts.len()
        );
        assert_eq!(parts.concat(), all);
        assert!(parts_of(Vec::new()).is_empty());
    }
}

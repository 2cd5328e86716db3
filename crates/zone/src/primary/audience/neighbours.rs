//! What neighbouring zones are told of our objects near the border.

use super::Audience;
use super::borders::depth;
use crate::config::STRAY_MAX;
use crate::core::Core;
use crate::mesh::{Item, Known, Mesh, Told};
use crate::primary::context::Ctx;
use crate::primary::execution::wider;
use crate::record::{Cause, Change, Record};
use crate::table::Object;
use game::Hearers;
use machine::{Lane, LatestKey, Span, Time};
use space::{Distance, Motion, ObjectId, Polygon, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// Between two looks at which objects came near a border, and two streams of motions.
const LOOK_EVERY: Span = Span::from_millis(100);

/// All motions are told again this often: a datagram may be lost.
const REFRESH_EVERY: Span = Span::from_millis(1_000);

/// The most bytes of objects in one message, and what an object has besides its state, at most.
const PART_MAX: usize = 256 * 1024;
const KNOWN_WEIGHT: usize = 96;

/// Motions per message: they travel as a datagram.
const MOTIONS_MAX: usize = 24;

impl Audience {
    /// A neighbour wants to know everything near its border, and then every change.
    pub(in crate::primary) fn on_watch(&mut self, cx: &mut Ctx<'_>, zone: ZoneId) {
        let Some(region) = cx.core.config.map.polygon(zone) else { return };
        let Some(neighbour) = self.borders.neighbours.get_mut(&zone) else { return };
        let (now, reach) = (cx.core.world_time(cx.core.now), depth(&cx.core.config));
        let near = |it: &&Object| is_near(region, reach, &it.motion, now) && it.id != game::WORLD;
        let settled = |it: &&Object| self.unannounced.is_settled(it.id);
        let objects = cx.core.state.objects.iter().filter(near).filter(settled);
        let mut shown: Vec<_> = objects.map(Known::of).collect();
        shown.sort_unstable_by_key(|it| it.object);
        neighbour.watches = Some(shown.iter().map(|it| it.object).collect());
        let mut parts = parts_of(shown).into_iter();
        cx.tell_zone(zone, Lane::Sure, Mesh::Ghosts(parts.next().unwrap_or_default()));
        for shown in parts {
            cx.tell_zone(zone, Lane::Sure, Mesh::Told(Told { shown, ..Told::default() }));
        }
    }

    /// A record is safe: the neighbours that watch hear of it.
    pub(super) fn tell_neighbours(&mut self, cx: &mut Ctx<'_>, record: &Record) {
        if self.borders.neighbours.is_empty() {
            return;
        }
        let now = cx.world_now();
        let news = News { core: cx.core, record, now };
        let mut tells: BTreeMap<ZoneId, Told> = BTreeMap::new();
        for change in &record.changes {
            for (&zone, neighbour) in &mut self.borders.neighbours {
                if let Some(watched) = &mut neighbour.watches {
                    news.tell(zone, watched, change, &mut tells);
                }
            }
        }
        self.pass_notices(cx.core, record, &mut tells);
        for (zone, told) in tells {
            cx.tell_zone(zone, Lane::Sure, Mesh::Told(told));
        }
    }

    /// Notices that players of other zones hear. The zones that took part in the event tell their own players.
    fn pass_notices(&self, core: &Core, record: &Record, tells: &mut BTreeMap<ZoneId, Told>) {
        if record.notices.is_empty() || matches!(record.cause, Cause::Joint(_)) {
            return;
        }
        let took_part = |zone: ZoneId| {
            let decided =
                |it: &Change| matches!(it, Change::Posted { to, item: Item::Decided(_), .. } if *to == zone);
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
                tells.entry(zone).or_default().notices.push((*to, notice.clone()));
            }
        }
    }

    /// Tells the neighbours which objects came near a border or left it and how they move, and forgets silent ghosts.
    pub(in crate::primary) fn look_after_borders(&mut self, cx: &mut Ctx<'_>) {
        if cx.now().since(self.borders.looked) < LOOK_EVERY {
            return;
        }
        self.borders.looked = cx.now();
        for zone in self.borders.neighbours() {
            self.look_at_border(cx, zone);
            self.borders.watch_if_silent(cx, zone);
        }
        if self.refreshes(cx.now()) {
            self.borders.refreshed = cx.now();
        }
        self.motions.clear_untold();
        self.forget_ghosts(cx);
    }

    /// Whether it is time to tell all motions again.
    fn refreshes(&self, now: Time) -> bool {
        REFRESH_EVERY <= now.since(self.borders.refreshed)
    }

    fn look_at_border(&mut self, cx: &mut Ctx<'_>, zone: ZoneId) {
        let watched = self.borders.neighbours.get_mut(&zone).and_then(|it| it.watches.take());
        let Some(mut knows) = watched else { return };
        let now = cx.world_now();
        let Some(told) = self.came_and_went(cx.core, zone, &knows, now) else { return };
        for (object, ..) in &told.gone {
            knows.remove(object);
        }
        knows.extend(told.shown.iter().map(|it| it.object));
        let refreshes = self.refreshes(cx.now());
        let moves = |it: &Object| self.motions.is_untold(it.id) || refreshes;
        let known = knows.iter().filter_map(|&it| cx.core.state.objects.get(it));
        let motions: Vec<_> = known.filter(|it| moves(it)).map(|it| (it.id, it.motion)).collect();
        if let Some(neighbour) = self.borders.neighbours.get_mut(&zone) {
            neighbour.watches = Some(knows);
        }
        tell_in_parts(cx, zone, told);
        stream_to(cx, zone, &motions);
    }

    /// Objects that came near a zone's border, and those that left it.
    fn came_and_went(
        &self,
        core: &Core,
        zone: ZoneId,
        knows: &BTreeSet<ObjectId>,
        now: Time,
    ) -> Option<Told> {
        let region = core.config.map.polygon(zone)?;
        let reach = depth(&core.config);
        let far = wider(reach, STRAY_MAX);
        let mut told = Told::default();
        for it in core.state.objects.iter().filter(|it| it.id != game::WORLD) {
            if knows.contains(&it.id) {
                if !is_near(region, far, &it.motion, now) {
                    told.gone.push((it.id, it.incarnation, it.version));
                }
            } else if self.unannounced.is_settled(it.id) && is_near(region, reach, &it.motion, now) {
                told.shown.push(Known::of(it));
            }
        }
        told.shown.sort_unstable_by_key(|it| it.object);
        told.gone.sort_unstable();
        Some(told)
    }
}

/// A record that is safe, for the neighbours.
struct News<'a> {
    core: &'a Core,
    record: &'a Record,
    now: Time,
}

impl News<'_> {
    /// Tells a zone that watches these objects of one change.
    fn tell(
        &self,
        zone: ZoneId,
        watched: &mut BTreeSet<ObjectId>,
        change: &Change,
        tells: &mut BTreeMap<ZoneId, Told>,
    ) {
        match change {
            Change::Put { object, incarnation, version, motion, state } if *object != game::WORLD => {
                let newly = *version == 1 || self.record.index == self.core.state.head || 1 < *incarnation;
                if watched.contains(object) || newly && self.comes_near(zone, motion) {
                    watched.insert(*object);
                    let (object, state, motion) = (*object, state.clone(), self.newest(*object, motion));
                    let (incarnation, version) = (*incarnation, *version);
                    let known = Known { object, incarnation, version, motion, state };
                    tells.entry(zone).or_default().shown.push(known);
                }
            }
            Change::Removed { object, version } if watched.remove(object) => {
                tells.entry(zone).or_default().gone.push((*object, u32::MAX, *version));
            }
            Change::Departed { object, to, incarnation } if watched.remove(object) => {
                let told = tells.entry(zone).or_default();
                if *to == zone {
                    // What we said of it before must not outlive what that zone knows itself.
                    told.gone.push((*object, *incarnation, u32::MAX));
                } else {
                    told.moved.push((*object, *incarnation, *to));
                }
            }
            _ => (),
        }
    }

    fn comes_near(&self, zone: ZoneId, motion: &Motion) -> bool {
        let (config, reach) = (&self.core.config, depth(&self.core.config));
        config.map.polygon(zone).is_some_and(|it| is_near(it, reach, motion, self.now))
    }

    /// Where an object has gone since the record, unless a later event set its motion.
    fn newest(&self, object: ObjectId, motion: &Motion) -> Motion {
        let newest = self.core.state.objects.get(object).map(|it| it.motion);
        newest.filter(|it| it.generation == motion.generation).unwrap_or(*motion)
    }
}

fn is_near(region: &Polygon, reach: Distance, motion: &Motion, now: Time) -> bool {
    region.meets_disc(motion.position_at(now), reach)
}

fn tell_in_parts(cx: &mut Ctx<'_>, zone: ZoneId, mut told: Told) {
    for shown in parts_of(std::mem::take(&mut told.shown)) {
        cx.tell_zone(zone, Lane::Sure, Mesh::Told(Told { shown, ..Told::default() }));
    }
    if told != Told::default() {
        cx.tell_zone(zone, Lane::Sure, Mesh::Told(told));
    }
}

/// Tells how objects move. Also when none does: that says that this zone is here.
fn stream_to(cx: &mut Ctx<'_>, zone: ZoneId, motions: &[(ObjectId, Motion)]) {
    let chunks = motions.chunks(MOTIONS_MAX).map(<[_]>::to_vec);
    let chunks = if motions.is_empty() { vec![Vec::new()] } else { chunks.collect() };
    for (part, motions) in chunks.into_iter().enumerate() {
        let lane = Lane::Latest(LatestKey(1 << 32 | part as u64));
        cx.tell_zone(zone, lane, Mesh::Motions(motions));
    }
}

/// Objects in as many messages as they need.
fn parts_of(objects: Vec<Known>) -> Vec<Vec<Known>> {
    let mut parts: Vec<Vec<Known>> = Vec::new();
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
    fn a_crowd_is_told_in_parts() {
        let known = |counter: u32| Known {
            object: ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter },
            incarnation: 1,
            version: 1,
            motion: Motion::default(),
            state: ByteBuf::from(vec![0; 1_000 + counter as usize % 7]),
        };
        let all: Vec<_> = (0..2_000).map(known).collect();
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

//! Borders: what neighbours are told of what is near them, and the ghosts of what is theirs.
//!
//! A neighbour that watches gets everything near its region, then every change as it becomes true, then how things
//! move, ten times a second. Ghosts are nobody's truth: they are lost with the reign and asked for again.

use super::Primary;
use super::grants::{known, wider};
use crate::config::{Config, HYSTERESIS, STRAY_MAX, VIEW_SLACK_PERCENT};
use crate::core::{Core, Event, Out, Stage};
use crate::mesh::{Known, Mesh, Told};
use crate::msg::Down;
use crate::plant::Plant;
use crate::record::{Change, Record};
use crate::table::{Object, Table};
use game::Hearers;
use machine::{Lane, LatestKey, Span, Time};
use rustc_hash::FxHashMap;
use space::{Distance, Motion, ObjectId, Polygon, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// Between two looks at who came near a border, and two streams of motions.
const LOOK_EVERY: Span = Span::from_millis(100);

/// Everything that moves is said again this often: a datagram may be lost.
const REFRESH_EVERY: Span = Span::from_millis(1_000);

/// A ghost whose new owner has not told of it for this long is not shown any more.
const UNCONFIRMED_MAX: Span = Span::from_millis(700);

/// A neighbour that tells nothing for this long: its ghosts are not shown any more.
const SILENT_MAX: Span = Span::from_millis(2_000);

/// The most bytes of objects in one message, and what an object has besides its state, at most.
const PART_MAX: usize = 256 * 1024;
const KNOWN_WEIGHT: usize = 96;

/// Motions per message: they travel as a datagram.
const MOTIONS_MAX: usize = 24;

/// A neighbour, and what each side knows of the other.
#[derive(Debug, Default)]
struct Neighbour {
    /// It watches, and knows these objects of ours.
    watches: Option<BTreeSet<ObjectId>>,
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
pub(super) struct Borders {
    neighbours: BTreeMap<ZoneId, Neighbour>,
    table: Table,
    ghosts: FxHashMap<ObjectId, Ghost>,
    /// What a new owner said of an object that is still ours, as far as we know.
    early: BTreeMap<ObjectId, (ZoneId, Known)>,
    /// Own objects that moved otherwise since the last stream.
    moved: BTreeSet<ObjectId>,
    looked: Time,
    refreshed: Time,
}

impl Borders {
    pub(super) fn new(config: &Config) -> Self {
        let near = config.map.neighbours(config.zone, depth(config)).unwrap_or_default();
        let neighbours = near.into_iter().map(|it| (it, Neighbour::default())).collect();
        Self { neighbours, ..Self::default() }
    }

    pub(super) fn is_neighbour(&self, zone: ZoneId) -> bool {
        self.neighbours.contains_key(&zone)
    }

    pub(super) fn neighbours(&self) -> Vec<ZoneId> {
        self.neighbours.keys().copied().collect()
    }

    /// The objects of others, as far as they are known.
    pub(super) const fn ghosts(&self) -> &Table {
        &self.table
    }

    pub(super) fn refresh(&mut self, now: Time) {
        self.table.refresh(now);
    }

    pub(super) fn owner(&self, object: ObjectId) -> Option<ZoneId> {
        self.ghosts.get(&object).map(|it| it.owner)
    }

    pub(super) fn moved(&mut self, object: ObjectId) {
        self.moved.insert(object);
    }

    /// The connection to a neighbour is gone: it does not watch any more, and we must ask anew.
    pub(super) fn unwatched(&mut self, zone: ZoneId) {
        if let Some(it) = self.neighbours.get_mut(&zone) {
            *it = Neighbour { heard: it.heard, ..Neighbour::default() };
        }
    }

    fn confirm(&mut self, zone: ZoneId, now: Time) -> bool {
        let Some(it) = self.neighbours.get_mut(&zone).filter(|it| it.heard.is_some()) else { return false };
        it.heard = Some(now);
        true
    }
}

/// How far beyond a border a zone must know: as far as its players see, wherever they stray.
fn depth(config: &Config) -> Distance {
    let view = u64::from(config.view().millimetres()) * u64::from(100 + VIEW_SLACK_PERCENT) / 100;
    let view = u32::try_from(view).ok().and_then(|it| Distance::new(it).ok()).unwrap_or(Distance::MAX);
    wider(wider(view, STRAY_MAX), HYSTERESIS)
}

impl Primary {
    // What neighbours are told.

    pub(super) fn on_watch(&mut self, core: &mut Core, zone: ZoneId, out: &mut Out) {
        let Some(region) = core.config.map.polygon(zone) else { return };
        let Some(neighbour) = self.borders.neighbours.get_mut(&zone) else { return };
        let (now, reach) = (core.world_time(core.now), depth(&core.config));
        let near = |it: &&Object| is_near(region, reach, &it.motion, now) && it.id != game::WORLD;
        let settled = |it: &&Object| !self.unsettled.contains_key(&it.id);
        let mut shown: Vec<_> = core.state.objects.iter().filter(near).filter(settled).map(known).collect();
        shown.sort_unstable_by_key(|it| it.object);
        neighbour.watches = Some(shown.iter().map(|it| it.object).collect());
        let mut parts = parts_of(shown).into_iter();
        self.tell_zone(core, zone, Lane::Sure, Mesh::Ghosts(parts.next().unwrap_or_default()), out);
        for shown in parts {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Told(Told { shown, ..Told::default() }), out);
        }
    }

    /// A record is safe: those who watch hear of it.
    pub(super) fn tell_neighbours(&mut self, core: &mut Core, record: &Record, out: &mut Out) {
        if self.borders.neighbours.is_empty() {
            return;
        }
        let (now, reach) = (core.world_now(), depth(&core.config));
        let mut tells: BTreeMap<ZoneId, Told> = BTreeMap::new();
        for change in &record.changes {
            for (&zone, neighbour) in &mut self.borders.neighbours {
                let Some(watched) = &mut neighbour.watches else { continue };
                match change {
                    Change::Put { object, incarnation, version, motion, state } if *object != game::WORLD => {
                        let newly = *version == 1 || record.index == core.state.head || 1 < *incarnation;
                        let region = core.config.map.polygon(zone);
                        let near = || newly && region.is_some_and(|it| is_near(it, reach, motion, now));
                        if watched.contains(object) || near() {
                            watched.insert(*object);
                            let (object, state) = (*object, state.clone());
                            let (incarnation, version) = (*incarnation, *version);
                            // Where it has gone since is known here, too.
                            let newest = core.state.objects.get(object).map(|it| it.motion);
                            let motion =
                                newest.filter(|it| it.generation == motion.generation).unwrap_or(*motion);
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
                            // What we said of it before must not outlive what they know themselves.
                            told.gone.push((*object, *incarnation, u32::MAX));
                        } else {
                            told.moved.push((*object, *incarnation, *to));
                        }
                    }
                    _ => (),
                }
            }
        }
        self.pass_notices(core, record, &mut tells);
        for (zone, told) in tells {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Told(told), out);
        }
    }

    /// Notices that players of other zones hear. Who took part in the event tells its own players.
    fn pass_notices(&self, core: &Core, record: &Record, tells: &mut BTreeMap<ZoneId, Told>) {
        if record.notices.is_empty() || matches!(record.cause, crate::record::Cause::Joint(_)) {
            return;
        }
        let took_part = |zone: ZoneId| {
            let decided = |it: &Change| matches!(it, Change::Posted { to, item: crate::mesh::Item::Decided(_), .. } if *to == zone);
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
            for &zone in zones.iter().filter(|&&it| it != self.zone && !took_part(it)) {
                tells.entry(zone).or_default().notices.push((*to, notice.clone()));
            }
        }
    }

    /// Who came near a border or left it, how things move, and who is not heard any more.
    pub(super) fn look_after_borders(&mut self, core: &mut Core, out: &mut Out) {
        if core.now.since(self.borders.looked) < LOOK_EVERY {
            return;
        }
        self.borders.looked = core.now;
        for zone in self.borders.neighbours() {
            self.look_at_border(core, zone, out);
            self.ask_for_ghosts(core, zone, out);
        }
        if REFRESH_EVERY <= core.now.since(self.borders.refreshed) {
            self.borders.refreshed = core.now;
        }
        self.borders.moved.clear();
        self.forget_ghosts(core, out);
    }

    fn look_at_border(&mut self, core: &mut Core, zone: ZoneId, out: &mut Out) {
        let Some(region) = core.config.map.polygon(zone).cloned() else { return };
        let Some(watched) = self.borders.neighbours.get_mut(&zone).and_then(|it| it.watches.take()) else {
            return;
        };
        let (now, reach) = (core.world_now(), depth(&core.config));
        let far = wider(reach, STRAY_MAX);
        let (mut told, mut knows) = (Told::default(), watched);
        for it in core.state.objects.iter().filter(|it| it.id != game::WORLD) {
            let settled = !self.unsettled.contains_key(&it.id);
            if knows.contains(&it.id) {
                if !is_near(&region, far, &it.motion, now) {
                    told.gone.push((it.id, it.incarnation, it.version));
                }
            } else if settled && is_near(&region, reach, &it.motion, now) {
                told.shown.push(known(it));
            }
        }
        told.shown.sort_unstable_by_key(|it| it.object);
        told.gone.sort_unstable();
        for (object, ..) in &told.gone {
            knows.remove(object);
        }
        knows.extend(told.shown.iter().map(|it| it.object));
        let refresh = REFRESH_EVERY <= core.now.since(self.borders.refreshed);
        let moves = |it: &Object| self.borders.moved.contains(&it.id) || refresh;
        let known = knows.iter().filter_map(|&it| core.state.objects.get(it));
        let motions: Vec<_> = known.filter(|it| moves(it)).map(|it| (it.id, it.motion)).collect();
        if let Some(neighbour) = self.borders.neighbours.get_mut(&zone) {
            neighbour.watches = Some(knows);
        }
        for shown in parts_of(std::mem::take(&mut told.shown)) {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Told(Told { shown, ..Told::default() }), out);
        }
        if told != Told::default() {
            self.tell_zone(core, zone, Lane::Sure, Mesh::Told(told), out);
        }
        self.stream_to(core, zone, &motions, out);
    }

    /// How things move. Said also when nothing does: it says that we are here.
    fn stream_to(&mut self, core: &Core, zone: ZoneId, motions: &[(ObjectId, Motion)], out: &mut Out) {
        let chunks = motions.chunks(MOTIONS_MAX).map(<[_]>::to_vec);
        let chunks = if motions.is_empty() { vec![Vec::new()] } else { chunks.collect() };
        for (part, motions) in chunks.into_iter().enumerate() {
            let lane = Lane::Latest(LatestKey(1 << 32 | part as u64));
            self.tell_zone(core, zone, lane, Mesh::Motions(motions), out);
        }
    }

    // What neighbours tell.

    /// Asks a neighbour for everything near our border.
    pub(super) fn watch(&mut self, core: &Core, zone: ZoneId, out: &mut Out) {
        if let Some(neighbour) = self.borders.neighbours.get_mut(&zone) {
            (neighbour.heard, neighbour.asked) = (None, Some(core.now));
            self.tell_zone(core, zone, Lane::Sure, Mesh::Watch, out);
        }
    }

    fn ask_for_ghosts(&mut self, core: &Core, zone: ZoneId, out: &mut Out) {
        let Some(neighbour) = self.borders.neighbours.get(&zone) else { return };
        let silent = neighbour.heard.is_none_or(|it| Span::from_millis(700) < core.now.since(it));
        let asked = neighbour.asked.is_some_and(|it| core.now.since(it) < Span::from_millis(300));
        if silent && !asked && self.peers.address(zone).is_some() {
            self.watch(core, zone, out);
        }
    }

    pub(super) fn on_ghosts(&mut self, core: &mut Core, zone: ZoneId, ghosts: Vec<Known>, out: &mut Out) {
        let Some(neighbour) = self.borders.neighbours.get_mut(&zone) else { return };
        neighbour.heard = Some(core.now);
        self.borders.early.retain(|_, it| it.0 != zone);
        let told: BTreeSet<_> = ghosts.iter().map(|it| it.object).collect();
        let of_zone = |it: &(&ObjectId, &Ghost)| it.1.owner == zone && !told.contains(it.0);
        let gone: BTreeSet<_> = self.borders.ghosts.iter().filter(of_zone).map(|it| *it.0).collect();
        for object in gone {
            self.hide_ghost(object, out);
        }
        for known in ghosts {
            self.see_ghost(core, zone, known, out);
        }
    }

    pub(super) fn on_ghosts_told(&mut self, core: &mut Core, zone: ZoneId, told: Told, out: &mut Out) {
        self.hear_notices(core, &told.notices, out);
        if !self.borders.confirm(zone, core.now) {
            return; // We do not have everything: it will come, with this.
        }
        for known in told.shown {
            self.see_ghost(core, zone, known, out);
        }
        for (object, incarnation, version) in told.gone {
            self.borders.early.remove(&object);
            let of_zone = self.borders.owner(object) == Some(zone);
            let known = self.borders.table.get(object).filter(|it| of_zone && it.version <= version);
            let Some(known) = known.map(|it| it.incarnation) else { continue };
            if incarnation == u32::MAX {
                self.lose_ghost(object, version, out);
            } else if known <= incarnation {
                self.hide_ghost(object, out);
            }
        }
        for (object, incarnation, to) in told.moved {
            self.ghost_goes(core, object, incarnation, to);
        }
    }

    /// A ghost gets another owner, who will tell of it if it stays near.
    fn ghost_goes(&mut self, core: &Core, object: ObjectId, incarnation: u32, to: ZoneId) {
        let earlier = self.borders.table.get(object).is_some_and(|it| it.incarnation < incarnation);
        if let Some(ghost) = self.borders.ghosts.get_mut(&object).filter(|_| earlier) {
            *ghost = Ghost { owner: to, unconfirmed: Some(core.now) };
        }
    }

    pub(super) fn on_ghost_motions(
        &mut self,
        core: &Core,
        zone: ZoneId,
        motions: &[(ObjectId, Motion)],
        out: &mut Out,
    ) {
        if !self.borders.confirm(zone, core.now) {
            return;
        }
        for (object, motion) in motions {
            let Some(known) = self.borders.table.get(*object) else { continue };
            if motion.is_newer_than(&known.motion) && self.borders.owner(*object) == Some(zone) {
                self.borders.table.set_motion(*object, *motion);
                out.raise(Event::Stage(Stage::Moved(*object, *motion)));
            }
        }
    }

    /// Takes in what another zone says of its object, and shows it to whoever knows it.
    pub(super) fn see_ghost(&mut self, core: &mut Core, owner: ZoneId, known: Known, out: &mut Out) {
        let Known { object, incarnation, version, motion, state } = known;
        if let Some(own) = core.state.objects.get(object) {
            // It was said before it came; or it has a new owner, and we do not know yet.
            if own.incarnation < incarnation {
                let known = Known { object, incarnation, version, motion, state };
                self.borders.early.insert(object, (owner, known));
            }
            return;
        }
        let before = self.borders.table.get(object).map(|it| (it.incarnation, it.version, it.motion));
        if before.is_some_and(|it| (incarnation, version) < (it.0, it.1)) {
            return;
        }
        let fresh = before.is_none_or(|it| (it.0, it.1) < (incarnation, version));
        let motion = match before {
            Some((.., old)) if old.is_newer_than(&motion) => old,
            _ => motion,
        };
        let ghost = Ghost { owner, unconfirmed: None };
        self.keep_ghost(ghost, Known { object, incarnation, version, motion, state }, out);
        if fresh {
            self.show_ghost(core, object, out);
        }
    }

    /// An event in which we took part has changed a ghost. That is no word of its owner, who may know that it is too far from
    /// here to tell of it.
    pub(super) fn change_ghost(&mut self, now: Time, owner: ZoneId, known: Known, out: &mut Out) {
        let before = self.borders.ghosts.get(&known.object).filter(|it| it.owner == owner);
        let unconfirmed = before.map_or(Some(now), |it| it.unconfirmed);
        self.keep_ghost(Ghost { owner, unconfirmed }, known, out);
    }

    /// Takes a ghost in.
    fn keep_ghost(&mut self, ghost: Ghost, known: Known, out: &mut Out) {
        let Known { object, incarnation, version, motion, state } = known;
        self.borders.ghosts.insert(object, ghost);
        self.borders.table.put(Object { id: object, incarnation, version, motion, state });
        out.raise(Event::Stage(Stage::Appeared(object, motion)));
    }

    /// Something was ours a moment ago, and is not any more. It stays in sight.
    pub(super) fn leave_ghost(&mut self, core: &mut Core, object: Object, owner: ZoneId, out: &mut Out) {
        let (id, unconfirmed) = (object.id, Some(core.now));
        self.borders.ghosts.insert(id, Ghost { owner, unconfirmed });
        self.borders.table.put(object);
        if let Some((owner, known)) = self.borders.early.remove(&id) {
            self.see_ghost(core, owner, known, out);
        }
    }

    /// What was a ghost is ours.
    pub(super) fn adopt_ghost(&mut self, object: ObjectId) {
        self.borders.early.remove(&object);
        self.borders.ghosts.remove(&object);
        self.borders.table.remove(object);
    }

    /// A ghost is not near any more, or nobody tells of it.
    fn hide_ghost(&mut self, object: ObjectId, out: &mut Out) {
        self.adopt_ghost(object);
        out.raise(Event::Stage(Stage::Vanished(object)));
        for viewer in self.views.forget_object(object) {
            self.say(viewer, Down::Views { shown: Vec::new(), hidden: vec![object] }, out);
        }
    }

    /// A ghost's object has ceased to be.
    pub(super) fn lose_ghost(&mut self, object: ObjectId, version: u32, out: &mut Out) {
        self.adopt_ghost(object);
        out.raise(Event::Stage(Stage::Vanished(object)));
        let gone = vec![(object, version)];
        let told = Down::Told { index: 0, shown: Vec::new(), gone, notices: Vec::new() };
        for viewer in self.views.forget_object(object) {
            self.say(viewer, told.clone(), out);
        }
    }

    /// Ghosts that nobody tells of any more.
    fn forget_ghosts(&mut self, core: &Core, out: &mut Out) {
        if core.config.plants.has(Plant::GhostsStay) {
            return;
        }
        let now = core.now;
        let silent = |zone: ZoneId| {
            let heard = self.borders.neighbours.get(&zone).and_then(|it| it.heard.or(it.asked));
            heard.is_none_or(|it| SILENT_MAX < now.since(it))
        };
        let is_old = |ghost: &Ghost| {
            ghost.unconfirmed.is_some_and(|it| UNCONFIRMED_MAX < now.since(it))
                || ghost.unconfirmed.is_none() && silent(ghost.owner)
        };
        let old: BTreeSet<_> = self.borders.ghosts.iter().filter(|it| is_old(it.1)).map(|it| *it.0).collect();
        for object in old {
            self.hide_ghost(object, out);
        }
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

fn is_near(region: &Polygon, reach: Distance, motion: &Motion, now: Time) -> bool {
    region.meets_disc(motion.position_at(now), reach)
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

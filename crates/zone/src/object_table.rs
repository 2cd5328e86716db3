//! The objects of a zone, found by name or by position.
//!
//! Positions change with time, so the grid is a picture of one moment: a search looks farther than asked by the
//! distance that the fastest object may have covered since, and at every object that appeared or jumped since.

use game::Objects;
use machine::{Span, Time};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use space::{Distance, Grid, Motion, ObjectId, Position};

/// The grid is rebuilt when its picture is older than this.
const PICTURE_AGE_MAX: Span = Span::from_millis(100);

/// The grid is rebuilt when more objects than this appeared or jumped since.
const FRESH_MAX: usize = 128;

/// Width of a grid cell: a quarter of a usual range.
const CELL: Distance = Distance::of_metres(16);

/// One object as its owner stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Permanent name of the object.
    pub id: ObjectId,
    /// Number of owners so far: 1 from its birth on.
    pub incarnation: u32,
    /// Number of states so far; a change of owner counts as one.
    pub version: u32,
    /// Newest motion that the zone knows.
    pub motion: Motion,
    /// State of the object, encoded by the game.
    pub state: ByteBuf,
}

#[derive(Clone, Debug)]
struct TableEntry {
    object: Object,
    /// The object's part in the hash of the whole state.
    hash: u64,
}

/// All objects of a zone.
#[derive(Clone, Debug)]
pub struct ObjectTable {
    /// Objects by slot; `None` for a free slot.
    entries: Vec<Option<TableEntry>>,
    free: Vec<u32>,
    index: FxHashMap<ObjectId, u32>,
    /// The sum of all objects' hashes: the order of changes does not matter to it.
    hash: u64,
    grid: Grid,
    /// World time of the grid's picture.
    pictured: Time,
    /// No object was faster than this since the picture was made, in millimetres per second.
    fastest: u32,
    /// Slots whose object is not where the picture has it.
    fresh: Vec<u32>,
    /// Slots and positions of the objects in the picture, side by side: kept to spare allocations.
    slots: Vec<u32>,
    xs: Vec<i32>,
    ys: Vec<i32>,
}

impl Default for ObjectTable {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            index: FxHashMap::default(),
            hash: 0,
            grid: Grid::new(CELL),
            pictured: Time::ZERO,
            fastest: 0,
            fresh: Vec::new(),
            slots: Vec::new(),
            xs: Vec::new(),
            ys: Vec::new(),
        }
    }
}

impl ObjectTable {
    /// Number of objects in the table.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether the table has no objects.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// An object by its name; `None` if it is not here.
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.index.get(&id).map(|&slot| &self.entry(slot).object)
    }

    /// All objects, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Object> {
        self.entries.iter().flatten().map(|it| &it.object)
    }

    /// Adds an object, or replaces all of it.
    pub fn put(&mut self, object: Object) {
        let hash = hash_of(&object);
        self.hash = self.hash.wrapping_add(hash);
        let (id, motion) = (object.id, object.motion);
        let entry = TableEntry { object, hash };
        if let Some(&slot) = self.index.get(&id) {
            let old = self.entries[slot as usize].replace(entry).expect("the index names occupied slots");
            self.hash = self.hash.wrapping_sub(old.hash);
            self.note_motion(slot, &old.object.motion, &motion);
            return;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 objects")
        });
        self.entries[slot as usize] = Some(entry);
        self.index.insert(id, slot);
        self.note_speed(&motion);
        self.fresh.push(slot);
    }

    /// Removes an object and returns it.
    pub fn remove(&mut self, id: ObjectId) -> Option<Object> {
        let slot = self.index.remove(&id)?;
        let entry = self.entries[slot as usize].take().expect("the index names occupied slots");
        self.hash = self.hash.wrapping_sub(entry.hash);
        self.free.push(slot);
        Some(entry.object)
    }

    /// Gives an object a newer motion. Motions are no part of the hash: they are not logged one by one.
    pub fn set_motion(&mut self, id: ObjectId, motion: Motion) {
        let Some(&slot) = self.index.get(&id) else { return };
        let entry = self.entries[slot as usize].as_mut().expect("the index names occupied slots");
        let old = std::mem::replace(&mut entry.object.motion, motion);
        self.note_motion(slot, &old, &motion);
    }

    /// The hash of all objects without their motions.
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Rebuilds the grid if its picture is too old or too much changed since. Call before searching.
    pub fn refresh(&mut self, now: Time) {
        // `drift` only covers the time after the picture: an earlier moment needs another one.
        let old = PICTURE_AGE_MAX < now.since(self.pictured) || now < self.pictured;
        if !old && self.fresh.len() <= FRESH_MAX {
            return;
        }
        self.slots.clear();
        self.xs.clear();
        self.ys.clear();
        self.fastest = 0;
        for slot in 0..self.entries.len() {
            let Some(entry) = &self.entries[slot] else { continue };
            let (motion, place) = (entry.object.motion, entry.object.motion.position_at(now));
            self.slots.push(slot as u32);
            self.xs.push(place.x());
            self.ys.push(place.y());
            self.note_speed(&motion);
        }
        self.grid.rebuild(&self.xs, &self.ys);
        self.fresh.clear();
        self.pictured = now;
    }

    fn entry(&self, slot: u32) -> &TableEntry {
        self.entries[slot as usize].as_ref().expect("the index names occupied slots")
    }

    fn note_speed(&mut self, motion: &Motion) {
        let (x, y) = (motion.velocity.x().unsigned_abs(), motion.velocity.y().unsigned_abs());
        // The sum is never less than the length, and needs no root.
        self.fastest = self.fastest.max(x + y);
    }

    /// A motion that goes on where the old one was only changes how far objects may be from the picture.
    fn note_motion(&mut self, slot: u32, old: &Motion, new: &Motion) {
        self.note_speed(new);
        let jumped = old.generation != new.generation
            || old.position_at(new.start.time()).distance_squared(new.position) > JUMP_SQUARED
            || new.start.time() < self.pictured;
        if jumped {
            self.fresh.push(slot);
        }
    }

    /// The distance in millimetres that an object may be from its position in the picture.
    fn drift(&self, now: Time) -> u64 {
        let micros = now.since(self.pictured).as_micros();
        // Two more for rounding, of the positions and of this division.
        u64::from(self.fastest).saturating_mul(micros) / 1_000_000 + 2
    }

    fn visit_slot(&self, slot: u32, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        if let Some(entry) = &self.entries[slot as usize] {
            visit(entry.object.id, &entry.object.motion);
        }
    }
}

/// Square of the largest step aside that counts as rounding, in square millimetres; a longer one is a jump.
const JUMP_SQUARED: u64 = 8;

impl Objects for ObjectTable {
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])> {
        self.get(object).map(|it| (&it.motion, it.state.as_slice()))
    }

    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion)) {
        let reach = u64::from(radius.millimetres()).saturating_add(self.drift(now));
        let reach = u32::try_from(reach).ok().and_then(|it| Distance::new(it).ok()).unwrap_or(Distance::MAX);
        self.grid.for_each_run(centre.x(), centre.y(), reach, |run| {
            for &at in &self.grid.order()[run] {
                self.visit_slot(self.slots[at as usize], visit);
            }
        });
        // An object that is fresh and in the picture is visited twice; callers sort and drop duplicates anyway.
        for &slot in &self.fresh {
            self.visit_slot(slot, visit);
        }
    }
}

/// An object's part in the state's hash: everything but its motion, of which only the generation counts.
fn hash_of(object: &Object) -> u64 {
    let ObjectId { zone, epoch, counter } = object.id;
    let mut head = [0; 24];
    let words = [zone.0, epoch.0, counter, object.incarnation, object.version, object.motion.generation];
    for (place, word) in head.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    crate::hash::of(&[&head, &object.state])
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::Rng;
    use space::{Epoch, Heading, Millis, Velocity, ZoneId};

    fn object(counter: u32, x: i32, y: i32, speed: i32) -> Object {
        let id = ObjectId { zone: ZoneId(1), epoch: Epoch(1), counter };
        let motion = Motion {
            position: Position::new(x, y).unwrap(),
            velocity: Velocity::new(speed, -speed).unwrap(),
            heading: Heading::EAST,
            ..Motion::default()
        };
        Object { id, incarnation: 1, version: 1, motion, state: ByteBuf::from(counter.to_le_bytes()) }
    }

    fn found(table: &ObjectTable, centre: Position, radius: Distance, now: Time) -> Vec<ObjectId> {
        let mut found = Vec::new();
        table.visit(centre, radius, now, &mut |id, motion| {
            if centre.is_within(radius, motion.position_at(now)) {
                found.push(id);
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn a_search_misses_no_object_whatever_happened_since_the_picture() {
        for seed in 0..40 {
            let mut rng = Rng::seeded(seed);
            let mut table = ObjectTable::default();
            let mut now = Time::from_millis(1_000);
            for turn in 0..400u32 {
                now += Span::from_millis(rng.below(30));
                let place = |rng: &mut Rng| rng.below(200_000) as i32 - 100_000;
                let id = |rng: &mut Rng| ObjectId {
                    zone: ZoneId(1),
                    epoch: Epoch(1),
                    counter: rng.below(turn as u64 + 1) as u32,
                };
                match rng.below(6) {
                    0 | 1 => {
                        let mut it =
                            object(turn, place(&mut rng), place(&mut rng), rng.below(40_000) as i32 - 20_000);
                        it.motion.start = Millis::floor(now);
                        table.put(it);
                    }
                    2 => drop(table.remove(id(&mut rng))),
                    3 => {
                        let id = id(&mut rng);
                        if let Some(motion) = table.get(id).map(|it| it.motion.rebased(now)) {
                            let velocity = Velocity::new(rng.below(60_000) as i32 - 30_000, 0).unwrap();
                            table.set_motion(id, Motion { velocity, ..motion });
                        }
                    }
                    4 => {
                        let id = id(&mut rng);
                        if let Some(it) = table.get(id).cloned() {
                            let position = Position::new(place(&mut rng), place(&mut rng)).unwrap();
                            let motion = Motion {
                                position,
                                start: Millis::floor(now),
                                generation: it.motion.generation + 1,
                                ..it.motion
                            };
                            table.put(Object { motion, version: it.version + 1, ..it });
                        }
                    }
                    _ => table.refresh(now),
                }
                let centre = Position::new(place(&mut rng), place(&mut rng)).unwrap();
                let radius = Distance::of_metres(rng.below(60) as u32);
                let mut expected: Vec<_> = table
                    .iter()
                    .filter(|it| centre.is_within(radius, it.motion.position_at(now)))
                    .map(|it| it.id)
                    .collect();
                expected.sort_unstable();
                assert_eq!(found(&table, centre, radius, now), expected, "seed {seed}, turn {turn}");
            }
        }
    }

    #[test]
    fn the_hash_knows_states_and_not_the_way_to_them() {
        let (mut one, mut two) = (ObjectTable::default(), ObjectTable::default());
        one.put(object(1, 0, 0, 0));
        one.put(object(2, 5, 5, 0));
        one.put(object(3, 5, 5, 0));
        one.remove(object(3, 0, 0, 0).id);
        two.put(object(2, 900, 5, 7));
        two.put(object(1, 0, 0, 0));
        assert_eq!(one.hash(), two.hash());
        two.put(Object { version: 2, ..object(1, 0, 0, 0) });
        assert_ne!(one.hash(), two.hash());
    }
}

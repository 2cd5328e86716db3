//! A transaction under construction, in bytes. No other event sees it until the zone keeps its product.
//!
//! A game sees it through [`crate::Tx`], which knows the game's types. An access beyond the scope, or beyond a limit,
//! is noted as a fault: the call returns as if there were no such object, the game goes on, and in the end the whole
//! event is refused. So a mistake in a game harms neither the world nor the host.

use crate::call_bounds::{BoundExceeded, CallBounds, byte_steps};
use crate::config::{MESSAGE_MAX, SAYS_MAX, STATE_MAX, TIMER_MAX, TIMER_MIN, WRITES_MAX};
use crate::{Addressee, Hearers, Scope, WORLD};
use machine::{Rng, Span, Time};
use space::{Distance, Epoch, Heading, Millis, Motion, ObjectId, Polygon, Position, Velocity, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The objects that a transaction reads: those of a zone, or of a test.
pub trait Objects {
    /// The motion and the encoded state of an object; `None` if there is no such object.
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])>;

    /// Visits every object that may be at most `radius` from `centre` at `now`; it may visit others, too.
    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion));
}

/// The change of one object by an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftWrite {
    /// The event makes this object.
    Spawned {
        /// Its first motion: position, velocity, heading.
        motion: Motion,
        /// Its first state, encoded.
        state: Vec<u8>,
    },
    /// The event changes the object's state, its motion, or both.
    Changed {
        /// The new encoded state; `None` if it stays.
        state: Option<Vec<u8>>,
        /// The new motion; `None` if it stays. Newer than the old one: its generation is raised if the object was
        /// placed, its sequence if it was only steered.
        motion: Option<Motion>,
    },
    /// The event removes the object.
    Removed,
}

/// The result of a transaction. The zone keeps all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Product {
    /// The changed objects, by name.
    pub writes: BTreeMap<ObjectId, DraftWrite>,
    /// The objects whose state or motion the event read, with their motion at that time.
    pub reads: BTreeMap<ObjectId, Motion>,
    /// Encoded notices to players, in order.
    pub notices: Vec<(Hearers, Vec<u8>)>,
    /// Encoded letters to beyond the scope, in order.
    pub letters: Vec<(Addressee, Vec<u8>)>,
    /// Timers in order: the object, the due time, the encoded letter.
    pub timers: Vec<(ObjectId, Time, Vec<u8>)>,
    /// New motions of objects that the event steers but does not write. The motion of a written object is in its write.
    pub steered: BTreeMap<ObjectId, Motion>,
}

impl Product {
    /// True if the event only steers: then it needs no record.
    pub fn is_only_moves(&self) -> bool {
        self.writes.is_empty() && self.notices.is_empty() && self.letters.is_empty() && self.timers.is_empty()
    }
}

/// Allocates the names of new objects: zone, epoch and a counter, so no two zones give the same name.
#[derive(Clone, Copy, Debug)]
pub struct NameAllocator {
    /// The birth zone of the new objects.
    pub zone: ZoneId,
    /// The epoch of the zone's leadership.
    pub epoch: Epoch,
    /// The counter of the next name in this epoch.
    pub next: u32,
}

impl NameAllocator {
    fn allocate(&mut self) -> ObjectId {
        let counter = self.next;
        self.next = self.next.checked_add(1).expect("fewer than 2^32 births in one epoch");
        ObjectId { zone: self.zone, epoch: self.epoch, counter }
    }
}

/// A transaction under construction.
pub struct Draft<'a> {
    objects: &'a dyn Objects,
    scope: Scope,
    /// The object whose event this is; in scope wherever it is.
    actor: Option<ObjectId>,
    now: Time,
    rng: Rng,
    names: NameAllocator,
    product: Product,
    fault: Option<String>,
    bounds: CallBounds,
}

impl<'a> Draft<'a> {
    /// An empty transaction at `now`. `rng` is its source of chance, `names` gives the names of spawned objects.
    pub fn new(
        objects: &'a dyn Objects,
        scope: Scope,
        actor: Option<ObjectId>,
        now: Time,
        rng: Rng,
        names: NameAllocator,
    ) -> Self {
        Self {
            objects,
            scope,
            actor,
            now,
            rng,
            names,
            product: Product::default(),
            fault: None,
            bounds: CallBounds::begin(),
        }
    }

    /// World time of the event.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The event's own random source, the same at a replay.
    pub fn rng(&mut self) -> &mut Rng {
        self.count("chance", 1);
        &mut self.rng
    }

    /// A call of the game begins: its stack is measured from here.
    pub(crate) fn begin_call(&mut self) {
        self.bounds.restart_stack();
    }

    /// Counts the steps of a function. A call of the game that takes too many, or nests too deep, ends here.
    fn count(&mut self, function: &str, steps: u64) {
        if let Some(fault) = self.bounds.count(function, steps) {
            self.fail(fault);
            // Not `panic_any`: this is no panic that anyone should read about in the log.
            std::panic::resume_unwind(Box::new(BoundExceeded));
        }
    }

    /// The game's first mistake, if any: then the zone keeps nothing of this transaction.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// True if this transaction made the object and has not removed it again.
    pub(crate) fn has_spawned(&self, object: ObjectId) -> bool {
        matches!(self.product.writes.get(&object), Some(DraftWrite::Spawned { .. }))
    }

    /// Drops objects spawned outside `region`, their timers, and letters to them or to places outside.
    pub(crate) fn keep_within(&mut self, region: &Polygon) {
        let Product { writes, letters, timers, .. } = &mut self.product;
        let is_beyond = |it: &DraftWrite| matches!(it, DraftWrite::Spawned { motion, .. } if !region.contains(motion.position));
        let beyond: BTreeSet<_> = writes.extract_if(.., |_, it| is_beyond(it)).map(|it| it.0).collect();
        timers.retain(|(whose, ..)| !beyond.contains(whose));
        letters.retain(|(to, _)| match to {
            Addressee::Object(object) => !beyond.contains(object),
            Addressee::Place(place) => region.contains(*place),
            Addressee::World => true,
        });
    }

    /// Ends the transaction: its product and the allocator for the next event, or the game's fault.
    pub fn finish(self) -> Result<(Product, NameAllocator), String> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok((self.product, self.names)),
        }
    }

    /// The encoded state of an object, with this transaction's own writes.
    pub fn state(&mut self, object: ObjectId) -> Option<&[u8]> {
        self.look("get", object)?;
        let len = self.state_len(object);
        self.count("get", byte_steps(len));
        match self.product.writes.get(&object) {
            Some(DraftWrite::Spawned { state, .. } | DraftWrite::Changed { state: Some(state), .. }) => {
                Some(state)
            }
            Some(DraftWrite::Removed) => None,
            _ => self.objects.find(object).map(|(_, state)| state),
        }
    }

    /// The length of an object's encoded state.
    fn state_len(&self, object: ObjectId) -> usize {
        match self.product.writes.get(&object) {
            Some(DraftWrite::Spawned { state, .. } | DraftWrite::Changed { state: Some(state), .. }) => {
                state.len()
            }
            _ => self.objects.find(object).map_or(0, |(_, state)| state.len()),
        }
    }

    /// The motion of an object, with this transaction's own writes.
    pub fn motion(&mut self, object: ObjectId) -> Option<Motion> {
        self.look("motion", object)
    }

    /// Every object at most `radius` from `centre`, in the order of their names.
    pub fn near(&mut self, centre: Position, radius: Distance) -> Vec<ObjectId> {
        self.count("near", 1);
        if !self.scope.has_circle(centre, radius) {
            let text = format!(
                "tx.near looks {} m around {centre}, beyond {}: declare a larger Scope::area in Game::scope, or look less far",
                radius.metres(),
                self.scope
            );
            self.fail(text);
            return Vec::new();
        }
        let (now, mut found) = (self.now, Vec::new());
        self.objects.visit(centre, radius, now, &mut |object, _| found.push(object));
        // Rounding may shift a rebased motion by a millimetre, so steered objects are measured again, too.
        found.extend(self.product.writes.keys().chain(self.product.steered.keys()));
        found.sort_unstable();
        found.dedup();
        found.retain(|&object| {
            let motion = self.current_motion(object).filter(|_| object != WORLD);
            motion.is_some_and(|it| centre.is_within(radius, it.position_at(now)))
        });
        // Not what was visited: that depends on where the objects are stored, and a checker stores them elsewhere.
        let own = self.product.writes.len() + self.product.steered.len();
        self.count("near", (found.len() + own) as u64);
        found.iter().for_each(|&object| self.note_read(object));
        found
    }

    /// Writes the whole encoded state of an existing object.
    pub fn put(&mut self, object: ObjectId, bytes: Vec<u8>) {
        self.count("put", byte_steps(bytes.len()));
        if self.look("update", object).is_none() || !self.fits("a state", bytes.len(), STATE_MAX) {
            return;
        }
        match self.write(object) {
            Some(DraftWrite::Spawned { state, .. }) => *state = bytes,
            Some(DraftWrite::Changed { state, .. }) => *state = Some(bytes),
            Some(DraftWrite::Removed) | None => (),
        }
    }

    /// Makes a new object at a place within the scope, and returns its name.
    pub fn spawn(
        &mut self,
        bytes: Vec<u8>,
        place: Position,
        velocity: Velocity,
        heading: Heading,
    ) -> ObjectId {
        self.count("spawn", 1 + byte_steps(bytes.len()));
        // The name is used up even if the spawn fails: the game goes on with it until the event is refused.
        let name = self.names.allocate();
        if !self.scope.has_place(place) {
            let text = format!(
                "tx.spawn at {place}, outside {}: spawn inside, or declare a Scope::area that reaches there",
                self.scope
            );
            self.fail(text);
        } else if self.fits("a state", bytes.len(), STATE_MAX) && self.has_room() {
            let start = Millis::floor(self.now);
            let motion = Motion { position: place, velocity, heading, start, ..Motion::default() };
            self.product.writes.insert(name, DraftWrite::Spawned { motion, state: bytes });
        }
        name
    }

    /// Removes an object, and the timers that this event set for it.
    pub fn remove(&mut self, object: ObjectId) {
        if self.look("remove", object).is_none() || !self.has_position("remove", object) {
            return;
        }
        self.count("remove", self.product.timers.len() as u64);
        self.product.timers.retain(|(whose, ..)| *whose != object);
        match self.write(object) {
            // Spawned and removed in one event: other events never saw it, so no write remains.
            Some(DraftWrite::Spawned { .. }) => {
                self.product.writes.remove(&object);
            }
            Some(write) => *write = DraftWrite::Removed,
            None => (),
        }
    }

    /// Sets an object's motion, within the scope. Moves that its player sent before become void.
    pub fn place(&mut self, object: ObjectId, place: Position, velocity: Velocity, heading: Heading) {
        let Some(before) = self.look("place", object) else { return };
        if !self.scope.has_place(place) && before.position_at(self.now) != place {
            let text = format!(
                "tx.place at {place}, outside {}: use tx.depart to go beyond an event's reach",
                self.scope
            );
            return self.fail(text);
        }
        self.set_motion("place", object, place, velocity, heading);
    }

    /// Puts an object at any place of the world, where it stands still.
    pub fn depart(&mut self, object: ObjectId, place: Position) {
        let heading = self.current_motion(object).map_or(Heading::EAST, |it| it.heading);
        self.set_motion("depart", object, place, Velocity::ZERO, heading);
    }

    /// Changes an object's velocity and heading from its present position: a move, not a write. If this event also
    /// writes the object, the new motion is part of the write, so that every replica applies both or neither.
    pub fn steer(&mut self, object: ObjectId, velocity: Velocity, heading: Heading) {
        let Some(motion) = self.look("steer", object) else { return };
        if !self.has_position("steer", object) {
            return;
        }
        let steered = Motion { velocity, heading, ..motion.rebased(self.now) };
        let steered = match motion.sequence.checked_add(1) {
            Some(sequence) => Motion { sequence, ..steered },
            // Sequences are used up: a new generation starts them anew.
            None => Motion { generation: next_generation(&motion), sequence: 0, ..steered },
        };
        match self.product.writes.get_mut(&object) {
            Some(DraftWrite::Spawned { motion, .. }) => *motion = steered,
            Some(DraftWrite::Changed { motion, .. }) => *motion = Some(steered),
            Some(DraftWrite::Removed) => (),
            None => {
                self.product.steered.insert(object, steered);
            }
        }
    }

    /// Sends an encoded notice to players.
    pub fn notify(&mut self, to: Hearers, bytes: Vec<u8>) {
        self.count("notify", 1 + byte_steps(bytes.len()));
        if self.may_send("notices", self.product.notices.len(), bytes.len()) {
            self.product.notices.push((to, bytes));
        }
    }

    /// Sends an encoded letter to beyond the scope.
    pub fn send(&mut self, to: Addressee, bytes: Vec<u8>) {
        self.count("send", 1 + byte_steps(bytes.len()));
        if self.may_send("letters", self.product.letters.len(), bytes.len()) {
            self.product.letters.push((to, bytes));
        }
    }

    /// Sets a timer: sends an encoded letter to an object, later.
    pub fn schedule(&mut self, object: ObjectId, after: Span, bytes: Vec<u8>) {
        self.count("schedule", 1 + byte_steps(bytes.len()));
        if TIMER_MAX < after {
            let days = after.as_secs_f64() / 86_400.0;
            return self.fail(format!("tx.schedule after {days} days: the most is 366; schedule again then"));
        }
        let may = self.may_send("timers", self.product.timers.len(), bytes.len());
        if may && self.look("schedule", object).is_some() {
            self.product.timers.push((object, self.now + after.max(TIMER_MIN), bytes));
        }
    }

    /// Notes a fault of the game. Only the first is kept, because later ones may follow from it.
    pub fn fail(&mut self, text: String) {
        self.fault.get_or_insert(text);
    }

    /// All objects that this transaction may read, in the order of names: those in the scope, and the actor.
    pub fn everything(&mut self) -> Vec<ObjectId> {
        let mut found = match self.scope.clone() {
            Scope::Area { centre, radius } => self.near(centre, radius),
            Scope::Objects(objects) => objects,
        };
        found.extend(self.actor);
        found.sort_unstable();
        found.dedup();
        found.retain(|&it| self.look("objects", it).is_some());
        found
    }

    /// The motion of an object that exists and is in scope. Notes the read, or a fault beyond the scope.
    fn look(&mut self, what: &str, object: ObjectId) -> Option<Motion> {
        self.count(what, 1);
        let motion = self.current_motion(object)?;
        // Written objects stay in reach, although this event may have moved them out of the scope.
        let is_own = self.product.writes.contains_key(&object) || self.actor == Some(object);
        if !is_own && !self.scope.holds(object, &motion, self.now) {
            let (place, scope) = (motion.position_at(self.now), &self.scope);
            let text = if object == WORLD {
                format!(
                    "tx.{what} of WORLD, outside {scope}: declare Scope::objects([WORLD]), or send it a letter"
                )
            } else {
                format!(
                    "tx.{what} of object {object} at {place}, outside {scope}: declare it in Game::scope (a larger Scope::area, or Scope::objects with its name)"
                )
            };
            self.fail(text);
            return None;
        }
        self.note_read(object);
        Some(motion)
    }

    fn current_motion(&self, object: ObjectId) -> Option<Motion> {
        match self.product.writes.get(&object) {
            Some(DraftWrite::Spawned { motion, .. } | DraftWrite::Changed { motion: Some(motion), .. }) => {
                Some(*motion)
            }
            Some(DraftWrite::Removed) => None,
            _ => self
                .product
                .steered
                .get(&object)
                .copied()
                .or_else(|| self.objects.find(object).map(|(motion, _)| *motion)),
        }
    }

    fn note_read(&mut self, object: ObjectId) {
        if let Some((motion, _)) = self.objects.find(object) {
            self.product.reads.entry(object).or_insert(*motion);
        }
    }

    fn set_motion(
        &mut self,
        what: &str,
        object: ObjectId,
        position: Position,
        velocity: Velocity,
        heading: Heading,
    ) {
        let Some(before) = self.look(what, object) else { return };
        if !self.has_position(what, object) {
            return;
        }
        // Counted from the zone's motion, not from this draft: one event raises the generation once at most.
        let generation =
            self.objects.find(object).map_or(before.generation, |(motion, _)| next_generation(motion));
        let start = Millis::floor(self.now);
        let new = Motion { position, velocity, heading, start, generation, sequence: 0 };
        match self.write(object) {
            Some(DraftWrite::Spawned { motion, .. }) => *motion = new,
            Some(DraftWrite::Changed { motion, .. }) => *motion = Some(new),
            Some(DraftWrite::Removed) | None => (),
        }
    }

    /// False, and a fault, for `WORLD`: it has no position, and it exists as long as the world.
    fn has_position(&mut self, what: &str, object: ObjectId) -> bool {
        if object == WORLD {
            self.fail(format!("tx.{what} of WORLD: it has no place and stays for ever; use tx.update"));
        }
        object != WORLD
    }

    /// The pending write of an existing object; a new one if there is none and the limit allows it.
    fn write(&mut self, object: ObjectId) -> Option<&mut DraftWrite> {
        if !self.product.writes.contains_key(&object) && !self.has_room() {
            return None;
        }
        // A motion steered earlier in this event moves into the write: see `steer`.
        let steered = self.product.steered.remove(&object);
        let write = self.product.writes.entry(object);
        Some(write.or_insert(DraftWrite::Changed { state: None, motion: steered }))
    }

    fn has_room(&mut self) -> bool {
        let has_room = self.product.writes.len() < WRITES_MAX;
        if !has_room {
            self.fail(format!(
                "an event writes at most {WRITES_MAX} objects: spread the rest over letters or timers"
            ));
        }
        has_room
    }

    fn may_send(&mut self, what: &str, sent: usize, len: usize) -> bool {
        let may = sent < SAYS_MAX;
        if !may {
            self.fail(format!(
                "an event makes at most {SAYS_MAX} {what}: make fewer, or make the rest in a later event"
            ));
        }
        may && self.fits(what, len, MESSAGE_MAX)
    }

    fn fits(&mut self, what: &str, len: usize, max: usize) -> bool {
        if max < len {
            self.fail(format!("{what} of {len} bytes: the most is {max}; keep less in it"));
        }
        len <= max
    }
}

/// The generation after that of `motion`.
fn next_generation(motion: &Motion) -> u32 {
    motion.generation.checked_add(1).expect("an object is placed fewer than 2^32 times")
}

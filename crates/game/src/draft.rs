//! A transaction as it is being written: everything in bytes, nothing visible until it is kept.
//!
//! A game sees it through [`crate::Tx`], which knows its types. What an event must not do (reach beyond its
//! scope, write too much) is noted as a fault; the call goes on and sees nothing there, and in the end the
//! whole event is refused. So a mistake in a game harms neither the world nor the server.

use crate::config::{MESSAGE_MAX, SAYS_MAX, STATE_MAX, TIMER_MAX, TIMER_MIN, WRITES_MAX};
use crate::{Addressee, Hearers, Scope, WORLD};
use machine::{Rng, Span, Time};
use space::{Distance, Epoch, Heading, Millis, Motion, ObjectId, Polygon, Position, Velocity, ZoneId};
use std::collections::{BTreeMap, BTreeSet};

/// The objects a transaction can look at: a zone's table, or a test's.
pub trait Objects {
    /// How an object moves and what it is; `None` if there is no such object.
    fn find(&self, object: ObjectId) -> Option<(&Motion, &[u8])>;

    /// Visits every object that may be at most `radius` from `centre` at `now`; it may visit others too.
    fn visit(&self, centre: Position, radius: Distance, now: Time, visit: &mut dyn FnMut(ObjectId, &Motion));
}

/// What becomes of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// It appears.
    Spawned {
        /// Where, and how it moves.
        motion: Motion,
        /// What it is.
        state: Vec<u8>,
    },
    /// It changes: its state, its motion, or both.
    Changed {
        /// What it is now, unless that stays.
        state: Option<Vec<u8>>,
        /// How it moves now, unless that stays. Newer than before: its generation is raised if it was placed,
        /// its sequence if it was only steered.
        motion: Option<Motion>,
    },
    /// It is gone.
    Removed,
}

/// Everything a transaction wants done. The zone keeps all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Product {
    /// What becomes of which object, by name.
    pub writes: BTreeMap<ObjectId, Write>,
    /// Whose state or motion was looked at, and how it moved.
    pub reads: BTreeMap<ObjectId, Motion>,
    /// What is said to players.
    pub notices: Vec<(Hearers, Vec<u8>)>,
    /// What is said to beyond its reach.
    pub letters: Vec<(Addressee, Vec<u8>)>,
    /// What is said to later: to which object, when, what.
    pub timers: Vec<(ObjectId, Time, Vec<u8>)>,
    /// New courses that are no events. Whoever is written to is not among them: its course is in its write.
    pub steered: BTreeMap<ObjectId, Motion>,
}

impl Product {
    /// Whether nothing but courses changed: then there is nothing to log.
    pub fn is_only_moves(&self) -> bool {
        self.writes.is_empty() && self.notices.is_empty() && self.letters.is_empty() && self.timers.is_empty()
    }
}

/// Gives out names for new objects.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The zone they are born in.
    pub zone: ZoneId,
    /// Its epoch.
    pub epoch: Epoch,
    /// The next number.
    pub next: u32,
}

impl Names {
    fn give(&mut self) -> ObjectId {
        let counter = self.next;
        self.next = self.next.checked_add(1).expect("fewer than 2^32 births in one epoch");
        ObjectId { zone: self.zone, epoch: self.epoch, counter }
    }
}

/// A transaction being written.
pub struct Draft<'a> {
    objects: &'a dyn Objects,
    scope: Scope,
    /// Always in scope, wherever it is.
    actor: Option<ObjectId>,
    now: Time,
    rng: Rng,
    names: Names,
    product: Product,
    fault: Option<String>,
}

impl<'a> Draft<'a> {
    /// An empty transaction at `now`. `rng` is its chance; `names` are for what it spawns.
    pub fn new(
        objects: &'a dyn Objects,
        scope: Scope,
        actor: Option<ObjectId>,
        now: Time,
        rng: Rng,
        names: Names,
    ) -> Self {
        Self { objects, scope, actor, now, rng, names, product: Product::default(), fault: None }
    }

    /// The event's time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The event's chance.
    pub const fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// What the game did wrong, if anything: then nothing of this will be kept.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Whether this transaction made the object, and has not removed it again.
    pub(crate) fn has_spawned(&self, object: ObjectId) -> bool {
        matches!(self.product.writes.get(&object), Some(Write::Spawned { .. }))
    }

    /// Forgets what was planted beyond a region, and letters to there.
    pub(crate) fn keep_within(&mut self, region: &Polygon) {
        let Product { writes, letters, timers, .. } = &mut self.product;
        let is_beyond =
            |it: &Write| matches!(it, Write::Spawned { motion, .. } if !region.contains(motion.position));
        let beyond: BTreeSet<_> = writes.extract_if(.., |_, it| is_beyond(it)).map(|it| it.0).collect();
        timers.retain(|(whose, ..)| !beyond.contains(whose));
        letters.retain(|(to, _)| match to {
            Addressee::Object(object) => !beyond.contains(object),
            Addressee::Place(place) => region.contains(*place),
            Addressee::World => true,
        });
    }

    /// Ends it: what to do, or what the game did wrong. Also says which name comes next.
    pub fn finish(self) -> Result<(Product, Names), String> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok((self.product, self.names)),
        }
    }

    /// What an object is, as this transaction sees it.
    pub fn state(&mut self, object: ObjectId) -> Option<&[u8]> {
        self.look("get", object)?;
        match self.product.writes.get(&object) {
            Some(Write::Spawned { state, .. } | Write::Changed { state: Some(state), .. }) => Some(state),
            Some(Write::Removed) => None,
            _ => self.objects.find(object).map(|(_, state)| state),
        }
    }

    /// How an object moves, as this transaction sees it.
    pub fn motion(&mut self, object: ObjectId) -> Option<Motion> {
        self.look("motion", object)
    }

    /// Every object at most `radius` from `centre`, in the order of their names.
    pub fn near(&mut self, centre: Position, radius: Distance) -> Vec<ObjectId> {
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
        // A rebased course may lie a millimetre off, so whoever was steered is judged again, too.
        found.extend(self.product.writes.keys().chain(self.product.steered.keys()));
        found.sort_unstable();
        found.dedup();
        found.retain(|&object| {
            let motion = self.current_motion(object).filter(|_| object != WORLD);
            motion.is_some_and(|it| centre.is_within(radius, it.position_at(now)))
        });
        found.iter().for_each(|&object| self.note_read(object));
        found
    }

    /// Writes a state.
    pub fn put(&mut self, object: ObjectId, bytes: Vec<u8>) {
        if self.look("update", object).is_none() || !self.fits("a state", bytes.len(), STATE_MAX) {
            return;
        }
        match self.write(object) {
            Some(Write::Spawned { state, .. }) => *state = bytes,
            Some(Write::Changed { state, .. }) => *state = Some(bytes),
            Some(Write::Removed) | None => (),
        }
    }

    /// Makes a new object, where the scope has room for it.
    pub fn spawn(
        &mut self,
        bytes: Vec<u8>,
        place: Position,
        velocity: Velocity,
        heading: Heading,
    ) -> ObjectId {
        let name = self.names.give();
        if !self.scope.has_place(place) {
            let text = format!(
                "tx.spawn at {place}, outside {}: spawn inside, or declare a Scope::area that reaches there",
                self.scope
            );
            self.fail(text);
        } else if self.fits("a state", bytes.len(), STATE_MAX) && self.has_room() {
            let start = Millis::floor(self.now);
            let motion = Motion { position: place, velocity, heading, start, ..Motion::default() };
            self.product.writes.insert(name, Write::Spawned { motion, state: bytes });
        }
        name
    }

    /// Removes an object.
    pub fn remove(&mut self, object: ObjectId) {
        if self.look("remove", object).is_none() || !self.is_somewhere("remove", object) {
            return;
        }
        self.product.timers.retain(|(whose, ..)| *whose != object);
        match self.write(object) {
            Some(Write::Spawned { .. }) => {
                self.product.writes.remove(&object);
            }
            Some(write) => *write = Write::Removed,
            None => (),
        }
    }

    /// Sets an object's motion, in the scope. Whatever its mover sent before is void.
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

    /// Moves an object to any place of the world, where it stands still.
    pub fn depart(&mut self, object: ObjectId, place: Position) {
        let heading = self.current_motion(object).map_or(Heading::EAST, |it| it.heading);
        self.set_motion("depart", object, place, Velocity::ZERO, heading);
    }

    /// Changes an object's course, from where it is: a move, not a write. Of an object that this event writes
    /// to, the new course is part of the write, so that whoever applies the event has both or neither.
    pub fn steer(&mut self, object: ObjectId, velocity: Velocity, heading: Heading) {
        let Some(motion) = self.look("steer", object) else { return };
        if !self.is_somewhere("steer", object) {
            return;
        }
        let steered = Motion { velocity, heading, ..motion.rebased(self.now) };
        let steered = match motion.sequence.checked_add(1) {
            Some(sequence) => Motion { sequence, ..steered },
            None => Motion { generation: raised(&motion), sequence: 0, ..steered },
        };
        match self.product.writes.get_mut(&object) {
            Some(Write::Spawned { motion, .. }) => *motion = steered,
            Some(Write::Changed { motion, .. }) => *motion = Some(steered),
            Some(Write::Removed) => (),
            None => {
                self.product.steered.insert(object, steered);
            }
        }
    }

    /// Says something to players.
    pub fn notify(&mut self, to: Hearers, bytes: Vec<u8>) {
        if self.may_say("notices", self.product.notices.len(), bytes.len()) {
            self.product.notices.push((to, bytes));
        }
    }

    /// Says something to beyond the event's reach.
    pub fn send(&mut self, to: Addressee, bytes: Vec<u8>) {
        if self.may_say("letters", self.product.letters.len(), bytes.len()) {
            self.product.letters.push((to, bytes));
        }
    }

    /// Says something to an object, later.
    pub fn schedule(&mut self, object: ObjectId, after: Span, bytes: Vec<u8>) {
        if TIMER_MAX < after {
            let days = after.as_secs_f64() / 86_400.0;
            return self.fail(format!("tx.schedule after {days} days: the most is 366; schedule again then"));
        }
        let may = self.may_say("timers", self.product.timers.len(), bytes.len());
        if may && self.look("schedule", object).is_some() {
            self.product.timers.push((object, self.now + after.max(TIMER_MIN), bytes));
        }
    }

    /// Notes that the game did something wrong. The first fault is the one told.
    pub fn fail(&mut self, text: String) {
        self.fault.get_or_insert(text);
    }

    /// Everything this transaction may look at, in the order of names: what the scope holds, and the actor.
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

    /// An object's motion, if it exists and may be looked at.
    fn look(&mut self, what: &str, object: ObjectId) -> Option<Motion> {
        let motion = self.current_motion(object)?;
        let mine = self.product.writes.contains_key(&object) || self.actor == Some(object);
        if !mine && !self.scope.holds(object, &motion, self.now) {
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
            Some(Write::Spawned { motion, .. } | Write::Changed { motion: Some(motion), .. }) => {
                Some(*motion)
            }
            Some(Write::Removed) => None,
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
        if !self.is_somewhere(what, object) {
            return;
        }
        // Counted from what the world has, not from this event's own draft: one event, one generation.
        let generation = self.objects.find(object).map_or(before.generation, |(motion, _)| raised(motion));
        let start = Millis::floor(self.now);
        let new = Motion { position, velocity, heading, start, generation, sequence: 0 };
        match self.write(object) {
            Some(Write::Spawned { motion, .. }) => *motion = new,
            Some(Write::Changed { motion, .. }) => *motion = Some(new),
            Some(Write::Removed) | None => (),
        }
    }

    /// The world as a whole is nowhere, so it cannot go elsewhere, and without it nothing is left to remember.
    fn is_somewhere(&mut self, what: &str, object: ObjectId) -> bool {
        if object == WORLD {
            self.fail(format!("tx.{what} of WORLD: it has no place and stays for ever; use tx.update"));
        }
        object != WORLD
    }

    /// The pending write of an object that exists, a new one if there is none and there is room.
    fn write(&mut self, object: ObjectId) -> Option<&mut Write> {
        if !self.product.writes.contains_key(&object) && !self.has_room() {
            return None;
        }
        let steered = self.product.steered.remove(&object);
        let write = self.product.writes.entry(object);
        Some(write.or_insert(Write::Changed { state: None, motion: steered }))
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

    fn may_say(&mut self, what: &str, said: usize, len: usize) -> bool {
        let may = said < SAYS_MAX;
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
fn raised(motion: &Motion) -> u32 {
    motion.generation.checked_add(1).expect("an object is placed fewer than 2^32 times")
}

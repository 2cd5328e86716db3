//! A transaction as it is being written: everything in bytes, nothing visible until it is kept.
//!
//! A game sees it through [`crate::Tx`], which knows its types. What an event must not do (reach beyond its
//! scope, write too much) is noted as a fault; the call goes on and sees nothing there, and in the end the
//! whole event is refused. So a mistake in a game harms neither the world nor the server.

use crate::config::{MESSAGE_MAX, SAYS_MAX, STATE_MAX, TIMER_MAX, WRITES_MAX};
use crate::{Addressee, Hearers, Scope};
use machine::{Rng, Span, Time};
use space::{Distance, Epoch, Heading, Millis, Motion, ObjectId, Position, Velocity, ZoneId};
use std::collections::BTreeMap;

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
        /// How it moves now, unless that stays. Its generation is already raised.
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
    /// New courses that are no events.
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
        found.extend(self.product.writes.keys());
        found.sort_unstable();
        found.dedup();
        found.retain(|&object| {
            let motion = self.current_motion(object);
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
                "tx.spawn at {place}, outside {}: spawn nearer, or declare a larger Scope::area",
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
        if self.look("remove", object).is_none() {
            return;
        }
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
        if !self.scope.has_place(place)
            && self.look("place", object).map(|it| it.position_at(self.now)) != Some(place)
        {
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

    /// Changes an object's course, from where it is: a move, not a write.
    pub fn steer(&mut self, object: ObjectId, velocity: Velocity, heading: Heading) {
        let Some(motion) = self.look("steer", object) else { return };
        let sequence = motion.sequence + 1;
        let steered = Motion { velocity, heading, sequence, ..motion.rebased(self.now) };
        match self.product.writes.get_mut(&object) {
            Some(Write::Spawned { motion, .. } | Write::Changed { motion: Some(motion), .. }) => {
                *motion = steered
            }
            Some(Write::Removed) => (),
            _ => {
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
            return self
                .fail(format!("tx.schedule after {} days: the most is a year", after.as_secs_f64() / 86_400.0));
        }
        let may = self.may_say("timers", self.product.timers.len(), bytes.len());
        if may && self.look("schedule", object).is_some() {
            self.product.timers.push((object, self.now + after, bytes));
        }
    }

    /// Notes that the game did something wrong. The first fault is the one told.
    pub fn fail(&mut self, text: String) {
        self.fault.get_or_insert(text);
    }

    /// Everything this transaction may look at, in the order of names.
    pub fn everything(&mut self) -> Vec<ObjectId> {
        match self.scope.clone() {
            Scope::Area { centre, radius } => self.near(centre, radius),
            Scope::Objects(objects) => {
                objects.into_iter().filter(|&it| self.look("objects", it).is_some()).collect()
            }
        }
    }

    /// An object's motion, if it exists and may be looked at.
    fn look(&mut self, what: &str, object: ObjectId) -> Option<Motion> {
        let motion = self.current_motion(object)?;
        let mine = self.product.writes.contains_key(&object) || self.actor == Some(object);
        if !mine && !self.scope.holds(object, &motion, self.now) {
            let text = format!(
                "tx.{what} of object {object} at {}, outside {}: declare it in Game::scope (a larger Scope::area, or Scope::objects with its name)",
                motion.position_at(self.now),
                self.scope
            );
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
        let start = Millis::floor(self.now);
        let generation = before.generation + 1;
        let new = Motion { position, velocity, heading, start, generation, sequence: 0 };
        self.product.steered.remove(&object);
        match self.write(object) {
            Some(Write::Spawned { motion, .. }) => *motion = Motion { generation: 0, ..new },
            Some(Write::Changed { motion, .. }) => {
                *motion = Some(Motion { generation: motion.map_or(generation, |it| it.generation), ..new })
            }
            Some(Write::Removed) | None => (),
        }
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
            self.fail(format!("an event makes at most {SAYS_MAX} {what}"));
        }
        may && self.fits(what, len, MESSAGE_MAX)
    }

    fn fits(&mut self, what: &str, len: usize, max: usize) -> bool {
        if max < len {
            self.fail(format!("{what} of {len} bytes: the most is {max}"));
        }
        len <= max
    }
}

//! A transaction in the game's own types.

use crate::codec::{decode, encode};
use crate::{Addressee, Data, Draft, Game, Hearers, Objects};
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Motion, ObjectId, Position, Velocity};
use std::marker::PhantomData;

/// One event under construction. It reads and writes objects of its scope only; all of its changes take effect, or
/// none.
pub struct Tx<'t, 'a, G> {
    draft: &'t mut Draft<'a>,
    game: PhantomData<G>,
}

impl<'t, 'a, G: Game> Tx<'t, 'a, G> {
    /// Wraps `draft` in the game's types.
    pub const fn new(draft: &'t mut Draft<'a>) -> Self {
        Self { draft, game: PhantomData }
    }

    /// World time of this event; it does not advance while the event runs.
    pub const fn now(&self) -> Time {
        self.draft.now()
    }

    /// The event's random source: a replay of the event draws the same numbers.
    pub fn chance(&mut self) -> &mut Rng {
        self.draft.rng()
    }

    /// The state of an object; `None` if it does not exist.
    pub fn get(&mut self, object: ObjectId) -> Option<G::State> {
        let decoded = decode("a state", self.draft.state(object)?);
        decoded.map_err(|error| self.draft.fail(format!("object {object}: {error}"))).ok()
    }

    /// The motion of an object; `None` if it does not exist.
    pub fn motion(&mut self, object: ObjectId) -> Option<Motion> {
        self.draft.motion(object)
    }

    /// The position of an object at the event's time; `None` if it does not exist.
    pub fn position(&mut self, object: ObjectId) -> Option<Position> {
        let now = self.draft.now();
        self.motion(object).map(|it| it.position_at(now))
    }

    /// Every object at most `radius` from `centre`, in the order of their names.
    pub fn near(&mut self, centre: Position, radius: Distance) -> Vec<ObjectId> {
        self.draft.near(centre, radius)
    }

    /// Every object in scope, with the actor, in the order of their names.
    pub fn objects(&mut self) -> Vec<ObjectId> {
        self.draft.everything()
    }

    /// Writes an object's whole state. Does nothing if the object does not exist.
    pub fn put(&mut self, object: ObjectId, state: &G::State) {
        let bytes = self.encode("a state", state);
        self.draft.put(object, bytes);
    }

    /// Changes an object's state in place, and returns the result of `change`; `None` if the object does not exist.
    pub fn update<T>(&mut self, object: ObjectId, change: impl FnOnce(&mut G::State) -> T) -> Option<T> {
        let mut state = self.get(object)?;
        let result = change(&mut state);
        self.put(object, &state);
        Some(result)
    }

    /// Makes a new object that stands still.
    pub fn spawn(&mut self, state: &G::State, place: Position) -> ObjectId {
        self.spawn_moving(state, place, Velocity::ZERO, Heading::EAST)
    }

    /// Makes a new object with a velocity and a heading.
    pub fn spawn_moving(
        &mut self,
        state: &G::State,
        place: Position,
        velocity: Velocity,
        heading: Heading,
    ) -> ObjectId {
        let bytes = self.encode("a state", state);
        self.draft.spawn(bytes, place, velocity, heading)
    }

    /// Removes an object, with its timers.
    pub fn remove(&mut self, object: ObjectId) {
        self.draft.remove(object);
    }

    /// Puts an object at another place within the scope. Moves that its player sent before become void.
    pub fn place(&mut self, object: ObjectId, place: Position, velocity: Velocity, heading: Heading) {
        self.draft.place(object, place, velocity, heading);
    }

    /// Puts an object at any place of the world, where it stands still.
    pub fn depart(&mut self, object: ObjectId, place: Position) {
        self.draft.depart(object, place);
    }

    /// Changes the velocity and heading of an object that has no player. This is a move: players near see it, but it
    /// needs no record.
    pub fn steer(&mut self, object: ObjectId, velocity: Velocity, heading: Heading) {
        self.draft.steer(object, velocity, heading);
    }

    /// Sends a notice to players, as soon as the event is safe.
    pub fn notify(&mut self, to: Hearers, notice: &G::Notice) {
        let bytes = self.encode("a notice", notice);
        self.draft.notify(to, bytes);
    }

    /// Sends a notice to every player whose avatar is at most `reach` from `place`.
    pub fn notify_near(&mut self, place: Position, reach: Distance, notice: &G::Notice) {
        self.notify(Hearers::Near(place, reach), notice);
    }

    /// Sends a letter: it arrives exactly once, as an event of its own, a little later.
    pub fn send(&mut self, to: Addressee, letter: &G::Letter) {
        let bytes = self.encode("a letter", letter);
        self.draft.send(to, bytes);
    }

    /// Sets a timer: sends a letter to an object for later, at least [`crate::config::TIMER_MIN`] ahead. If the object
    /// no longer exists then, the letter is dropped.
    pub fn schedule(&mut self, object: ObjectId, after: Span, letter: &G::Letter) {
        let bytes = self.encode("a letter", letter);
        self.draft.schedule(object, after, bytes);
    }

    fn encode(&mut self, what: &str, data: &impl Data) -> Vec<u8> {
        // No limit here: the draft checks it, and its fault names the limit.
        encode(what, data, usize::MAX).unwrap_or_else(|error| {
            self.draft.fail(error);
            Vec::new()
        })
    }
}

/// The objects that [`Game::scope`] may read to choose a scope. They are not locked: they may have changed when the
/// event runs, so the event must check again what it relies on.
pub struct ScopeView<'a, G> {
    objects: &'a dyn Objects,
    now: Time,
    game: PhantomData<G>,
}

impl<'a, G: Game> ScopeView<'a, G> {
    /// Wraps `objects` in the game's types.
    pub const fn new(objects: &'a dyn Objects, now: Time) -> Self {
        Self { objects, now, game: PhantomData }
    }

    /// World time of the call.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The state of an object; `None` if this zone does not know it.
    pub fn get(&self, object: ObjectId) -> Option<G::State> {
        self.objects.find(object).and_then(|(_, state)| decode("a state", state).ok())
    }

    /// The position of an object; `None` if this zone does not know it.
    pub fn position(&self, object: ObjectId) -> Option<Position> {
        self.objects.find(object).map(|(motion, _)| motion.position_at(self.now))
    }
}

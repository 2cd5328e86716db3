//! A transaction as a game sees it: in its own types.

use crate::codec::{decode, encode};
use crate::{Addressee, Data, Draft, Game, Hearers, Objects};
use machine::{Rng, Span, Time};
use space::{Distance, Heading, Motion, ObjectId, Position, Velocity};
use std::marker::PhantomData;

/// One event being written. It sees its scope and nothing else; what it does becomes true all at once, or
/// not at all.
pub struct Tx<'t, 'a, G> {
    draft: &'t mut Draft<'a>,
    game: PhantomData<G>,
}

impl<'t, 'a, G: Game> Tx<'t, 'a, G> {
    /// The typed face of `draft`.
    pub const fn new(draft: &'t mut Draft<'a>) -> Self {
        Self { draft, game: PhantomData }
    }

    /// World time, the same for everything in this event.
    pub const fn now(&self) -> Time {
        self.draft.now()
    }

    /// Chance: the same for whoever replays this event.
    pub const fn chance(&mut self) -> &mut Rng {
        self.draft.rng()
    }

    /// What an object is; `None` if it does not exist.
    pub fn get(&mut self, object: ObjectId) -> Option<G::State> {
        let decoded = decode("a state", self.draft.state(object)?);
        decoded.map_err(|error| self.draft.fail(format!("object {object}: {error}"))).ok()
    }

    /// How an object moves; `None` if it does not exist.
    pub fn motion(&mut self, object: ObjectId) -> Option<Motion> {
        self.draft.motion(object)
    }

    /// Where an object is at the event's time; `None` if it does not exist.
    pub fn position(&mut self, object: ObjectId) -> Option<Position> {
        let now = self.draft.now();
        self.motion(object).map(|it| it.position_at(now))
    }

    /// Every object at most `radius` from `centre`, in the order of their names.
    pub fn near(&mut self, centre: Position, radius: Distance) -> Vec<ObjectId> {
        self.draft.near(centre, radius)
    }

    /// Every object in scope, the actor too, in the order of their names.
    pub fn objects(&mut self) -> Vec<ObjectId> {
        self.draft.everything()
    }

    /// Writes an object's whole state. One that does not exist stays so.
    pub fn put(&mut self, object: ObjectId, state: &G::State) {
        let bytes = self.encode("a state", state);
        self.draft.put(object, bytes);
    }

    /// Changes an object's state in place, and gives back what `change` says; `None` if it does not exist.
    pub fn update<T>(&mut self, object: ObjectId, change: impl FnOnce(&mut G::State) -> T) -> Option<T> {
        let mut state = self.get(object)?;
        let said = change(&mut state);
        self.put(object, &state);
        Some(said)
    }

    /// Makes a new object that stands still.
    pub fn spawn(&mut self, state: &G::State, place: Position) -> ObjectId {
        self.spawn_moving(state, place, Velocity::ZERO, Heading::EAST)
    }

    /// Makes a new object that moves.
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

    /// Removes an object.
    pub fn remove(&mut self, object: ObjectId) {
        self.draft.remove(object);
    }

    /// Puts an object somewhere else within the scope. Moves that its player made before are void.
    pub fn place(&mut self, object: ObjectId, place: Position, velocity: Velocity, heading: Heading) {
        self.draft.place(object, place, velocity, heading);
    }

    /// Puts an object anywhere in the world, where it stands still.
    pub fn depart(&mut self, object: ObjectId, place: Position) {
        self.draft.depart(object, place);
    }

    /// Changes the course of something that has no player. This is a move: seen by those near, but in no log.
    pub fn steer(&mut self, object: ObjectId, velocity: Velocity, heading: Heading) {
        self.draft.steer(object, velocity, heading);
    }

    /// Tells players something, when the event has become true.
    pub fn notify(&mut self, to: Hearers, notice: &G::Notice) {
        let bytes = self.encode("a notice", notice);
        self.draft.notify(to, bytes);
    }

    /// Tells everybody at most `reach` from `place` something.
    pub fn notify_near(&mut self, place: Position, reach: Distance, notice: &G::Notice) {
        self.notify(Hearers::Near(place, reach), notice);
    }

    /// Sends a letter: it arrives exactly once, as an event of its own, a little later.
    pub fn send(&mut self, to: Addressee, letter: &G::Letter) {
        let bytes = self.encode("a letter", letter);
        self.draft.send(to, bytes);
    }

    /// Sends a letter to an object's own future, at least [`crate::config::TIMER_MIN`] ahead. If the object is
    /// gone by then, so is the letter.
    pub fn schedule(&mut self, object: ObjectId, after: Span, letter: &G::Letter) {
        let bytes = self.encode("a letter", letter);
        self.draft.schedule(object, after, bytes);
    }

    fn encode(&mut self, what: &str, data: &impl Data) -> Vec<u8> {
        // What is too long is for the draft to say: it knows the limits.
        encode(what, data, usize::MAX).unwrap_or_else(|error| {
            self.draft.fail(error);
            Vec::new()
        })
    }
}

/// What [`Game::scope`] may look at to find out how far an action reaches. It is not locked: by the time the
/// event runs it may have changed, so the event checks again what it needs.
pub struct View<'a, G> {
    objects: &'a dyn Objects,
    now: Time,
    game: PhantomData<G>,
}

impl<'a, G: Game> View<'a, G> {
    /// The typed face of `objects`.
    pub const fn new(objects: &'a dyn Objects, now: Time) -> Self {
        Self { objects, now, game: PhantomData }
    }

    /// World time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// What an object is; `None` if it is not known here.
    pub fn get(&self, object: ObjectId) -> Option<G::State> {
        self.objects.find(object).and_then(|(_, state)| decode("a state", state).ok())
    }

    /// Where an object is; `None` if it is not known here.
    pub fn position(&self, object: ObjectId) -> Option<Position> {
        self.objects.find(object).map(|(motion, _)| motion.position_at(self.now))
    }
}

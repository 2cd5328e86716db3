//! The trait that a game implements: the rules of a world.

use crate::{Addressee, PlayerId, Scope, ScopeView, Tx};
use machine::Span;
use postcard_schema::Schema;
use serde::{Serialize, de::DeserializeOwned};
use space::{Distance, Motion, ObjectId, Polygon, Position};
use std::fmt::Debug;
use thiserror::Error;

/// The bound on a game's types: they can be encoded, decoded, and described to other languages. Derive `Serialize`,
/// `Deserialize`, [`Schema`], `Clone` and `Debug`.
pub trait Data: Serialize + DeserializeOwned + Schema + Clone + Debug + 'static {}

impl<T: Serialize + DeserializeOwned + Schema + Clone + Debug + 'static> Data for T {}

/// The kind of player to whom an object is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Viewer {
    /// True if the object is the viewer's own avatar.
    pub owns: bool,
    /// The viewer's class, as [`Game::class`] gives it: a team, a rank.
    pub class: u8,
}

/// The error for a saved state of an older schema that could not be converted; its text says why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a saved state cannot be read: {0}; write `Game::migrate` for its shape, or start with --fresh")]
pub struct MigrateError(pub String);

/// The rules of a world. The platform decides where and when an event runs; the game decides its effects.
///
/// Every function is pure: the same arguments give the same result. Time and chance come from [`Tx`].
/// Only [`Game::execute`], [`Game::show`] and [`Game::on_join`] must be written; the rest has defaults.
pub trait Game: Sized + Send + Sync + 'static {
    /// Everything stored about one object, except its motion. At most [`crate::config::STATE_MAX`] bytes.
    type State: Data;
    /// The part of an object's state that a player may see.
    type Shown: Data;
    /// A request of a player, such as to shoot or to trade.
    type Action: Data;
    /// A message to players besides states, such as "boom" or "hello".
    type Notice: Data;
    /// The reason why an action, a move or a join does not happen.
    type Refusal: Data;
    /// A message of an event to an object or place beyond its scope, or to later. `()` if the game sends none.
    type Letter: Data;

    /// The name of the world, in files and on screens.
    const NAME: &'static str;

    /// The farthest distance that an event reaches and a player senses.
    const RANGE: Distance;

    /// True if the game implements [`Game::relevance`], which grades the zone's own objects. Off by default, because each
    /// call decodes two states.
    const GRADES: bool = false;

    /// Fills a new world: each zone calls it once, for its own region. Objects spawned outside the region are dropped,
    /// and so are letters to places outside: the zone that owns the place makes them itself. So a game need not know
    /// how the world is divided.
    fn populate(&self, tx: &mut Tx<'_, '_, Self>, region: &Polygon) {
        let _ = (tx, region);
    }

    /// The state of [`crate::WORLD`] in a new world; `None` if the game does not use it.
    fn world(&self) -> Option<Self::State> {
        None
    }

    /// The scope of an action; by default everything within range of the actor. The centre of an area must be within
    /// range of the actor.
    fn scope(
        &self,
        view: &ScopeView<'_, Self>,
        actor: ObjectId,
        action: &Self::Action,
    ) -> Result<Scope, Self::Refusal> {
        let _ = action;
        Ok(Scope::area(view.position(actor).unwrap_or_default(), Self::RANGE))
    }

    /// Executes an action. A refusal changes nothing, and the player receives it.
    fn execute(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        actor: ObjectId,
        action: Self::Action,
    ) -> Result<(), Self::Refusal>;

    /// Refuses moves that break the rules: too fast, through a wall, while stunned. Called for every move of every
    /// player, so it should be cheap. See [`crate::is_within_speed`].
    fn allows(&self, mover: &Self::State, before: &Motion, after: &Motion) -> Result<(), Self::Refusal> {
        let _ = (mover, before, after);
        Ok(())
    }

    /// The part of an object that a viewer may see; `None` hides the object.
    fn show(&self, object: &Self::State, to: Viewer) -> Option<Self::Shown>;

    /// The class of viewers to which the player of this avatar belongs. [`Game::show`] is called once per class, not
    /// once per player.
    fn class(&self, avatar: &Self::State) -> u8 {
        let _ = avatar;
        0
    }

    /// The relevance of a subject to an observer, from 0 to 1; `graded` is the policy's value from distance and
    /// direction. Called only if [`Game::GRADES`], and only for objects of the observer's own zone: beyond the border the
    /// policy's value stands.
    fn relevance(&self, observer: &Self::State, subject: &Self::State, graded: f32) -> f32 {
        let _ = (observer, subject);
        graded
    }

    /// True if this object is an NPC that thinks. It first thinks soon after it appears, or after the event that made
    /// it think, and then after each pause that [`Game::think`] returns.
    fn thinks(&self, object: &Self::State) -> bool {
        let _ = object;
        false
    }

    /// The scope of a thought; by default everything within range. A smaller scope waits less, above all near borders.
    fn think_scope(&self, view: &ScopeView<'_, Self>, object: ObjectId) -> Scope {
        Scope::area(view.position(object).unwrap_or_default(), Self::RANGE)
    }

    /// Lets an NPC act, within its [`Game::think_scope`], and returns the pause until its next thought. `None` ends its
    /// thinking, until an event makes it think again.
    ///
    /// A thought that only steers is a move and costs no record. Pauses are not stored: after a failover all NPCs think
    /// again soon. An event that must come at a certain time needs [`Tx::schedule`].
    fn think(&self, tx: &mut Tx<'_, '_, Self>, object: ObjectId) -> Option<Span> {
        let _ = (tx, object);
        None
    }

    /// The scope of a letter's event; by default everything within range of the object or place. A letter to the world
    /// has only [`crate::WORLD`] in scope.
    fn letter_scope(&self, view: &ScopeView<'_, Self>, to: Addressee, letter: &Self::Letter) -> Scope {
        let _ = letter;
        let place = match to {
            Addressee::Object(object) => view.position(object),
            Addressee::Place(place) => Some(place),
            Addressee::World => None,
        };
        Scope::area(place.unwrap_or_default(), Self::RANGE)
    }

    /// Handles a letter that arrives, or a timer that is due (a timer is a letter to later), within its
    /// [`Game::letter_scope`].
    fn on_letter(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        to: Addressee,
        letter: Self::Letter,
    ) -> Result<(), Self::Refusal> {
        let _ = (tx, to, letter);
        Ok(())
    }

    /// The place at which a new player enters the world.
    fn entrance(&self, player: PlayerId) -> Position {
        let _ = player;
        Position::ORIGIN
    }

    /// The scope of a player's entry; by default everything within range of the entrance.
    fn join_scope(&self, player: PlayerId) -> Scope {
        Scope::area(self.entrance(player), Self::RANGE)
    }

    /// Spawns an avatar within range of the entrance and returns its name. Called when a player enters for the first
    /// time, or after [`Game::on_leave`] removed the avatar. An object that existed before cannot become an avatar.
    fn on_join(
        &self,
        tx: &mut Tx<'_, '_, Self>,
        player: PlayerId,
        name: &str,
    ) -> Result<ObjectId, Self::Refusal>;

    /// The scope of a player's departure; by default everything within range of the avatar.
    fn leave_scope(&self, view: &ScopeView<'_, Self>, avatar: ObjectId) -> Scope {
        Scope::area(view.position(avatar).unwrap_or_default(), Self::RANGE)
    }

    /// Handles the departure of a player; by default removes the avatar. An avatar that is not removed waits for its
    /// player.
    fn on_leave(&self, tx: &mut Tx<'_, '_, Self>, avatar: ObjectId) {
        tx.remove(avatar);
    }

    /// Decodes a state that an older version of the game saved. `schema` is that version's [`crate::schema_hash`].
    fn migrate(schema: u64, bytes: &[u8]) -> Result<Self::State, MigrateError> {
        let _ = bytes;
        Err(MigrateError(format!("it was saved by another version of the game (schema {schema:016x})")))
    }
}
